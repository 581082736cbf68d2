"""The torch function boundary: every function that `torch.overrides` lists comes through here while a call is recorded.

What a function is to the record follows from its result. A tensor, or tensors in a container, make it an operation.
Something that a tensor's guards fix (its dtype, a shape that can't change) is metadata and leaves no record. Anything
else is an answer that depends on data: the operation is recorded and so is a check of its answer, or a traced number is
handed out where the interpreter itself asked for one.
"""

from __future__ import annotations

from time import perf_counter

import torch
from torch.overrides import TorchFunctionMode

from interpreter.recording import switches, torch_calls
from interpreter.recording.attempts import Attempt, Tried, outcome, result_of
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.operations import Ref
from interpreter.recording.outside import LIVE
from interpreter.recording.outside import is_constant as trace_constant
from interpreter.recording.shaping import data_dependent, holds_tensor
from interpreter.recording.torch_calls import (
    CONSTANT_KINDS,
    FREE_METADATA,
    METADATA_GETTERS,
    METADATA_METHODS,
    NUMBERS,
    SHAPE_METADATA,
    is_getter,
    mutates,
    plain_name,
)
from interpreter.recording.trace import Trace, Unknown

NO_KWARGS: dict = {}
# may give the tensor itself
CONVERSIONS = {
    "to",
    "float",
    "half",
    "bfloat16",
    "double",
    "contiguous",
    "type",
    "type_as",
    "cpu",
    "cuda",
    "int",
    "long",
}
UNSEEN = {
    "numpy",
    "__array__",
    "__dlpack__",
    "data_ptr",
    "untyped_storage",
    "storage",
    "_typed_storage",
    "__reduce_ex__",
    "__deepcopy__",
    "__cuda_array_interface__",
    "share_memory_",
    "record_stream",
}


class Recording(TorchFunctionMode):
    """Gives each operation to the trace, and does it."""

    def __init__(self, trace: Trace):
        super().__init__()
        self.trace = trace

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or NO_KWARGS
        trace = self.trace
        trace.seen += 1
        if trace.ended is not None and trace.replay is None:
            return func(*args, **kwargs)
        return operate(trace, func, args, kwargs)


def operate(trace: Trace, func, args, kwargs):
    """Do `func(*args, **kwargs)` and record what it was. Raises what it raises."""
    direct, trace.direct = trace.direct, None
    name = plain_name(func)
    if is_getter(func):
        if name in METADATA_GETTERS:
            return metadata(trace, name, func, args, kwargs)
    elif name in METADATA_METHODS:
        return metadata(trace, name, func, args, kwargs)
    if name in UNSEEN and trace.ended is None:
        trace.end(f"{name} of a tensor gives its memory to code that isn't recorded")
    return record(trace, func, name, args, kwargs, direct is func)


def free_metadata(trace, name, func, args, kwargs):
    """A property that no guard fixes, such as where in its memory a tensor begins: what Python learned is checked."""
    told = trace.replay.tell(name) if trace.replay is not None else LIVE
    value = func(*args, **kwargs) if told is LIVE else told
    trace.told.append((name, value if trace_constant(value) else LIVE))
    if trace.ended is not None or not args or (name != "storage_offset" and trace.find(args[0]) is None):
        return value
    operation = trace.add(func, tuple(map(trace.template, args)), {}, number=True)
    if not trace_constant(value):
        operation = trace.add(is_none, (Ref(operation.index),), {}, number=True)
        trace.check(Ref(operation.index), value is None, f"{name} is None")
    else:
        trace.check(Ref(operation.index), value, name)
    return value


def is_none(value) -> bool:
    return value is None


def metadata(trace, name, func, args, kwargs):
    """A property of a tensor: a constant, but for the shape of one whose shape may change."""
    if any(type(value) in TRACED for value in args):
        args = tuple(map(pin, args))
    if name in FREE_METADATA:
        return free_metadata(trace, name, func, args, kwargs)
    if trace.replay is not None and (told := trace.replay.tell(name)) is not LIVE:
        trace.told.append((name, told))
        return told
    value = func(*args, **kwargs)
    fixed = type(value) in CONSTANT_KINDS and (name not in SHAPE_METADATA or not args or not trace.tainted(args[0]))
    trace.told.append((name, value if fixed else LIVE))
    if trace.ended is not None or name not in SHAPE_METADATA or not args or not trace.tainted(args[0]):
        return value
    if name in ("shape", "size"):
        return free_sizes(trace, args, value)
    operation = trace.add(func, tuple(map(trace.template, args)), {}, number=True)
    if type(value) is int:
        return trace.traced(value, Ref(operation.index))
    trace.check(Ref(operation.index), value, name)
    return value


def free_sizes(trace, args, value):
    """A size, or the whole shape, of a tensor whose shape may change: traced numbers in the place of what may."""
    tensor = args[0]
    template = trace.tensor_template(tensor)
    fixed = trace.fixed_sizes(tensor)

    def size(i):
        if i in fixed:
            return tensor.size(i)
        operation = trace.add(torch.Tensor.size, (template, i), {}, number=True)
        return trace.traced(tensor.size(i), Ref(operation.index))

    if type(value) is int:
        dim = args[1] if len(args) > 1 else 0
        return size(dim % tensor.dim())
    return torch.Size([size(i) for i in range(tensor.dim())])


