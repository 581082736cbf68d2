"""bisect: comparisons that are written in Python are made in the machine."""
from __future__ import annotations

import bisect

from interpreter.lookasides.hooks import native, plain
from interpreter.lookasides.ordering import ascending
from interpreter.lookasides.registry import lookaside


def compares(args, kwargs):
    """``needed``: a list or tuple to look in, proper bounds, and not just native comparisons."""
    if kwargs and ("lo" in kwargs or "hi" in kwargs) or not all(type(bound) is int for bound in args[2:]):
        return False
    key = kwargs.get("key") if kwargs else None
    return type(args[0]) in (list, tuple) and not (native(key) and plain(args[0]) and plain(args[1]))


@lookaside(bisect.bisect_left, needed=compares)
def bisect_left_(a, x, lo=0, hi=None, *, key=None):
    """Where ``x`` would go, before what equals it."""
    return bisect.bisect_left(a, ascending(None)(x), lo, hi, key=ascending(key))


@lookaside(bisect.bisect_right, needed=compares)
def bisect_right_(a, x, lo=0, hi=None, *, key=None):
    """Where ``x`` would go, after what equals it."""
    return bisect.bisect_right(a, ascending(None)(x), lo, hi, key=ascending(key))


@lookaside(bisect.insort_left, needed=compares)
def insort_left_(a, x, lo=0, hi=None, *, key=None):
    """Puts ``x`` where it goes, before what equals it."""
    rank = x if key is None else key(x)
    a.insert(bisect.bisect_left(a, rank, lo, hi, key=key), x)


@lookaside(bisect.insort_right, needed=compares)
def insort_right_(a, x, lo=0, hi=None, *, key=None):
    """Puts ``x`` where it goes, after what equals it."""
    rank = x if key is None else key(x)
    a.insert(bisect.bisect_right(a, rank, lo, hi, key=key), x)
