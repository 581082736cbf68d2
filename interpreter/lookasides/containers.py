"""Methods of list, tuple, dict, set, frozenset and deque that iterate, compare or index by what they are given."""
from __future__ import annotations

import collections
import operator
import sys

from interpreter.lookasides.asking import asks
from interpreter.lookasides.hooks import iterated_natively, native, plain, quiet, values_hooked
from interpreter.lookasides.lent import INDEX, lend_number
from interpreter.lookasides.ordering import ascending
from interpreter.lookasides.registry import REGISTRY, Lookaside, lookaside
from interpreter.vm.reentry import entered

deque = collections.deque
EQUALITY = values_hooked("__eq__")
ORDER = ("__lt__", "__gt__", "__eq__")


def iterates_others(args, kwargs):
    """``needed`` of methods that iterate their arguments but the first."""
    return not all(map(iterated_natively, args[1:]))


def over_iterables(target):
    """An ordinary lookaside for a method that iterates its arguments."""

    def standin(self, /, *iterables):
        return target(self, *[entered(each) for each in iterables])

    standin.__name__ = standin.__qualname__ = target.__name__ + "_"
    standin.__doc__ = "The original, going through what the machine hands it."
    REGISTRY.add(Lookaside(target, standin, needed=iterates_others))


SETS = "union intersection difference symmetric_difference issubset issuperset isdisjoint"
UPDATES = "update intersection_update difference_update symmetric_difference_update"
for kind, names in (
    (list, "extend __iadd__ __init__"), (deque, "extend extendleft __iadd__"), (set, f"{SETS} {UPDATES} __init__"),
    (frozenset, SETS), (str, "join"), (bytes, "join"), (bytearray, "join extend __iadd__"),
    (type({}.keys()), "isdisjoint"), (type({}.items()), "isdisjoint"),
):
    for name in names.split():
        over_iterables(getattr(kind, name))


def fills(position):
    """``needed`` of what takes an iterable at this position, or by that name."""

    def needed(args, kwargs):
        given = args[position] if len(args) > position else (kwargs or {}).get("iterable")
        return not iterated_natively(given)

    return needed


@lookaside(deque, needed=fills(0))
def deque_(iterable=(), maxlen=None):
    """A deque, filled from what the machine goes through."""
    return deque(entered(iterable), maxlen)


@lookaside(deque.__init__, needed=fills(1))
def deque_init_(self, iterable=(), maxlen=None):
    """A deque is filled from what the machine goes through."""
    return deque.__init__(self, entered(iterable), maxlen)


def sorts(args, kwargs):
    """``needed`` of list.sort."""
    key = kwargs.get("key") if kwargs else None
    return not quiet(args[0], ORDER) if key is None else not (native(key) and plain(args[0]))


@lookaside(list.sort, needed=sorts)
def list_sort_(self, /, *, key=None, reverse=False):
    """Sorts in place; comparisons that are written in Python are made in the machine."""
    return list.sort(self, key=ascending(key), reverse=reverse)


def searching(kind):
    """The methods of list and tuple that look for a value; subclasses keep what they override out of it, as in C."""
    item_of, length_of = kind.__getitem__, kind.__len__

    @lookaside(kind.index, needed=EQUALITY)
    def index_(self, value, start=0, stop=sys.maxsize, /):
        """Where the first item is that is ``value`` or equal to it."""
        if not (hasattr(type(start), "__index__") and hasattr(type(stop), "__index__")):
            return kind.index(self, value, start, stop)
        i, stop = clipped(start, length_of(self)), clipped(stop, length_of(self))
        while i < stop and i < length_of(self):
            item = item_of(self, i)
            if item is value or item == value:
                return i
            i += 1
        return kind.index(kind(), value)

    @lookaside(kind.count, needed=EQUALITY)
    def count_(self, value, /):
        """How many items are ``value`` or equal to it."""
        found = i = 0
        while i < length_of(self):
            item = item_of(self, i)
            if item is value or item == value:
                found += 1
            i += 1
        return found

    @lookaside(kind.__contains__, needed=EQUALITY)
    def contains_(self, value, /):
        """Whether an item is ``value`` or equal to it."""
        i = 0
        while i < length_of(self):
            item = item_of(self, i)
            if item is value or item == value:
                return True
            i += 1
        return False


def clipped(bound, length):
    """A bound of a search: negative ones count from the end."""
    bound = operator.index(bound)
    return max(bound + length, 0) if bound < 0 else bound


searching(list)
searching(tuple)


@lookaside(list.remove, needed=EQUALITY)
def list_remove_(self, value, /):
    """Takes the first item out that is ``value`` or equal to it."""
    i = 0
    while i < list.__len__(self):
        item = list.__getitem__(self, i)
        if item is value or item == value:
            return list.__delitem__(self, slice(i, i + 1))
        i += 1
    return list.remove([], value)


@lookaside(deque.count, needed=EQUALITY)
def deque_count_(self, value, /):
    """How many items are ``value`` or equal to it."""
    found = 0
    for item in deque.__iter__(self):
        if item is value or item == value:
            found += 1
    return found


@lookaside(deque.__contains__, needed=EQUALITY)
def deque_contains_(self, value, /):
    """Whether an item is ``value`` or equal to it."""
    for item in deque.__iter__(self):
        if item is value or item == value:
            return True
    return False


@lookaside(deque.index, needed=EQUALITY)
def deque_index_(self, value, start=0, stop=sys.maxsize, /):
    """Where the first item is that is ``value`` or equal to it."""
    if not (hasattr(type(start), "__index__") and hasattr(type(stop), "__index__")):
        return deque.index(self, value, start, stop)
    at, start, stop = 0, clipped(start, deque.__len__(self)), clipped(stop, deque.__len__(self))
    for item in deque.__iter__(self):
        if at >= stop:
            break
        if at >= start and (item is value or item == value):
            return at
        at += 1
    return deque.index(deque(), value)


@lookaside(deque.remove, needed=EQUALITY)
def deque_remove_(self, value, /):
    """Takes the first item out that is ``value`` or equal to it."""
    witness, at, mutated = deque.__iter__(self), 0, False
    for item in deque.__iter__(self):
        found = item is value or item == value
        try:
            next(witness)
        except RuntimeError:
            mutated = True
        if mutated:
            raise IndexError("deque mutated during remove().")
        if found:
            return deque.__delitem__(self, at)
        at += 1
    return deque.remove(deque(), value)


TEXT_METHODS = ("center ljust rjust zfill expandtabs find rfind rindex index count startswith endswith split rsplit "
                "replace splitlines __getitem__ __mul__ __rmul__")

# Positions and repetitions: anything with __index__ will do.
for kind, names in (
    (list, "pop insert __getitem__ __delitem__ __mul__ __rmul__ __imul__ __setitem__"),
    (tuple, "__getitem__ __mul__ __rmul__"), (range, "__getitem__"),
    (deque, "rotate insert __getitem__ __delitem__ __mul__ __rmul__ __imul__ __setitem__"),
    (str, TEXT_METHODS), (bytes, TEXT_METHODS + " __contains__"),
):
    for name in names.split():
        asks(getattr(kind, name), (), INDEX, *(((),) if name in ("insert", "__setitem__") else ()), take=lend_number)
