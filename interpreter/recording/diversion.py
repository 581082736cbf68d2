"""Special methods that native code calls by itself, led into the machine.

A dict hashes its keys and compares them, a `groupby` compares its keys. No stand-in can take the place of such an
object unseen: the dict would hold it. So it is the *function* that is lent another body for the time of one native
step: code which enters the machine, where the function runs as it was written. Python lets a function's code be
exchanged; its own is put back before any of the user's code runs, and when the step is over.

The other body leaves no line in a traceback. Another thread that calls the function meanwhile runs a copy of it.
"""

from __future__ import annotations

import functools
import gc
import inspect
import operator
import threading
import types
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from interpreter.lookasides.hooks import ATOM_IDS, flags_of, holder
from interpreter.vm.current import current
from interpreter.vm.hiding import hidden
from interpreter.vm.lookups import HEAP_TYPE, Host, mro_of, namespace_of

WAY_IN = "the way in"
STEPPED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # they run when they are stepped
LENDING = threading.Lock()  # held by the one thread that has functions with other bodies


def through(*args, **kwargs):
    """The other body: its one constant is exchanged for the way in."""
    way_in: Any = "the way in"
    return way_in(*args, **kwargs)


BODY = hidden(through).__code__


class WayIn(Host):
    """What the other body calls: `function` in the machine."""

    __slots__ = ("copy", "function", "machine")

    def __init__(self, machine, function):
        self.machine, self.function = machine, function
        self.copy = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
        self.copy.__kwdefaults__ = function.__kwdefaults__

    @hidden
    def __call__(self, /, *args, **kwargs):
        machine = self.machine
        if current.machine is machine:
            return machine.run_hook(self.function, args, kwargs)
        return self.copy(*args, **kwargs) if current.machine is None else current.machine.run(self.copy, args, kwargs)


def body_for(machine, function) -> types.CodeType:
    way_in = WayIn(machine, function)
    constants = tuple(way_in if constant == WAY_IN else constant for constant in BODY.co_consts)
    return BODY.replace(co_consts=constants, co_freevars=function.__code__.co_freevars)


class Bodies:
    """What is known for one recording: the special methods of classes, and the other bodies that were made for them."""

    def __init__(self, machine, is_hook):
        self.machine, self.is_hook = machine, is_hook
        self.of_kind: dict[int, tuple] = {}
        self.of_function: dict = {}

    def of(self, kind) -> dict:
        """{function: (its own code, its other body)} of the special methods of a class."""
        _, found = self.of_kind.get(id(kind), (kind, None))
        if found is None:
            members = {
                member: None
                for each in mro_of(kind) or ()
                for name, member in namespace_of(each).items()
                if self.is_hook(name, member) and not member.__code__.co_flags & STEPPED
            }
            found = {member: self.lent(member) for member in members}
            self.of_kind[id(kind)] = kind, found
        return found

    def lent(self, function) -> tuple:
        known = self.of_function.get(function)
        if known is None:
            known = self.of_function[function] = function.__code__, body_for(self.machine, function)
        return known


class Diversion:
    """Functions that are lent other bodies while `begin` and `stop` say so; those of more values may join."""

    __slots__ = ("known", "lent", "on")

    def __init__(self, known: Bodies):
        self.known, self.lent, self.on = known, {}, False

    def add(self, values):
        kinds: dict[int, type] = {}
        collect(values, 4, kinds)
        for kind in kinds.values():
            self.lent.update(self.known.of(kind))

    def begin(self):
        """Lend the bodies; where another thread is at it, the functions run natively."""
        if self.lent and not self.on and LENDING.acquire(blocking=False):
            self.on = True
            for function, (_, body) in self.lent.items():
                function.__code__ = body

    def stop(self):
        if self.on:
            for function, (own, _) in self.lent.items():
                function.__code__ = own
            self.on = False
            LENDING.release()


# Classes whose objects show, compare or hash what they hold, though user's classes may be derived from them.
OPEN = (BaseException, weakref.ref, functools.partial, operator.itemgetter, type(functools.cmp_to_key(max)(0)))
# Objects of native types that native code does not look into, or not for what their special methods are.
CLOSED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType, types.GeneratorType,
          types.CoroutineType, types.AsyncGeneratorType, type, torch.Tensor, WayIn)


def collect(values, depth, kinds: dict):
    """The classes of values and of what builtin containers and iterators among them hold, added to `kinds`."""
    for value in values:
        kind = type(value)
        if id(kind) in ATOM_IDS:
            continue
        base = holder(kind)
        if base is not kind:
            kinds[id(kind)] = kind
        if depth:
            collect(carried(value) if base is None else items_of(value, base), depth - 1, kinds)


def items_of(value, base) -> list:
    """What a builtin container holds, without asking a key for its hash."""
    return [*dict.__iter__(value), *dict.values(value)] if issubclass(base, dict) else [*base.__iter__(value)]


def carried(value) -> Iterable:
    """What an object of a native type holds: the list that an iterator goes through, the arguments of an error."""
    kind = type(value)
    if closed(kind):
        return ()
    if issubclass(kind, BaseException):
        return BaseException.args.__get__(value)
    if issubclass(kind, weakref.ref):
        return (weakref.ref.__call__(value),)
    return referred(value)


def referred(value) -> list:
    """What the garbage collector finds in an object. A tuple of its own may have empty places, which nothing but
    the collector may pass: `zip_longest` drops what has ended there."""
    found: list = []
    for each in gc.get_referents(value):
        found += gc.get_referents(each) if type(each) is tuple else [each]
    return found


def closed(kind) -> bool:
    """Whether nothing that objects of this type hold is asked for special methods along with them."""
    if flags_of(kind) & HEAP_TYPE:
        return not issubclass(kind, OPEN)
    return issubclass(kind, CLOSED)
