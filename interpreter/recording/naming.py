"""How constants are named in generated functions, and shown to people."""

from __future__ import annotations

import types

import torch

from interpreter.lookasides.hooks import quiet


class Binder:
    """Names for the constant objects of a generated function, one name an object."""

    def __init__(self, names: dict):
        self.names = names
        self.known: dict[int, str] = {}

    def bind(self, value) -> str:
        name = self.known.get(id(value))
        if name is None:
            name = self.known[id(value)] = f"c{len(self.known)}"
            self.names[name] = value
        return name


def bind_key(key, bind):
    return repr(key) if type(key) in (int, str, bool) else bind(key)


def same_objects(container, expected):
    items = tuple(container)
    return len(items) == len(expected) and all(
        a is b or (type(a) is type(b) and type(a) in (str, int, float, bytes, bool) and a == b)
        for a, b in zip(items, expected))


def short(value) -> str:
    """A value for a person, in one short line."""
    if isinstance(value, torch.Tensor):
        return describe_tensor(value)
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, types.CodeType):
        return f"the code of {value.co_qualname} at {value.co_filename}:{value.co_firstlineno}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{getattr(value, '__module__', None)}.{value.__qualname__}"
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__qualname__}"
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."


def label(value) -> str:
    """The same without asking any of the user's Python code: the class of what shows itself."""
    return short(value) if quiet(value, ("__repr__", "__str__")) else f"a {type(value).__qualname__}"


def a_kind(kind: type) -> str:
    """The name of a class with its article."""
    name = kind.__qualname__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def describe_tensor(value, dynamic=frozenset()) -> str:
    sizes = ["any" if i in dynamic else str(n) for i, n in enumerate(value.shape)]
    strides = ""
    if value.layout is torch.strided and not dynamic and not value.is_contiguous():
        strides = f", strides {tuple(value.stride())}"
    grad = ", requires_grad" if value.requires_grad else ""
    layout = "" if value.layout is torch.strided else f", {value.layout}"
    return (f"{type(value).__name__} {str(value.dtype).removeprefix('torch.')}[{', '.join(sizes)}] on {value.device}"
            f"{strides}{layout}{grad}")
