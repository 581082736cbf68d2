"""What becomes of each call of a jitted callable: an entry takes it, or it is interpreted and recorded."""

from __future__ import annotations

import inspect
import threading
import time
import warnings
from collections import Counter

import torch
from torch.utils._device import DeviceContext

from interpreter.cache import Entry, SideExit, execute
from interpreter.recording.caches import InCache
from interpreter.recording.collector import seldom
from interpreter.recording.faults import ADVICE, Fault, told, users_level
from interpreter.recording.guards import Constant, Tensor
from interpreter.recording.ledger import RecordingLedger
from interpreter.recording.record import record
from interpreter.recording.switches import Modes
from interpreter.vm.errors import InterpreterError

#: Entries of one callable from which on it is said that it is recorded again and again, and the most that are kept.
MANY, LIMIT = 8, 64


class Stats:
    """Counts of one jitted callable: `calls` in all, `hits` served by a recorded program, `misses` interpreted and
    recorded, `tails` run without a record as their recording had to end early."""

    def __init__(self):
        self.calls = self.hits = self.misses = self.tails = 0
        self.exits = 0
        self.entries: list[Entry] = []


class Jit:
    """What a jitted function and a jitted module share."""

    def __init__(self, original, executor, dynamic, sharp_edges, compile):
        self.original = original
        self.options = {"executor": executor, "dynamic": dynamic, "sharp_edges": sharp_edges, "compile": compile}
        self.lowering = None
        if executor != "eager":
            from interpreter.executors.executor import Executor

            self.lowering = Executor(executor, compile)
        self.dynamic = dynamic
        self.sharp_edges = sharp_edges
        self.stats = Stats()
        self.ledger = RecordingLedger()
        self.changing: set = set()
        self.names = parameter_names(original)
        self.lock = threading.RLock()
        self.warned = False
        self.changes: Counter = Counter()
        self.dropped: Counter = Counter()

    def call(self, args, kwargs):
        stats = self.stats
        stats.calls += 1
        if not recordable_state():
            stats.tails += 1
            return self.original(*args, **kwargs)
        for entry in stats.entries:
            inputs = entry.prologue.check(args, kwargs)
            if type(inputs) is tuple:
                return self.serve(entry, inputs, args, kwargs)
        return self.miss(args, kwargs)

    def serve(self, entry, inputs, args, kwargs):
        """A call that an entry takes."""
        stats = self.stats
        if entry.tail is not None:
            stats.tails += 1
            result = self.original(*args, **kwargs)
            if entry.raised:
                self.drop(entry)
            return result
        modes = Modes() if entry.switches else None
        try:
            result = execute(entry, inputs, args, kwargs)
        except SideExit as left:
            exit = left
            if modes is not None:
                modes.restore(exit.entered())
        else:
            stats.hits += 1
            return result
        return self.take_up(entry, exit, args, kwargs)

    def drop(self, entry):
        """A call that raised made this entry, and one that it takes has returned: the next one is worth recording."""
        with self.lock:
            if entry in self.stats.entries:
                self.stats.entries.remove(entry)

    def take_up(self, entry, exit, args, kwargs):
        """Interpret a call that a program has begun: what the program did is not done again."""
        self.stats.exits += 1
        recorded = self.record(args, kwargs, exit.replay())
        if recorded.error is not None:
            raise recorded.error
        if recorded.fault is not None:
            self.warn_of(recorded.fault)
        elif exit.recordable:
            self.sharp(recorded)
            with self.lock:
                try:
                    entry.add_branch(exit, recorded, (args, kwargs))
                except Exception as error:
                    self.warn_of(error)
            if entry.tail is not None:
                self.give_up(entry)
        elif exit.segment.origin is not None and not recorded.trace.raised:
            entry.program.failed(exit.error)
        return recorded.value

    def give_up(self, entry):
        """An entry whose program is left in ever new ways serves no more: its calls run the original."""
        text = f"{describe(self.original)}: {entry.tail}. Such calls are run as they are from now on"
        if self.sharp_edges == "error":
            raise SharpEdge(text)
        warnings.warn(text, stacklevel=users_level())

    def record(self, args, kwargs, replay=None):
        return record(self.original, self.names, args, kwargs, frozenset(self.changing), self.ledger, replay)

    def miss(self, args, kwargs):
        begun = time.perf_counter()
        stats = self.stats
        with self.lock:
            stats.misses += 1
            for entry in stats.entries:
                entry.prologue.relax()
            missed = [entry.prologue.explain(args, kwargs) for entry in stats.entries]
            if self.dynamic is not False:
                for entry in stats.entries:
                    self.note_change(entry.prologue.failing(args, kwargs), args, kwargs)
            for entry in stats.entries[:1]:
                self.changes.update(map(str, entry.prologue.changed_sources(args, kwargs)))
            if len(stats.entries) >= MANY and not self.warned:
                self.warned = True
                often = ", ".join(f"{source} ({count} times)" for source, count in self.changes.most_common(3))
                warnings.warn(
                    f"{describe(self.original)} has been recorded {len(stats.entries)} times, as what it reads "
                    f"keeps changing: "
                    f"{often}; the last time {missed[0]}",
                    stacklevel=users_level(),
                )
            with seldom():
                recorded = self.record(args, kwargs)
                if recorded.fault is not None or isinstance(recorded.error, InterpreterError):
                    entry = None
                else:
                    try:
                        entry = Entry(recorded, missed, self.lowering, (args, kwargs))
                    except Warning:  # such as NotCompiled, which the user has made an error
                        raise
                    except Exception as error:
                        recorded.fault, entry = error, None
            if recorded.fault is not None:
                self.warn_of(recorded.fault)
            if entry is not None:
                self.sharp(recorded)
                stats.entries.insert(0, entry)
                del stats.entries[LIMIT:]
        value, error = recorded.value, recorded.error
        del recorded  # letting go of tens of thousands of objects is part of what recording costs
        if entry is not None:
            entry.phases["record"] = time.perf_counter() - begun - sum(entry.phases.values())
        if error is not None:
            raise error
        return value

    def sharp(self, recorded):
        """A recording that ended early is said at once where that was asked for."""
        if recorded.tail is None or recorded.error is not None or self.sharp_edges == "allow":
            return
        text = f"the rest of the call can't be recorded and is run as it is every time: {recorded.tail}"
        if self.sharp_edges == "error":
            raise SharpEdge(text)
        warnings.warn(text, stacklevel=users_level())

    def warn_of(self, error):
        """A call went well, but its record did not."""
        warnings.warn(
            f"a call of {describe(self.original)} could not be recorded, by a fault of the interpreter: {told(error)}. "
            f"Its result is right; the next such call is interpreted again. {ADVICE}",
            Fault,
            stacklevel=users_level(),
        )

    def note_change(self, guard, args, kwargs):
        """An int, a float or a size that has changed from one call to another is not guarded by value from now on; what
        a cache has dropped twice isn't expected there again."""
        if isinstance(guard, InCache):
            self.dropped[str(guard)] += 1
            if self.dropped[str(guard)] > 1:
                self.changing.add(str(guard))
        if not isinstance(guard, (Constant, Tensor)):
            return
        try:
            now = guard.source.walk((args, kwargs))
        except Exception:
            return
        if isinstance(guard, Constant):
            if type(guard.value) in (int, float) and type(now) is type(guard.value):
                self.changing.add(str(guard.source))
        elif isinstance(now, torch.Tensor) and now.dim() == len(guard.shape):
            for i, (old, new) in enumerate(zip(guard.shape, now.shape)):
                if old != new:
                    self.changing.add((str(guard.source), i))

    def explain(self) -> str:
        from interpreter.explain import explain

        return explain(self)


class SharpEdge(RuntimeError):
    """Recording had to end, and `sharp_edges="error"` was asked for."""


def recordable_state() -> bool:
    """Whether modes or transforms of the caller are in force that a recording would not see."""
    for i in range(torch._C._len_torch_function_stack()):
        if not isinstance(torch._C._get_function_stack_at(i), DeviceContext):
            return False
    return not torch._C._len_torch_dispatch_stack() and torch._C._functorch.maybe_current_level() is None


def parameter_names(original) -> list[str]:
    function = original.forward if isinstance(original, torch.nn.Module) else original
    try:
        return [name for name, parameter in inspect.signature(function).parameters.items()
                if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        return []


def describe(original) -> str:
    return getattr(original, "__qualname__", None) or type(original).__qualname__
