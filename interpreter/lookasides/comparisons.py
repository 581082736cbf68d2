"""Comparisons of lists, tuples, deques and dicts, which compare their items; and what a dict does for a missing key."""
from __future__ import annotations

import collections

from interpreter.lookasides.hooks import in_python, native, quiet
from interpreter.lookasides.registry import lookaside

deque = collections.deque
COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


def compares_items(kind):
    """``needed`` of comparisons of two containers of this kind."""

    def needed(args, kwargs):
        return issubclass(type(args[1]), kind) and not (quiet(args[0], COMPARED) and quiet(args[1], COMPARED))

    return needed


def of_sequences(kind, length_decides):
    """The comparisons of a type of sequences: the first items that are not equal decide, else the lengths.

    Where a comparison of items has made a sequence so short that it has no such item any more, the lengths decide too.

    ``length_decides``: sequences of different lengths are unequal before an item is asked.
    """
    item_of, length_of, needed = kind.__getitem__, kind.__len__, compares_items(kind)

    def first_difference(a, b):
        """Index of the first items that are not equal; -1 where one sequence begins with the other."""
        i = 0
        while i < length_of(a) and i < length_of(b):
            left, right = item_of(a, i), item_of(b, i)
            if left is not right and not left == right:  # noqa: SIM201 - it is == that is asked
                return i if i < length_of(a) and i < length_of(b) else -1
            i += 1
        return -1

    @lookaside(kind.__eq__, needed=needed)
    def eq_(a, b, /):
        """Whether lengths and items are equal."""
        if length_decides and length_of(a) != length_of(b):
            return False
        return first_difference(a, b) < 0 and length_of(a) == length_of(b)

    @lookaside(kind.__ne__, needed=needed)
    def ne_(a, b, /):
        """Whether lengths or items differ."""
        if length_decides and length_of(a) != length_of(b):
            return True
        return first_difference(a, b) >= 0 or length_of(a) != length_of(b)

    @lookaside(kind.__lt__, needed=needed)
    def lt_(a, b, /):
        """Whether the first difference is smaller."""
        i = first_difference(a, b)
        return length_of(a) < length_of(b) if i < 0 else item_of(a, i) < item_of(b, i)

    @lookaside(kind.__le__, needed=needed)
    def le_(a, b, /):
        """Whether the first difference is smaller, or there is none."""
        i = first_difference(a, b)
        return length_of(a) <= length_of(b) if i < 0 else item_of(a, i) <= item_of(b, i)

    @lookaside(kind.__gt__, needed=needed)
    def gt_(a, b, /):
        """Whether the first difference is larger."""
        i = first_difference(a, b)
        return length_of(a) > length_of(b) if i < 0 else item_of(a, i) > item_of(b, i)

    @lookaside(kind.__ge__, needed=needed)
    def ge_(a, b, /):
        """Whether the first difference is larger, or there is none."""
        i = first_difference(a, b)
        return length_of(a) >= length_of(b) if i < 0 else item_of(a, i) >= item_of(b, i)


of_sequences(list, length_decides=True)
of_sequences(tuple, length_decides=False)

ABSENT = object()
HASHED = ("__hash__", "__eq__")


def compares_values(args, kwargs):
    """``needed`` of comparisons of dicts. Keys with hooks are left to the original, which knows their hashes."""
    return compares_items(dict)(args, kwargs) and all(quiet([*dict.__iter__(each)], HASHED) for each in args)


def values_equal(a, b):
    """Whether two dicts have equal values under the same keys."""
    if dict.__len__(a) != dict.__len__(b):
        return False
    for key, left in dict.items(a):
        right = dict.get(b, key, ABSENT)
        if right is ABSENT or (left is not right and not left == right):  # noqa: SIM201
            return False
    return True


@lookaside(dict.__eq__, needed=compares_values)
def dict_eq_(a, b, /):
    """Whether keys and values are equal."""
    return values_equal(a, b)


@lookaside(dict.__ne__, needed=compares_values)
def dict_ne_(a, b, /):
    """Whether keys or values differ."""
    return not values_equal(a, b)


def makes_up(args, kwargs):
    """``needed`` of looking a key up: a missing one is made up by Python code."""
    kind = type(args[0])
    if kind is dict:
        return False
    if in_python(kind, "__missing__"):
        return True
    return issubclass(kind, collections.defaultdict) and not native(args[0].default_factory)


@lookaside(dict.__getitem__, needed=makes_up)
def dict_getitem_(self, key, /):
    """The value under a key, or what ``__missing__`` makes of it."""
    value = dict.get(self, key, ABSENT)
    return type(self).__missing__(self, key) if value is ABSENT else value
