"""One call, interpreted and recorded."""

from __future__ import annotations

import collections
import copyreg
import operator
import time
import types

import torch

from interpreter.lookasides.registry import REGISTRY
from interpreter.recording import guards, sources
from interpreter.recording.machine import RecordingMachine
from interpreter.recording.mode import Recording
from interpreter.recording.numbers import TRACED, plain
from interpreter.recording.results import Builder
from interpreter.recording.trace import BY_IDENTITY, Outside, Trace, Unknown


ATOMS = (int, float, str, bytes, bool, type(None), torch.dtype, torch.device, type, types.ModuleType, types.BuiltinFunctionType)


class Recorded:
    """What a recorded call gave, and the templates that a program is made of."""

    def __init__(self, trace: Trace, machine: RecordingMachine):
        self.trace = trace
        self.machine = machine
        self.value = None
        self.error: BaseException | None = None
        self.result = None
        self.writes: list = []
        self.tail: str | None = None
        self.seconds = 0.0

    @property
    def instructions(self) -> int:
        return self.machine.stats.instructions


def record(function, names, args, kwargs, dynamic, ledger, replay=None) -> Recorded:
    """Interpret `function(*args, **kwargs)`, recording. `names` are those of its positional parameters."""
    trace = Trace(dynamic, replay)
    machine = RecordingMachine(trace, REGISTRY, ledger)
    recorded = Recorded(trace, machine)
    trace.guard(guards.Call(len(args), kwargs))
    root(trace, function)
    given = [trace.read(value, sources.Argument(i, names[i] if i < len(names) else f"args[{i}]")) for i, value in enumerate(args)]
    named = {key: trace.read(value, sources.Argument(key, key)) for key, value in kwargs.items()}
    started = time.perf_counter()
    with Recording(trace):
        try:
            recorded.value = machine.run(function, given, named)
        except Exception as error:
            recorded.error = error
    recorded.seconds = time.perf_counter() - started
    finish(recorded)
    return recorded


def root(trace: Trace, function):
    """The jitted callable itself: the program holds it."""
    if isinstance(function, torch.nn.Module):
        entry = trace.outside[id(function)] = Outside(function, sources.Pinned(function, "self"))
        trace.guard(guards.Type(entry.source, type(function)))
    elif hasattr(function, "__self__") and hasattr(function, "__func__"):
        trace.pinned(function.__self__, "self")
        trace.guard(guards.Type(trace.find(function.__self__).source, type(function.__self__)))
        trace.pinned(function.__func__, function.__func__.__qualname__)
    else:
        trace.pinned(function, getattr(function, "__qualname__", type(function).__qualname__))


def finish(recorded: Recorded):
    """Make the templates of the result and of the writes, and the guards that only the end of the call can tell."""
    trace = recorded.trace
    if recorded.error is not None and trace.ended is None:
        trace.ended = f"the call raised {type(recorded.error).__name__}"
    if trace.ended is None:
        builder = Builder(trace)
        try:
            recorded.result = builder.template(recorded.value)
        except Unknown as reason:
            trace.ended = f"the result: {reason}"
        try:
            for write in trace.writes:
                write.templates = tuple(map(builder.template, write.args))
        except Unknown as reason:
            trace.ended = trace.ended or f"{write.text} {reason}"
        recorded.writes = trace.writes
    recorded.tail = trace.ended
    if trace.ended is not None and trace.ended_where is not None:
        recorded.tail = f"{trace.ended}, at {trace.ended_where}"
    distinct(trace)
    if trace.numbered:
        recorded.value = make_plain([recorded.value, *(write.args for write in trace.writes)], trace)[0]
    trace.machine = None
    trace.keep.clear()


def distinct(trace: Trace):
    """Objects that were written, or of which Python asked whether they are one, must be different ones again."""
    if trace.asked_distinct:
        trace.guard(guards.Distinct([entry.source for entry in trace.asked_distinct.values()]))
    by_kind: dict = {}
    for entry in trace.outside.values():
        if not isinstance(entry.source, sources.Pinned) or not isinstance(entry.value, BY_IDENTITY):
            by_kind.setdefault(type(entry.value), []).append(entry)
    for kind, entries in by_kind.items():
        if len(entries) > 1 and kind not in (tuple, frozenset) and any(entry.touched for entry in entries) and not all(
                isinstance(entry.source, sources.Pinned) for entry in entries):
            trace.guard(guards.Distinct([entry.source for entry in entries]))


def make_plain(roots: list, trace: Trace) -> list:
    """`roots` without traced numbers: they are replaced in all that was made inside the call and can be reached from there."""
    seen: dict = {}

    def of(value):
        kind = type(value)
        if kind in TRACED:
            return plain(value)
        if kind in ATOMS or id(value) in seen or isinstance(value, torch.Tensor):
            return seen.get(id(value), (value, value))[1]
        seen[id(value)] = (value, value)
        if kind is tuple or kind is torch.Size or kind is frozenset or isinstance(value, tuple):
            items = [of(item) for item in tuple.__iter__(value)] if kind is not frozenset else [of(item) for item in value]
            if any(a is not b for a, b in zip(items, value)):
                made = tuple.__new__(kind, items) if isinstance(value, tuple) and kind is not torch.Size else kind(items)
                seen[id(value)] = (value, made)
                return made
            return value
        if trace.find(value) is not None and not isinstance(value, (list, dict, set, collections.deque)):
            return value
        inside(value, kind)
        return value

    def inside(value, kind):
        if isinstance(value, (list, collections.deque)):
            for i, item in enumerate(kind.__iter__(value)):
                now = of(item)
                if now is not item:
                    kind.__setitem__(value, i, now) if kind is list else operator.setitem(value, i, now)
        elif isinstance(value, dict):
            if any(of(key) is not key for key in dict.keys(value)):
                items = [(of(key), of(item)) for key, item in dict.items(value)]
                dict.clear(value)
                dict.update(value, items)
            else:
                for key, item in list(dict.items(value)):
                    now = of(item)
                    if now is not item:
                        dict.__setitem__(value, key, now)
        elif isinstance(value, set):
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
        elif kind.__flags__ & (1 << 9) and not isinstance(value, type):
            of(getattr(value, "__dict__", None))
            for name in copyreg._slotnames(kind) or ():
                if hasattr(value, name):
                    item = getattr(value, name)
                    if of(item) is not item:
                        object.__setattr__(value, name, of(item))

    return [of(root) for root in roots]
