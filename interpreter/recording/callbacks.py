"""Native callables that would run Python code which the machine does not see.

`zip` calls the `__iter__` and `__next__` of what it is given, `map` calls its function. Where a lookaside is registered
the machine takes its way, and that code is interpreted. Without it the code would run natively, and read what has no
source: the call is a sharp edge.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
import types

import torch

from interpreter.lookasides.hooks import in_python
from interpreter.vm.lookups import has

ITERATING = {
    zip, map, filter, enumerate, sum, min, max, sorted, list, tuple, set, frozenset, dict, any, all, iter, reversed,
    bytes, bytearray,
    functools.reduce, collections.deque, collections.OrderedDict, math.prod, math.fsum,
    list.extend, str.join, set.update, set.union, set.intersection, set.difference, frozenset.union, dict.update,
    dict.fromkeys,
    collections.deque.extend, collections.deque.extendleft,
    *(member for member in vars(itertools).values() if isinstance(member, type)
      and member not in (itertools.count, itertools.repeat)),
}
CALLING = {
    map, filter, sorted, min, max, functools.reduce, list.sort, itertools.accumulate, itertools.starmap,
    itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, itertools.groupby, iter,
}
PYTHON_CALLABLES = (types.FunctionType, types.MethodType)


def python_reached(callable, args, kwargs):
    """The argument through which `callable` would run Python code, or None."""
    if callable is iter and not (args and has(type(args[0]), "__call__")):
        calling = False
    values = (*args, *kwargs.values()) if kwargs else args
    try:
        iterating, calling = callable in ITERATING, callable in CALLING
    except TypeError:
        return None
    for value in values if iterating or calling else ():
        if isinstance(value, torch.Tensor):
            continue
        if calling and isinstance(value, PYTHON_CALLABLES):
            return value
        if iterating and (in_python(type(value), "__iter__") or in_python(type(value), "__next__")):
            return value
    return None
