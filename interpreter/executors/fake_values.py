"""What is asked of fake values: which tensors they hold, whose memory, what has become of them."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensor

from interpreter.recording.torch_calls import is_getter

#: Stands for a value of which nothing is known before it is computed.
UNKNOWN = type("Unknown", (), {"__repr__": lambda self: "unknown"})()
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def call(function, args, kwargs):
    if is_getter(function):
        return function(args[0])
    return function(*args, **kwargs)


def tensors_in(value):
    """The tensors in arguments or results, containers included."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def versions(args, kwargs):
    """The tensors among the arguments, with what an operation that writes to them changes: version and history."""
    return [
        (value, value._version, history(value))
        for value in tensors_in((args, kwargs))
        if isinstance(value, FakeTensor) and not value.is_inference()
    ]


def history(value):
    """The node of autograd that a tensor comes from; None also where autograd has given up to tell."""
    try:
        return value.grad_fn
    except RuntimeError:
        return None


def is_strided(value) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(is_strided, value))
    return type(value) in (FakeTensor, torch.nn.Parameter) and value.layout is torch.strided and not value.is_quantized


def memory(value):
    """Equal for fakes that share memory. What has no storage of its own to ask for (a sparse tensor) shares none."""
    return value.untyped_storage()._cdata if value.layout is torch.strided else id(value)


def first_line(error) -> str:
    return (str(error).strip() or "no message").split("\n")[0][:200]
