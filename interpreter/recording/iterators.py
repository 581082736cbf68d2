"""How iterators and views that leave a call are made again: the same kind, over the same container, as far along.

Most iterators written in C tell it themselves (`__reduce__`), as they do for `copy` and `pickle`. Those of dicts and
sets give a list there; what they go through is asked of the garbage collector instead.
"""

from __future__ import annotations

import gc
import itertools
import types
import warnings
from collections import OrderedDict

from interpreter.lookasides.purity import iterator_types
from interpreter.recording.trace import Unknown

VIEWS = {
    type({}.keys()): dict.keys,
    type({}.values()): dict.values,
    type({}.items()): dict.items,
    type(OrderedDict().keys()): OrderedDict.keys,
    type(OrderedDict().values()): OrderedDict.values,
    type(OrderedDict().items()): OrderedDict.items,
    types.MappingProxyType: types.MappingProxyType,
}


def forwards(container, method=None):
    return iter(container if method is None else method(container))


def backwards(container, method=None):
    return reversed(container if method is None else method(container))


LOOKING = {  # iterators that look at a dict or set, which may not change its size meanwhile
    type(iter({})): (forwards, dict.keys),
    type(iter({}.values())): (forwards, dict.values),
    type(iter({}.items())): (forwards, dict.items),
    type(reversed({})): (backwards, dict.keys),
    type(reversed({}.values())): (backwards, dict.values),
    type(reversed({}.items())): (backwards, dict.items),
    type(iter(set())): (forwards, None),
}
GROUP = type(next(itertools.groupby([0]))[1])
ORDERED = type(iter(OrderedDict()))  # does not tell whether it gives keys, values or items
SHARED = type(itertools.tee([])[0].__reduce__()[2][0])  # what the iterators of one `tee` have in common
ITERATORS = frozenset(iterator_types()) | {SHARED}
KINDS = ITERATORS | frozenset(VIEWS)


def remake(value) -> tuple:
    """`(function, arguments, state)` that make an iterator or view anew: `function(*arguments)`, then its
    `__setstate__(state)` where the state is not None. Raises Unknown where nothing tells."""
    kind = type(value)
    if kind in VIEWS:
        return VIEWS[kind], tuple(gc.get_referents(value)), None
    if kind in LOOKING:
        return again, looking(value, kind, *LOOKING[kind]), None
    if kind is ORDERED:
        return again, ordered(value), None
    if kind is itertools.pairwise and len(held := gc.get_referents(value)) == 1:
        return kind, (held[0],), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of what 3.14 leaves out
            made = value.__reduce__()
    except TypeError:
        raise Unknown(f"an iterator of the type {kind.__module__}.{kind.__qualname__} can't be made again") from None
    if kind is GROUP and made[0] is iter:  # one that its groupby has left behind, which gives nothing more
        return ended_group, (), None
    return (*made, None)[:3]


def ended_group():
    left_behind, _ = [group for _, group in itertools.groupby((0, 1))]
    return left_behind


def ordered(value) -> tuple:
    """The same for an iterator of an OrderedDict: it is one that gives the items which this one still has to give."""
    for make in (forwards, backwards):
        for method in (OrderedDict.keys, OrderedDict.values, OrderedDict.items):
            try:
                return looking(value, ORDERED, make, method)
            except Unknown as reason:
                unknown = reason
    raise unknown


def looking(value, kind, make, method) -> tuple:
    """The arguments of `again` for an iterator of a dict or set."""
    held = [each for each in gc.get_referents(value) if isinstance(each, (dict, set, frozenset))]
    if not held:
        return make, method, None, 0
    try:
        left = [*value.__reduce__()[1][0]]  # of a copy
    except RuntimeError:
        left = None
    done = 0 if left is None else len(held[0]) - len(left)
    expected = itertools.islice(again(make, method, held[0], 0), done, None)
    if left is None or parts(expected) != parts(left) or done and left and method is None:  # a new set has any order
        raise Unknown(f"a {kind.__name__} in the middle of its work")
    return make, method, held[0], done


def parts(items) -> list:
    """The identities of items, and of what is in tuples among them (the pairs of a dict are new each time)."""
    return [[*map(id, item)] if type(item) is tuple else id(item) for item in items]


def again(make, method, container, done):
    """An iterator over a dict or set that has given so many items; over None, one that has given them all."""
    spent = container is None
    if spent:
        container = set() if method is None else method.__objclass__()
    made = make(container, *(() if method is None else (method,)))
    for _ in range(1 if spent else done):
        next(made, None)
    return made
