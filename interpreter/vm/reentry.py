"""The way back into the machine from native code that calls what it was given.

A lookaside hands user's functions and iterables to native code through ``reenter`` and ``entered``. What native code then
calls runs in the machine, in a nested run, if the thread is inside that machine; otherwise natively.
"""

from functools import partial
from types import FunctionType, GeneratorType, MethodType

from .current import current
from .hiding import hidden
from .lookups import lookup, special
from .natives import native
from .values import NULL


class Reentry:
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


def runs_python(function):
    """Would calling ``function`` run Python code?"""
    kind = type(function)
    if kind is FunctionType or kind is MethodType:
        return True
    if kind is partial:
        return runs_python(function.func)
    if isinstance(function, type):
        new = lookup(function, "__new__")
        return any(special(function, name) is not None for name in ("__new__", "__init__")) or type(new) is staticmethod
    return special(kind, "__call__") is not None


def runs_python_to_iterate(iterable):
    """Would native code that iterates ``iterable`` run Python code, other than a generator's?"""
    kind = type(iterable)
    if kind is GeneratorType:
        return False
    if any(special(kind, name) is not None for name in ("__iter__", "__next__")):
        return True
    return lookup(kind, "__iter__") is NULL and special(kind, "__getitem__") is not None


class Entered:
    """An iterable for native code: its ``__iter__`` runs the user's in the machine."""

    __slots__ = ("iterable", "machine")

    def __init__(self, machine, iterable):
        self.machine, self.iterable = machine, iterable

    @hidden
    def __iter__(self):
        return EnteredIterator(self.machine, self.machine.items(self.iterable))


class EnteredIterator:
    """An iterator for native code whose every step is the machine's."""

    __slots__ = ("iterator", "machine")

    def __init__(self, machine, iterator):
        self.machine, self.iterator = machine, iterator

    def __iter__(self):
        return self

    @hidden
    def __next__(self):
        return next(self.iterator)


class Reentries:
    """The part of the machine that lends functions and iterables to native code."""

    def reentered(self, function):
        """``function``, or a Reentry for it where it runs Python code."""
        return Reentry(self, function) if runs_python(function) else function

    def entered(self, iterable):
        """``iterable``, or a stand-in for it where iterating runs Python code."""
        return Entered(self, iterable) if runs_python_to_iterate(iterable) else iterable


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
