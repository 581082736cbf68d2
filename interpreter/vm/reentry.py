"""The way back into the machine from native code that calls what it was given.

A lookaside hands user's functions and iterables to native code through ``reenter`` and ``entered``. What native code
then calls runs in the machine, in a nested run, if the thread is inside that machine; otherwise natively.
"""

from functools import cache, partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)

from .current import current
from .frame import Frame
from .generators import frame_of
from .hiding import hidden
from .lookups import Host, derives, has, lookup, special
from .natives import native
from .values import NULL

PLAIN = frozenset((list, tuple, dict, set, frozenset, str, bytes, range, GeneratorType))


class Reentry(Host):
    """A callable for native code which runs ``function`` in the machine."""

    __slots__ = ("function", "machine")

    def __init__(self, machine, function):
        self.machine, self.function = machine, function

    @hidden
    def __call__(self, /, *args, **kwargs):
        machine = self.machine
        if current.machine is not machine:
            return self.function(*args, **kwargs)
        return machine.run(self.function, args, kwargs or None)

    def __reduce__(self):
        return identity, (self.function,)


def runs_python(function):
    """Would calling ``function`` run Python code?"""
    kind = type(function)
    if kind is FunctionType or kind is MethodType:
        return True
    if kind is partial:
        return runs_python(function.func)
    if issubclass(kind, type):
        new = lookup(function, "__new__")
        return any(special(function, name) is not None for name in ("__new__", "__init__")) or type(new) is staticmethod
    return special(kind, "__call__") is not None


def runs_python_to_iterate(iterable):
    """Would native code that iterates ``iterable`` run Python code, other than a generator's?"""
    kind = type(iterable)
    if kind in PLAIN or derives(kind, Host):
        return False
    if any(special(kind, name) is not None for name in ("__iter__", "__next__")):
        return True
    return lookup(kind, "__iter__") is NULL and special(kind, "__getitem__") is not None


class Entered(Host):
    """An iterable for native code: its ``__iter__`` runs the user's in the machine."""

    __slots__ = ("iterable", "machine")

    def __init__(self, machine, iterable):
        self.machine, self.iterable = machine, iterable

    @hidden
    def __iter__(self):
        return begin(self.machine, self.iterable)

    def __reduce__(self):
        return identity, (self.iterable,)


def is_empty(value):
    """Is this a builtin container without items? Nothing could tell whether it was iterated."""
    return type(value) in PLAIN and type(value) is not GeneratorType and not value


class EnteredPieces(Host):
    """An iterator for native code that goes through an iterator of iterables, and through each of these.

    What is empty is passed over where the iterables come from a generator: leaving the machine for each takes longer.
    """

    __slots__ = ("iterables", "machine")

    def __init__(self, machine, iterables):
        self.machine, self.iterables = machine, iterables

    @hidden
    def __iter__(self):
        self.iterables = begin(self.machine, self.iterables)
        return self

    @hidden
    def __next__(self):
        machine, iterables = self.machine, self.iterables
        frame = frame_of(iterables) if type(iterables) is GeneratorType and current.machine is machine else None
        if frame is None:
            return machine.entered(next(iterables))
        return machine.entered(machine.next_beyond(iterables, frame, is_empty))

    def __reduce__(self):
        return identity, (self.iterables,)


class EnteredIterator(Host):
    """An iterator for native code: each of its steps runs the user's in the machine."""

    __slots__ = ("iterable", "machine")

    def __init__(self, machine, iterator):
        self.machine, self.iterable = machine, iterator

    @hidden
    def __iter__(self):
        return begin(self.machine, self.iterable)

    @hidden
    def __next__(self):
        machine = self.machine
        if current.machine is not machine:
            return next(self.iterable)
        return machine.next_now(self.iterable)

    def __reduce__(self):
        return identity, (self.iterable,)


def identity(value):
    return value


@hidden
def begin(machine, iterable):
    """``iter(iterable)`` in the machine: an iterator, or what native code steps in its place."""
    if current.machine is not machine:
        return iter(iterable)
    iterator = machine.iterate(iterable)
    if type(iterator) is Frame:
        iterator = machine.finish(iterator)
    if special(type(iterator), "__next__") is None:
        return iterator
    return kind_of(EnteredIterator, type(iterator))(machine, iterator)


@hidden
def told_length(self):
    return len_in(self, "__len__")


@hidden
def told_hint(self):
    return len_in(self, "__length_hint__")


def len_in(entered, name):
    """What an iterable's own ``__len__`` or ``__length_hint__`` says, asked in the machine."""
    iterable = entered.iterable
    found = lookup(type(iterable), name)
    if has(type(found), "__get__"):
        found = found.__get__(iterable, type(iterable))
    return entered.machine.reentered(found)()


LENGTHS = {"__len__": told_length, "__length_hint__": told_hint}


@cache
def with_lengths(base, names):
    """``base`` that can tell its length in these ways, so that native code asks as often as it would."""
    return type(base.__name__, (base,), {"__slots__": ()} | {name: LENGTHS[name] for name in names})


def kind_of(base, kind):
    """The stand-in's class for iterables of a type."""
    return with_lengths(base, tuple(name for name in LENGTHS if lookup(kind, name) not in (NULL, None)))


LISTED = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, type)


class Reentries:
    """The part of the machine that lends functions and iterables to native code."""

    def reentered(self, function):
        """``function``, or a Reentry for it where it runs Python code, as what has a lookaside may."""
        if runs_python(function) or (type(function) in LISTED and function in self.routes):
            return Reentry(self, function)
        return function

    def entered(self, iterable):
        """``iterable``, or a stand-in for it where iterating runs Python code."""
        if not runs_python_to_iterate(iterable):
            return iterable
        return kind_of(Entered, type(iterable))(self, iterable)


def reenter(function):
    """For lookasides: make native code call ``function`` in the machine. Called natively it changes nothing."""
    return function


def entered(iterable):
    """For lookasides: make native code iterate ``iterable`` in the machine. Called natively it changes nothing."""
    return iterable


@native(reenter, counted=False)
def _reenter(machine, function):
    return machine.reentered(function)


@native(entered, counted=False)
def _entered(machine, iterable):
    return machine.entered(iterable)
