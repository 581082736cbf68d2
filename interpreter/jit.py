"""`jit`: a callable whose calls are recorded once and then served by programs."""

from __future__ import annotations

import copy
import functools
import inspect
import threading
import time
import types
import warnings
from collections import Counter

import torch
from torch.utils._device import DeviceContext

from interpreter import callable_module
from interpreter.cache import Entry, SideExit, execute
from interpreter.recording.caches import InCache
from interpreter.recording.collector import seldom
from interpreter.recording.faults import ADVICE, Fault, told, users, users_level
from interpreter.recording.guards import Constant, Tensor
from interpreter.recording.ledger import RecordingLedger
from interpreter.recording.record import record
from interpreter.recording.switches import Modes
from interpreter.vm.errors import InterpreterError
from interpreter.vm.hiding import hidden

EXECUTORS = ("eager", "aot", "inductor", "cudagraphs")
MANY = 8
LIMIT = 64


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


class JittedFunction:
    """A jitted function: call it as the function. `stats`, `ledger` and `explain()` say what became of the calls."""

    def __init__(self, jit: Jit):
        self._jit = jit
        self.stats, self.ledger, self.explain = jit.stats, jit.ledger, jit.explain
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            if hasattr(jit.original, name):
                setattr(self, name, getattr(jit.original, name))
        self.__wrapped__ = jit.original

    @hidden
    def __call__(self, *args, **kwargs):
        try:
            return self._jit.call(args, kwargs)
        except BaseException as error:
            users(error)
            raise

    def __get__(self, obj, owner=None):
        return self if obj is None else types.MethodType(self, obj)

    interpreted_at = "__wrapped__"  # where its `__dict__` holds what the interpreter calls in its place

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self

    def __reduce__(self):
        return jit_again, (self._jit.original, self._jit.options)

    def __repr__(self):
        return f"<jitted {self._jit.original!r}>"


class JittedModule(torch.nn.Module):
    """A jitted module: parameters, buffers, modes and attributes are the original's."""

    def __init__(self, jit: Jit):
        object.__setattr__(self, "_jit", jit)
        object.__setattr__(self, "stats", jit.stats)
        object.__setattr__(self, "ledger", jit.ledger)
        object.__setattr__(self, "explain", jit.explain)
        object.__setattr__(self, "__dict__", self.__dict__ | {"_original": jit.original})

    __call__ = JittedFunction.__call__
    forward = JittedFunction.__call__

    def __getattr__(self, name):
        return getattr(self.__dict__["_original"], name)

    def __setattr__(self, name, value):
        setattr(self.__dict__["_original"], name, value)

    def __delattr__(self, name):
        delattr(self.__dict__["_original"], name)

    interpreted_at = "_original"

    def __deepcopy__(self, memo):
        return jit_again(copy.deepcopy(self.__dict__["_original"], memo), self._jit.options)

    def __copy__(self):
        return jit_again(copy.copy(self.__dict__["_original"]), self._jit.options)

    def __reduce__(self):
        return jit_again, (self.__dict__["_original"], self._jit.options)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self.__dict__["_original"])})


def jit_again(original, options: dict):
    """A copy of a jitted callable: the same options, no entries."""
    return jit(original, **options)


def _forwarded(name):
    def forward(self, *args, **kwargs):
        result = getattr(self.__dict__["_original"], name)(*args, **kwargs)
        return self if result is self.__dict__["_original"] else result

    forward.__name__ = name
    return forward


for _name, _member in list(vars(torch.nn.Module).items()):
    if (
        callable(_member)
        and not isinstance(_member, type)
        and (not _name.startswith("__") or _name == "__repr__")
        and _name not in ("forward", "_call_impl", "_wrapped_call_impl", *vars(JittedModule))
    ):
        setattr(JittedModule, _name, _forwarded(_name))


CONTAINER_METHODS = (
    "__len__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__iter__",
    "__contains__",
    "__reversed__",
    "__add__",
    "__iadd__",
)


@functools.lru_cache(maxsize=1024)
def jitted_class(kind: type) -> type:
    """The class of jitted modules whose original is of this class: it can be indexed, measured and iterated where the
    original can.
    """
    methods = {name: _forwarded(name) for name in CONTAINER_METHODS if hasattr(kind, name)}
    return (
        type("JittedModule", (JittedModule,), {**methods, "__module__": JittedModule.__module__})
        if methods
        else JittedModule
    )


def jit(fn_or_module, *, executor="eager", dynamic=None, sharp_edges="allow", compile="now"):
    """A callable that gives what `fn_or_module` gives, from recorded programs.

    executor: "eager", "aot", "inductor", "cudagraphs", or a callable that takes an `fx.GraphModule` and example inputs
    and returns a callable. dynamic: None: ints, floats and sizes that have changed once are no longer guarded by value;
    False: never. sharp_edges: "allow", "warn" or "error": what to do where recording has to end and the rest of the
    call is run unrecorded each time. compile: "now", or "background": calls run on the eager executor until the backend
    is ready. Raises TypeError for something that can't be called, ValueError for an option that isn't known or that
    this machine can't have.
    """
    if not callable(fn_or_module):
        raise TypeError(f"jit takes a function or a module, not {fn_or_module!r}")
    if not callable(executor) and executor not in EXECUTORS:
        raise ValueError(
            f"executor={executor!r} is not known: it is one of {', '.join(EXECUTORS)}, "
            "or a backend as torch.compile takes it"
        )
    if sharp_edges not in ("allow", "warn", "error"):
        raise ValueError(f'sharp_edges={sharp_edges!r} is not known: it is "allow", "warn" or "error"')
    if dynamic is not None and type(dynamic) is not bool:
        raise ValueError(f"dynamic={dynamic!r} is not known: it is None, True or False")
    if compile not in ("now", "background"):
        raise ValueError(f'compile={compile!r} is not known: it is "now" or "background"')
    if isinstance(fn_or_module, (JittedFunction, JittedModule)):
        fn_or_module = fn_or_module._jit.original
    made = Jit(fn_or_module, executor, dynamic, sharp_edges, compile)
    return jitted_class(type(fn_or_module))(made) if isinstance(fn_or_module, torch.nn.Module) else JittedFunction(made)


callable_module(__name__)
