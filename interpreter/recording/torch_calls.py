"""What torch's functions are to a recording.

A `TorchFunctionMode` sees whatever `torch.overrides` lists. This table says which of these only tell something about a
tensor that its guards fix (*metadata*), which give Python something that depends on the data (*questions*), and which
change more than their result. Functions of torch written in C that the mode does not see are listed too: *queries* of
global state, *switches* that change it, and bookkeeping that leaves no trace.
"""

from __future__ import annotations

import types

import torch
from torch.overrides import get_testing_overrides

METADATA_GETTERS = {
    "shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "is_cuda", "is_cpu", "is_sparse",
    "is_sparse_csr",
    "is_quantized", "is_meta", "is_nested", "is_xla", "is_mps", "is_mkldnn", "is_xpu", "is_ipu", "is_hpu", "is_mtia",
    "is_maia",
    "is_vulkan", "itemsize", "nbytes", "names", "grad_fn", "name", "output_nr", "retains_grad", "_backward_hooks",
    "_base",
    "_version", "_is_view", "volatile",
}
METADATA_METHODS = {
    "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "is_contiguous", "is_floating_point",
    "is_complex", "is_signed", "element_size", "get_device", "is_same_size", "is_shared", "is_pinned", "has_names",
    "is_conj",
    "is_neg", "is_inference", "is_set_to", "dense_dim", "sparse_dim", "__len__", "_is_view", "is_distributed",
    "dim_order",
    "is_coalesced", "result_type", "can_cast", "is_tensor", "_is_zerotensor", "__hash__", "is_storage",
}
SHAPE_METADATA = {
    "shape",
    "size",
    "numel",
    "nelement",
    "stride",
    "__len__",
    "nbytes",
    "is_contiguous",
    "storage_offset",
}
FREE_METADATA = {
    "storage_offset",
    "is_leaf",
    "_version",
    "output_nr",
    "grad_fn",
    "name",
    "_base",
    "_is_view",
    "is_shared",
    "is_pinned",
    "retains_grad",
    "names",
    "has_names",
}
RESHAPES = {
    "unsqueeze_",
    "squeeze_",
    "t_",
    "transpose_",
    "swapaxes_",
    "swapdims_",
    "resize_",
    "resize_as_",
    "as_strided_",
    "set_",
}
NUMBERS = {"item", "__int__", "__float__", "__index__"}
RANKS = {"squeeze", "flatten", "tensordot"}  # how many dimensions go depends on the sizes, or on a number
PIECES = {
    "split",
    "chunk",
    "unbind",
    "tensor_split",
    "hsplit",
    "vsplit",
    "dsplit",
    "split_with_sizes",
    "unsafe_split",
    "unsafe_chunk",
}
RANDOM = {
    "dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d",
    "bernoulli", "multinomial",
    "normal", "poisson", "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "rrelu",
    "gumbel_softmax",
    "binomial", "fractional_max_pool2d", "fractional_max_pool3d", "_sample_dirichlet", "_standard_gamma",
    "native_dropout",
    "multi_head_attention_forward", "lstm", "gru", "rnn_tanh", "rnn_relu", "empty", "empty_like", "empty_strided",
    "new_empty",
    "uniform", "random", "exponential", "cauchy", "geometric", "log_normal", "print",
}


def named(*names: str) -> set:
    """The functions of `torch` or `torch._C` with these names that this version of torch has."""
    found = set()
    for name in names:
        for module in (torch, torch._C):
            function = getattr(module, name, None)
            if callable(function):
                found.add(function)
    return found


