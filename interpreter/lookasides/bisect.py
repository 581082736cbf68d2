"""bisect: comparisons that are written in Python are made in the machine."""
from __future__ import annotations

import bisect

from interpreter.lookasides.hooks import atom, native, plain
from interpreter.lookasides.ordering import ascending
from interpreter.lookasides.registry import lookaside


def compares(goes_right):
    """``needed``: a list or tuple to look in, proper bounds, and not just native comparisons.

    ``goes_right(item, x)`` is what the original asks of an item. Of a long list it looks at few items, so these alone
    are gone through where numbers or texts are compared.
    """

    def needed(args, kwargs):
        if kwargs and ("lo" in kwargs or "hi" in kwargs) or not all(type(bound) is int for bound in args[2:]):
            return False
        if type(args[0]) not in (list, tuple):
            return False
        key = kwargs.get("key") if kwargs else None
        if key is None and atom(args[1]):
            return meets_others(goes_right, *args)
        return not (native(key) and plain(args[0]) and plain(args[1]))

    return needed


def meets_others(goes_right, a, x, lo=0, hi=None):
    """Is there anything but numbers and texts among the items that a search for ``x`` looks at?"""
    hi = len(a) if hi is None else hi
    if lo < 0 or hi > len(a):
        return False
    while lo < hi:
        middle = (lo + hi) // 2
        if not atom(a[middle]):
            return True
        try:
            if goes_right(a[middle], x):
                lo = middle + 1
            else:
                hi = middle
        except TypeError:
            return False
    return False


def before(item, x):
    return item < x


def not_behind(item, x):
    return not x < item  # noqa: SIM300 - it is x that is asked


@lookaside(bisect.bisect_left, needed=compares(before))
def bisect_left_(a, x, lo=0, hi=None, *, key=None):
    """Where ``x`` would go, before what equals it."""
    return bisect.bisect_left(a, ascending(None)(x), lo, hi, key=ascending(key))


@lookaside(bisect.bisect_right, needed=compares(not_behind))
def bisect_right_(a, x, lo=0, hi=None, *, key=None):
    """Where ``x`` would go, after what equals it."""
    return bisect.bisect_right(a, ascending(None)(x), lo, hi, key=ascending(key))


@lookaside(bisect.insort_left, needed=compares(before))
def insort_left_(a, x, lo=0, hi=None, *, key=None):
    """Puts ``x`` where it goes, before what equals it."""
    rank = x if key is None else key(x)
    a.insert(bisect.bisect_left(a, rank, lo, hi, key=key), x)


@lookaside(bisect.insort_right, needed=compares(not_behind))
def insort_right_(a, x, lo=0, hi=None, *, key=None):
    """Puts ``x`` where it goes, after what equals it."""
    rank = x if key is None else key(x)
    a.insert(bisect.bisect_right(a, rank, lo, hi, key=key), x)