def record(trace, func, name, args, kwargs, direct, whole=False):
    if name in torch_calls.RESHAPES and args and trace.ended is None and (
            trace.tainted(args[0]) or data_dependent(func, args, kwargs)):
        trace.end(f"{name} of a tensor whose shape may be another in each call")
    ended = trace.ended is not None
    templates = named = None
    if not ended:
        try:
            templates = tuple(map(trace.template, args))
            named = {key: trace.template(value) for key, value in kwargs.items()} if kwargs else kwargs
        except Unknown as reason:
            trace.end(f"{torch_calls.plain_name(func)} was given {reason}")
            ended = True
    tried = None
    if trace.replay is not None and trace.replay.has_next():
        result = trace.replay.next(func, args, kwargs)
        tried = result if type(result) is Tried else None
        if func in switches.ALL:
            func(*args, **kwargs)
    else:
        started = perf_counter()
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            trace.raised = True
            if not ended:
                attempted(trace, func, name, templates, named, Tried(None, error))
            raise
        trace.operating += perf_counter() - started
    if tried is not None:
        if not ended:
            attempted(trace, func, name, templates, named, tried)
        if tried.error is not None:
            raise tried.error.with_traceback(None)
        result = tried.result
    if ended:
        return result
    if args and result is args[0] and name in CONVERSIONS and not trace.tainted(result):
        trace.add(func, templates, named, dropped=True)
        return result
    tainted = (
        data_dependent(func, args, kwargs)
        or any_tainted(trace, args)
        or (kwargs and any_tainted(trace, kwargs.values()))
    )
    changes = mutates(func, kwargs)
    effect = whole or changes and trace.seen_outside(args, kwargs) or torch_calls.draws(name, args, kwargs)
    if tried is None:
        operation = trace.add(func, templates, named, effect=effect)
    else:
        operation = trace.add(result_of, (Ref(trace.attempt),), {}, number=True)
    if isinstance(result, torch.Tensor):
        trace.add_tensor(result, Ref(operation.index), tainted)
        if tainted and name in torch_calls.RANKS:
            rank = trace.add(torch.Tensor.dim, (Ref(operation.index),), {}, number=True)
            trace.check(Ref(rank.index), result.dim(), f"the number of dimensions after {name}")
        return result
    if name == "backward":
        trace.grads_moved = True
    if result is None or result is NotImplemented:
        return result
    if isinstance(result, (tuple, list, dict)) and holds_tensor(result):
        if tainted and name in torch_calls.PIECES:  # before the pieces get numbers: another count is another branch
            length = trace.add(len, (Ref(operation.index),), {}, number=True)
            trace.check(Ref(length.index), len(result), f"the number of tensors from {name}")
        trace.add_result(result, operation, tainted)
        return result
    return answer(trace, name, operation, result, direct)


def attempted(trace, func, name, templates, named, tried):
    """Record an operation that raised, or one in the place of which another recording has raised: its outcome is
    checked.
    """
    operation = trace.add(Attempt(func), templates, named, effect=True)
    trace.attempt = operation.index
    asked = trace.add(outcome, (Ref(operation.index),), {}, number=True)
    trace.check(Ref(asked.index), outcome(tried), f"the outcome of {name}")


def deeply_plain(value):
    """An argument without traced numbers, for a message that names types."""
    if type(value) in (list, tuple):
        return type(value)(map(deeply_plain, value))
    return plain(value)


def holds_traced(value) -> bool:
    """Whether an argument is, or holds, a traced number: one that `deeply_plain` makes plain."""
    return type(value) in TRACED or type(value) in (list, tuple) and any(map(holds_traced, value))


def answer(trace, name, operation, result, direct):
    """Python got a plain value from tensors: a traced number, or a check that it is this value."""
    if direct and name in NUMBERS and type(result) in (int, float):
        return trace.traced(result, Ref(operation.index))
    if isinstance(result, (bool, int, float, complex, str, bytes, list, tuple, torch.dtype, torch.device, torch.Size)):
        trace.check(Ref(operation.index), result, f"{name} of a tensor")
        return result
    if type(result).__module__.startswith("torch") and not isinstance(result, torch.UntypedStorage):
        trace.note_object(result, operation)
        return result
    trace.end(f"{name} of a tensor gives a {type(result).__qualname__}, which can't be recorded")
    return result


def any_tainted(trace, values) -> bool:
    for value in values:
        kind = type(value)
        if isinstance(value, torch.Tensor):
            if trace.tainted(value):
                return True
        elif kind is tuple or kind is list or kind is torch.Size:
            if any_tainted(trace, value):
                return True
        elif kind is slice:
            if any_tainted(trace, (value.start, value.stop, value.step)):
                return True
        elif hasattr(value, "template"):
            return True
    return False
