"""Special methods of the user's which native code calls are seen: they are interpreted, or the recording ends there.

What they read changes between calls; a jitted function must give what the eager one gives.
"""

import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import re

import pytest

pytest.importorskip("torch")
jit = pytest.importorskip("interpreter.jit").jit


class Box:
    """Every special method reads the number."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == getattr(other, "n", other)

    def __hash__(self):
        return hash(self.n)

    def __lt__(self, other):
        return self.n < other.n

    def __index__(self):
        return self.n

    def __repr__(self):
        return f"Box{self.n}"

    def __format__(self, spec):
        return f"{self.n}{spec}"

    def __len__(self):
        return self.n

    def __add__(self, other):
        return self.n + getattr(other, "n", other)

    __radd__ = __add__


class Missing(dict):
    def __missing__(self, key):
        return self.box.n


def with_missing(a):
    made = Missing()
    made.box = a
    return made["key"]


def pushed(a, b):
    heap = []
    heapq.heappush(heap, a)
    heapq.heappush(heap, b)
    return heap[0].n


def added(a, b):
    made = set()
    made.add(a)
    made.add(b)
    return len(made)


USES = {
    "in a list": lambda a, b: a in [b],
    "in a tuple": lambda a, b: a in (1, b),
    "in a dict": lambda a, b: a in {b: 1},
    "in a set": lambda a, b: a in {b},
    "in a deque": lambda a, b: a in collections.deque([b]),
    "dict.get": lambda a, b: {b: 5, 2: 3}.get(a, 7),
    "list ==": lambda a, b: [a] == [b],
    "tuple ==": lambda a, b: (a, 1) == (b, 1),
    "tuple <": lambda a, b: (a, 1) < (b, 1),
    "dict ==": lambda a, b: {1: a} == {1: b},
    "set ==": lambda a, b: {a} == {b},
    "set display": lambda a, b: len({a, b}),
    "item": lambda a, b: [5, 6, 7, 8][a],
    "slice": lambda a, b: [5, 6, 7, 8][a:],
    "list *": lambda a, b: [1] * a,
    "str *": lambda a, b: "x" * a,
    "repr of a list": lambda a, b: repr([a, b]),
    "str of a dict": lambda a, b: str({1: a}),
    "%": lambda a, b: "%r" % a,  # noqa: UP031
    "f-string": lambda a, b: f"{a:>} {[b]}",
    "format": lambda a, b: "{} {!r}".format(a, b),  # noqa: UP032
    "join": lambda a, b: ",".join(map(str, [a, b])),
    "sorted": lambda a, b: [each.n for each in sorted([a, b])],
    "sorted by key": lambda a, b: [each.n for each in sorted([a, b], key=lambda each: (each, 1))],
    "cmp_to_key": lambda a, b: [e.n for e in sorted([a, b], key=functools.cmp_to_key(lambda p, q: p.n - q.n))],
    "min": lambda a, b: min(a, b).n,
    "groupby": lambda a, b: [len(list(group)) for _, group in itertools.groupby([a, b])],
    "count": lambda a, b: [a, b].count(b),
    "remove": lambda a, b: [each.n for each in [a, b] if [a, b].remove(b) is None],
    "sum": lambda a, b: sum([a, b]),
    "accumulate": lambda a, b: list(itertools.accumulate([1, a, b])),
    "reduce": lambda a, b: functools.reduce(operator.add, [a, b]),
    "heapq": pushed,
    "bisect": lambda a, b: bisect.bisect([b], a),
    "Counter": lambda a, b: sorted(collections.Counter([a, b]).values()),
    "deepcopy": lambda a, b: copy.deepcopy([a])[0].n,
    "all": lambda a, b: all([a, b]),
    "filter": lambda a, b: len(list(filter(None, [a, b]))),
    "compress": lambda a, b: list(itertools.compress([1, 2], [a, b])),
    "range": lambda a, b: list(range(a)),
    "chr": lambda a, b: chr(a),
    "gcd": lambda a, b: math.gcd(a, b),
    "round": lambda a, b: round(2.34567, a),
    "defaultdict": lambda a, b: collections.defaultdict(lambda: a.n)[3],
    "__missing__": lambda a, b: with_missing(a),
    "re.sub": lambda a, b: re.sub("x", lambda match: f"{a}", "axb"),
    "slice.indices": lambda a, b: slice(a, b).indices(5),
    "hash of a tuple": lambda a, b: hash((a, 1)),
    "dict |": lambda a, b: len({a: 1} | {b: 2}),
    "set.add": added,
    "frozenset": lambda a, b: len(frozenset([a, b])),
    "fromkeys": lambda a, b: len(dict.fromkeys([a, b])),
}


def told(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", USES)
def test_what_special_methods_read_is_seen(name):
    use = USES[name]
    recorded = jit(use)
    ours, theirs = (Box(1), Box(1)), (Box(1), Box(1))
    for numbers in ((1, 1), (1, 1), (2, 1), (1, 2), (0, 2), (3, 3), (2, 1)):
        for pair in (ours, theirs):
            for box, number in zip(pair, numbers, strict=True):
                box.n = number
        assert told(recorded, *ours) == told(use, *theirs), numbers


class Counted:
    """An iterable written in Python."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter([self.n] * self.n)


class Named:
    """A mapping that is no dict."""

    def __init__(self, n):
        self.n = n

    def keys(self):
        return ["a", "b"][: self.n]

    def __getitem__(self, key):
        return key * self.n


WRITES = {
    "extend": (list, lambda held, n: held.extend(Counted(n))),
    "extend by a generator": (list, lambda held, n: held.extend(i * n for i in range(2))),
    "+=": (list, lambda held, n: held.__iadd__(Counted(n)) and None),
    "sort": (list, lambda held, n: (held.extend([n, 3 - n]), held.sort(key=lambda each: -each))[1]),
    "update a set": (set, lambda held, n: held.update(Counted(n))),
    "update a dict": (dict, lambda held, n: held.update(Named(n))),
    "extend a deque": (collections.deque, lambda held, n: held.extendleft(Counted(n))),
    "setdefault": (dict, lambda held, n: held.setdefault("key", []).append(n)),
    "default factory": (lambda: collections.defaultdict(list), lambda held, n: held["key"].append(n)),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_from_iterables_is_written_again(name):
    make, write = WRITES[name]
    recorded = jit(write)
    ours, theirs = make(), make()
    for n in (1, 1, 2, 1, 2, 2):
        assert told(recorded, ours, n) == told(write, theirs, n)
        assert ours == theirs
