"""What can be part of a graph for a compiler, and what the eager executor has to do between graphs.

A graph holds torch's own functions of strided tensors, and the arithmetic of sizes. It does not hold what draws
random numbers (a compiler draws others), what changes torch's global state, what looks at or changes the graph of
autograd or the identity of a tensor's memory, what gives Python a plain answer, and whatever is no function of
torch: prints, autograd functions, custom code.
"""

from __future__ import annotations

import operator
import types

import torch

from interpreter.recording.operations import Build, Input, Operation, Ref
from interpreter.recording.torch_calls import (
    CONSTANT_KINDS,
    CONSTRUCTORS,
    OVERRIDABLE,
    RANDOM,
    SEEN_THROUGH,
    SWITCHES,
    is_getter,
    plain_name,
)
from interpreter.recording.trace import same

UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty"}
DRAWS = (RANDOM - UNINITIALISED) | {
    "bernoulli_",
    "normal_",
    "uniform_",
    "random_",
    "exponential_",
    "geometric_",
    "log_normal_",
    "cauchy_",
    "dropout_",
    "alpha_dropout_",
    "feature_dropout_",
    "feature_alpha_dropout_",
    "rrelu_",
    "manual_seed",
    "seed",
    "set_rng_state",
    "get_rng_state",
    "initial_seed",
}
AUTOGRAD = {
    "register_hook",
    "register_post_accumulate_grad_hook",
    "retain_grad",
    "backward",
    "grad",
    "_grad",
    "grad_fn",
}
ATTACHED = {  # change or show what a tensor object is, not its data
    "requires_grad_",
    "detach_",
    "set_",
    "resize_",
    "resize_as_",
    "t_",
    "transpose_",
    "swapaxes_",
    "swapdims_",
    "unsqueeze_",
    "squeeze_",
    "as_strided_",
    "rename_",
    "names",
    "data",
    "requires_grad",
    "is_leaf",
    "share_memory_",
    "__deepcopy__",
    "__reduce_ex__",
    "apply_",
    "map_",
    "_make_subclass",
    "as_subclass",
    "to_sparse",
    "to_sparse_coo",
    "to_sparse_csr",
    "to_dense",
    "sparse_coo_tensor",
    "nested_tensor",
}
GETTERS = {"T", "mT", "H", "mH", "real", "imag", "shape"}
PLAIN_ANSWERS = {
    "item",
    "tolist",
    "__bool__",
    "__int__",
    "__float__",
    "__index__",
    "equal",
    "allclose",
    "is_nonzero",
    "__contains__",
    "numpy",
}
NORMS = {"batch_norm", "instance_norm", "native_batch_norm", "cudnn_batch_norm"}
SIZES = {
    torch.Tensor.size,
    torch.Tensor.numel,
    torch.Tensor.nelement,
    torch.Tensor.stride,
    torch.Tensor.storage_offset,
    torch.Tensor.shape.__get__,
}
ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.pos}
EXTREMES = {min: torch.sym_min, max: torch.sym_max}  # of two numbers, as graphs have them
COMPARISONS = {
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
    operator.truth,
    operator.truediv,
    operator.pow,
    operator.abs,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    int,
    float,
    len,
    same,
}
COMPUTING = {
    "torch",
    "torch._C._nn",
    "torch._C._linalg",
    "torch._C._fft",
    "torch._C._special",
}  # modules of builtin functions of tensors
METHODS = {  # of tensors, which torch.overrides does not list
    getattr(torch.Tensor, name)
    for name in ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "stride")
}
CONTAINERS = (list, tuple, torch.Size, slice, dict)


def is_torch(function) -> bool:
    """Whether it is a function of torch, so that it may be run on fake tensors without doing anything of the user's."""
    if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or is_getter(function):
        return True
    if isinstance(function, types.BuiltinFunctionType) and function.__module__ in COMPUTING:
        return True
    try:
        listed = function in OVERRIDABLE or function in METHODS or function in CONSTRUCTORS
        return listed or function in SEEN_THROUGH.values()
    except TypeError:
        return False


def is_switch(function) -> bool:
    try:
        return function in SWITCHES
    except TypeError:
        return False


def is_number_function(function) -> bool:
    """Arithmetic and comparison of numbers: nothing but their values comes of it."""
    try:
        return function in ARITHMETIC or function in COMPARISONS or function in EXTREMES
    except TypeError:
        return False


def is_extreme(operation: Operation) -> bool:
    """Whether it is the smaller or the larger one of two numbers."""
    if not operation.number or operation.function not in EXTREMES:
        return False
    return len(operation.args) == 2 and all(type(each) in (int, Ref) for each in operation.args)


def draws(operation: Operation) -> bool:
    """Whether it draws random numbers, or sets how they are drawn."""
    name = plain_name(operation.function)
    if name == "scaled_dot_product_attention":
        given = operation.kwargs.get("dropout_p", operation.args[4] if len(operation.args) > 4 else 0.0)
        return given != 0.0
    if name == "multi_head_attention_forward":
        return operation.kwargs.get("training", True) is not False and operation.args[10:11] != (0.0,)
    if name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout") and len(operation.args) > 2:
        return operation.args[2] is not False and operation.args[1] != 0.0
    return name in DRAWS or "generator" in operation.kwargs


def observes_autograd(operation: Operation) -> bool:
    """Whether it looks at or changes the graph of autograd, in which the operations of a compiled graph can't be told
    apart."""
    return plain_name(operation.function) in AUTOGRAD


def keeps_history(operation: Operation) -> bool:
    """Whether gradients are taken that have gradients themselves."""
    place = {"grad": 4, "backward": 3}.get(plain_name(operation.function), len(operation.args))
    return operation.kwargs.get("create_graph", [*operation.args[place:], False][0]) is not False


def effectful(operation: Operation) -> bool:
    """Whether doing it twice, or not at all, could be noticed outside of the call."""
    function = operation.function
    if operation.element or operation.number:
        return False
    if observes_autograd(operation):
        return plain_name(function) == "backward"
    return (
        operation.effect
        or draws(operation)
        or is_switch(function)
        or not (is_torch(function) or is_number_function(function))
    )


def may_be_in_graph(operation: Operation) -> bool:
    """Whether a graph can hold the operation, as far as its function and the kinds of its arguments tell."""
    function = operation.function
    name = plain_name(function)
    if operation.element:
        return True
    if is_number_function(function):
        return function in ARITHMETIC or is_extreme(operation)
    if not is_torch(function) or draws(operation) or observes_autograd(operation) or is_switch(function):
        return False
    try:
        if function in CONSTRUCTORS:
            return False
    except TypeError:
        return False
    if is_getter(function):
        return name in GETTERS
    if name in ATTACHED or name in PLAIN_ANSWERS or name == "__set__" or "out" in operation.kwargs:
        return False
    return all(map(is_plain_argument, operation.args)) and all(map(is_plain_argument, operation.kwargs.values()))


def is_plain_argument(template) -> bool:
    """Whether a template stands for what a graph's argument may be."""
    kind = type(template)
    if kind is Build:
        if template.kind is dict:
            return all(is_plain_argument(pair.parts[1]) for pair in template.parts)
        return template.kind in CONTAINERS and all(map(is_plain_argument, template.parts))
    return kind in (Ref, Input) or kind in CONSTANT_KINDS
