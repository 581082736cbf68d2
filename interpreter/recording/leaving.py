"""Traced numbers don't leave a call: what is given back, written or handed to unrecorded code holds plain ones."""

from __future__ import annotations

import collections
import copyreg
import operator
import types

import torch

from interpreter.recording.numbers import TRACED, plain
from interpreter.recording.trace import Trace
from interpreter.vm.lookups import HEAP_TYPE

ATOMS = (
    int,
    float,
    str,
    bytes,
    bool,
    type(None),
    torch.dtype,
    torch.device,
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
)
WRITTEN = (list, dict, set, collections.deque)


def written(entry) -> bool:
    """Whether it is a container that this call has written."""
    return entry is not None and entry.touched and isinstance(entry.value, WRITTEN)


def make_plain(roots: list, trace: Trace) -> list:
    """`roots` without traced numbers: they are replaced in all that was made inside the call and can be reached from
    there. What an outside container held before it was written is not looked into."""
    seen: dict = {}
    for entry in trace.outside.values():
        if entry.original is not None:
            for item in entry.original.values() if isinstance(entry.original, dict) else entry.original:
                if type(item) not in ATOMS and not written(trace.find(item)):
                    seen[id(item)] = (item, item)

    def of(value):
        kind = type(value)
        if kind in TRACED:
            return plain(value)
        if kind in ATOMS or id(value) in seen or issubclass(kind, torch.Tensor):
            return seen.get(id(value), (value, value))[1]
        seen[id(value)] = (value, value)
        if issubclass(kind, (tuple, frozenset)):
            base = tuple if issubclass(kind, tuple) else frozenset
            before = list(base.__iter__(value))
            items = [of(item) for item in before]
            if any(a is not b for a, b in zip(items, before)):
                made = base.__new__(kind, items) if kind is not torch.Size else kind(items)
                seen[id(value)] = (value, made)
                if hasattr(value, "__dict__"):
                    made.__dict__.update(value.__dict__)
            else:
                made = value
            if hasattr(made, "__dict__"):
                of(made.__dict__)
            return made
        entry = trace.find(value)
        if entry is not None and not written(entry):
            return value
        inside(value, kind)
        return value

    def inside(value, kind):
        if issubclass(kind, (list, collections.deque)):
            for i, item in enumerate(kind.__iter__(value)):
                now = of(item)
                if now is not item:
                    kind.__setitem__(value, i, now) if kind is list else operator.setitem(value, i, now)
        elif issubclass(kind, dict):
            if any(of(key) is not key for key in dict.keys(value)):
                items = [(of(key), of(item)) for key, item in dict.items(value)]
                dict.clear(value)
                dict.update(value, items)
            else:
                for key, item in list(dict.items(value)):
                    now = of(item)
                    if now is not item:
                        dict.__setitem__(value, key, now)
        elif issubclass(kind, set):
            items = [(item, of(item)) for item in value]
            for item, now in items:
                if now is not item:
                    value.discard(item)
                    value.add(now)
        elif kind is types.CellType:
            try:
                value.cell_contents = of(value.cell_contents)
            except ValueError:
                return
        elif kind is types.FunctionType:
            for cell in value.__closure__ or ():
                of(cell)
            if value.__defaults__:
                value.__defaults__ = of(value.__defaults__)
            of(value.__kwdefaults__)
        elif kind is types.MethodType:
            of(value.__self__)
        elif issubclass(kind, BaseException):
            value.args = of(value.args)
            of(value.__dict__)
        if kind.__flags__ & HEAP_TYPE and not issubclass(kind, (type, BaseException)):
            of(getattr(value, "__dict__", None))
            for name in copyreg._slotnames(kind) or ():
                if hasattr(value, name):
                    item = getattr(value, name)
                    if of(item) is not item:
                        object.__setattr__(value, name, of(item))

    return [of(root) for root in roots]
