"""Builtins that go through iterables: zip, map, filter, enumerate, sum, sorted, list, dict and their like."""
from __future__ import annotations

from interpreter.lookasides.adding import Summand, added, summand
from interpreter.lookasides.callables import Judged
from interpreter.lookasides.hooks import atoms, elements_hooked, iterated_natively, native, values_hooked
from interpreter.lookasides.ordering import ascending, descending
from interpreter.lookasides.registry import lookaside
from interpreter.vm.reentry import entered, reenter


def iterates(args, kwargs):
    """``needed`` of what only iterates its arguments."""
    return not all(map(iterated_natively, args)) or bool(kwargs and "iterable" in kwargs)


def calls_and_iterates(args, kwargs):
    """``needed`` of what calls its first argument with the items of the others; none of it is given by name."""
    return bool(kwargs) or not (native(args[0]) and all(map(atoms, args[1:])))


TRUTH = elements_hooked("__bool__", "__len__")
ORDER = elements_hooked("__lt__", "__gt__")
ORDER_OF_VALUES = values_hooked("__lt__", "__gt__")


def orders(args, kwargs):
    """``needed`` of sorted, min and max."""
    key = kwargs.get("key") if kwargs else None
    if key is not None:
        return not (native(key) and all(map(atoms, args)))
    if len(args) > 1:
        return ORDER_OF_VALUES(args, None)
    return ORDER(args, None)


@lookaside(zip, needed=iterates)
def zip_(*iterables, strict=False):
    """The n-th items of each iterable, as tuples."""
    return zip(*[entered(each) for each in iterables], strict=strict)


@lookaside(map, needed=calls_and_iterates)
def map_(function, iterable, /, *iterables):
    """``function`` of the n-th items of each iterable."""
    return map(reenter(function), entered(iterable), *[entered(each) for each in iterables])


@lookaside(filter, needed=calls_and_iterates)
def filter_(function, iterable, /):
    """The items for which ``function``, or their own truth, says yes."""
    if function is None or function is bool:
        return filter(reenter(is_true), entered(iterable))
    return filter(reenter(Judged(function)), entered(iterable))


def is_true(item):
    return True if item else False  # noqa: SIM210


@lookaside(enumerate, needed=iterates)
def enumerate_(iterable, start=0):
    """Items with their count."""
    return enumerate(entered(iterable), start)


@lookaside(any, needed=TRUTH)
def any_(iterable, /):
    """True at the first true item."""
    for item in iterable:
        if item:
            return True
    return False


@lookaside(all, needed=TRUTH)
def all_(iterable, /):
    """False at the first false item."""
    for item in iterable:
        if not item:
            return False
    return True


@lookaside(sum, needed=elements_hooked("__add__", "__radd__"))
def sum_(iterable, /, start=0):
    """The original adds (floats with its own care); additions that are written in Python are made in the machine."""
    if not issubclass(type(start), (str, bytes, bytearray)):
        start = summand(reenter(added), start)

    def prepared(item):
        return summand(add, item)

    add = reenter(added)
    total = sum(map(prepared, entered(iterable)), start)
    return total.value if type(total) is Summand else total


@lookaside(sorted, needed=orders)
def sorted_(iterable, /, *, key=None, reverse=False):
    """A sorted list; comparisons that are written in Python are made in the machine."""
    return sorted(entered(iterable), key=ascending(key), reverse=reverse)


@lookaside(min, needed=orders)
def min_(first, /, *others, key=None, **default):
    """The first of the smallest items."""
    if others:
        return min(first, *others, key=ascending(key), **default)
    return min(entered(first), key=ascending(key), **default)


@lookaside(max, needed=orders)
def max_(first, /, *others, key=None, **default):
    """The first of the largest items."""
    if others:
        return max(first, *others, key=descending(key), **default)
    return max(entered(first), key=descending(key), **default)


@lookaside(list, needed=iterates)
def list_(iterable=(), /):
    """A list of the items."""
    return list(entered(iterable))


@lookaside(tuple, needed=iterates)
def tuple_(iterable=(), /):
    """A tuple of the items."""
    return tuple(entered(iterable))


@lookaside(set, needed=iterates)
def set_(iterable=(), /):
    """A set of the items."""
    return set(entered(iterable))


@lookaside(frozenset, needed=iterates)
def frozenset_(iterable=(), /):
    """A frozenset of the items."""
    return frozenset(entered(iterable))
