"""One call, interpreted and recorded."""

from __future__ import annotations

import time

import torch

from interpreter.lookasides.registry import REGISTRY
from interpreter.recording import guards, sources
from interpreter.recording.leaving import make_plain, written
from interpreter.recording.machine import RecordingMachine
from interpreter.recording.mode import Recording
from interpreter.recording.outside import BY_IDENTITY, Outside
from interpreter.recording.results import Builder
from interpreter.recording.trace import Trace, Unknown
from interpreter.vm.errors import InterpreterError


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
        self.fault: Exception | None = None
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
    given = [
        trace.read(value, sources.Argument(i, names[i] if i < len(names) else f"args[{i}]"))
        for i, value in enumerate(args)
    ]
    named = {key: trace.read(value, sources.Argument(key, key)) for key, value in kwargs.items()}
    started = time.perf_counter()
    with Recording(trace):
        try:
            recorded.value = machine.run(function, given, named)
        except Exception as error:
            recorded.error = error
    recorded.seconds = time.perf_counter() - started
    if not isinstance(recorded.error, InterpreterError):
        try:
            finish(recorded)
        except Exception as error:
            recorded.fault = error
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
            for write in (*trace.writes, *trace.hits):
                write.templates = tuple(map(builder.template, write.args))
        except Unknown as reason:
            trace.ended = trace.ended or f"{write.text} {reason}"
        recorded.writes = [*trace.writes, *trace.hits]
    if trace.hooks_again and trace.hooks_write:
        trace.ended = trace.ended or "special methods that a later call would run once more write something"
    recorded.tail = trace.ended
    if trace.ended is not None and trace.ended_where is not None:
        recorded.tail = f"{trace.ended}, at {trace.ended_where}"
    distinct(trace)
    if trace.numbered:
        held = [entry.value for entry in trace.outside.values() if written(entry)]
        recorded.value, recorded.error, *_ = make_plain(
            [recorded.value, recorded.error, *(write.args for write in trace.writes), *held], trace
        )
    for write in (*trace.writes, *trace.hits):
        write.args = ()  # the templates say what to write; the objects of this call are let go
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