QUERIES = named(  # global state that is guarded, or fixed for the life of a process
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "get_default_dtype",
    "is_autocast_enabled",
    "get_autocast_dtype",
    "is_autocast_cache_enabled",
    "_get_tracing_state",
    "_is_tracing",
    "_len_torch_function_stack",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_get_cudnn_enabled",
    "_get_flash_sdp_enabled",
    "_get_math_sdp_enabled",
    "_get_mem_efficient_sdp_enabled",
    "_get_cudnn_sdp_enabled",
    "_get_deterministic_algorithms",
    "_get_deterministic_algorithms_warn_only",
    "_get_mkldnn_enabled",
    "_get_nnpack_enabled",
    "_cuda_getDeviceCount",
    "_is_any_autocast_enabled",
    "get_num_threads",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "promote_types",
    "can_cast",
    "_get_accelerator",
    "_len_torch_dispatch_stack",
    "is_autocast_cpu_enabled",
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "_is_autocast_available",
    "is_anomaly_enabled",
    "_get_dispatch_mode",
    "_cuda_isCurrentStreamCapturing",
    "_get_default_device",
    "is_autocast_ipu_enabled",
    "is_autocast_xla_enabled",
    "_is_key_in_tls",
    "_has_storage",
    "_get_privateuse1_backend_name",
) | {
    torch._C._functorch.peek_interpreter_stack,
    torch._C._functorch.maybe_current_level,
    torch._C._autograd._profiler_enabled,
}
SWITCHES = named(
    "_set_grad_enabled", "set_autocast_enabled", "set_autocast_dtype", "autocast_increment_nesting",
    "autocast_decrement_nesting",
    "set_autocast_cache_enabled", "clear_autocast_cache", "_set_default_dtype", "_set_deterministic_algorithms",
    "_set_sdp_use_flash",
    "_set_sdp_use_math", "_set_sdp_use_mem_efficient", "_set_sdp_use_cudnn", "_set_multithreading_enabled",
    "_set_view_replay_enabled",
    "set_anomaly_enabled",
)
BOOKKEEPING = named(  # what they change is seen in the operations that follow, or not at all
    "_push_on_torch_function_stack", "_pop_torch_function_stack", "_log_api_usage_once", "_set_torch_function_mode",
)
CONSTRUCTORS = named(
    "Tensor",
    "FloatTensor",
    "DoubleTensor",
    "HalfTensor",
    "BFloat16Tensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "CharTensor",
    "ByteTensor",
    "BoolTensor",
) | {torch.nn.Parameter, torch.nn.Buffer, torch.Tensor._make_subclass}
HAS_TORCH_FUNCTION = {
    torch._C._has_torch_function, torch._C._has_torch_function_unary, torch._C._has_torch_function_variadic,
}
PLAIN_CLASSES = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
CONSTANT_KINDS = {
    int,
    float,
    str,
    bytes,
    bool,
    complex,
    type(None),
    type(...),
    type(NotImplemented),
    torch.dtype,
    torch.device,
    torch.Size,
    torch.layout,
    torch.memory_format,
    torch.finfo,
    torch.iinfo,
    range,
    torch.qscheme,
}

# Functions of torch written in Python whose operations are recorded one by one: a replay then calls torch's C code
# directly.
SEEN_THROUGH = {
    name: getattr(torch.nn.functional, name)
    for name in (
        "softmax", "log_softmax", "silu", "relu", "gelu", "embedding", "layer_norm", "rms_norm", "group_norm",
        "dropout", "cross_entropy",
        "mse_loss", "nll_loss", "leaky_relu", "elu", "relu6", "hardswish", "hardtanh", "mish", "glu", "normalize",
        "batch_norm",
        "sigmoid", "tanh",
    )
    if isinstance(getattr(torch.nn.functional, name), types.FunctionType)
}


def overridable() -> set:
    """All functions that `TorchFunctionMode` sees."""
    return {function for function in get_testing_overrides() if not isinstance(function, property)}


OVERRIDABLE = overridable()
WRITTEN_IN_PYTHON = {
    function for function in OVERRIDABLE if isinstance(function, types.FunctionType)
} - set(SEEN_THROUGH.values())


def plain_name(function) -> str:
    """`add_` of `Tensor.add_`; of a property's `__get__`, the property's name."""
    if type(function).__name__ == "method-wrapper":
        return function.__self__.__name__
    return getattr(function, "__name__", "")


def is_getter(function) -> bool:
    return type(function).__name__ == "method-wrapper" and function.__name__ == "__get__"


def mutates(function, kwargs) -> bool:
    """Whether the operation writes into an argument or into torch's state (by torch's naming rules)."""
    name = plain_name(function)
    if name.endswith("_") and not name.endswith("__"):
        return True
    if name.startswith("__i") and name.endswith("__") and name not in ("__int__", "__index__", "__invert__"):
        return True
    return name in ("__setitem__", "backward") or "out" in kwargs or (
        type(function).__name__ == "method-wrapper" and function.__name__ != "__get__")


def draws(name: str, args, kwargs) -> bool:
    """Whether an operation draws random numbers, or does something else that must not be done twice."""
    if name.rstrip("_") in RANDOM:
        return True
    return name == "scaled_dot_product_attention" and bool(args[4] if len(args) > 4 else kwargs.get("dropout_p", 0.0))
