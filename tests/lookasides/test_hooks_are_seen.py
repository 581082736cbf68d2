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
import types
import weakref

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


def held_back(steps):
    """Steps an iterator that other native code is given in between."""
    found = []
    for each in steps:
        found.append(len(list(map(sum, [each]))))
        isinstance(steps, dict)
        found.append(steps in [1, 2])
    return found


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
    "fromkeys of a generator": lambda a, b: len(dict.fromkeys(each for each in [a, b])),
    "fromkeys of a derived class": lambda a, b: len(Missing.fromkeys([a, b])) + len(
        collections.defaultdict.fromkeys([a, b])),
    "zip_longest": lambda a, b: [x + y for x, y in itertools.zip_longest([a], [b, b, b], fillvalue=1)],
    "zip_longest, held": lambda a, b: held_back(itertools.zip_longest([a], [b, b, b], [], fillvalue=1)),
    "repr of a partial": lambda a, b: repr(functools.partial(max, a, key=b)),
    "text of an error": lambda a, b: str(ValueError(a)) + repr(KeyError(b)),
    "weak keys": lambda a, b: len(weakref.WeakSet([a, b])) + len(weakref.WeakKeyDictionary({a: 1, b: 2})),
    "namespaces": lambda a, b: types.SimpleNamespace(x=a) == types.SimpleNamespace(x=b),
    "groupby by key": lambda a, b: [len(list(group)) for _, group in itertools.groupby([1, 2], {1: a, 2: b}.get)],
    "itertools.count": lambda a, b: list(itertools.islice(itertools.count(1, a), 3)),
    "many keys": lambda a, b: len({1: a, 2: b, 3: a, 4: b, 5: a, a: 6, 7: b, 8: a, 9: 1, 10: 1, b: 2, 11: 4}),
    "constant in keys": lambda a, b: (1 in {a: 2}, {a: 5}.get(1), {b, a} == {1}, {a}.isdisjoint([1])),
    "pop": lambda a, b: ({a: 1}.pop(b, 2), {a: 1}.setdefault(b, 3)),
    "views": lambda a, b: len({a: 1}.keys() | {b}) + len({a: 1}.items() & {b: 1}.items()),
    "discard": lambda a, b: [each.discard(b) or len(each) for each in [{a}]],
    "OrderedDict": lambda a, b: [value for value in collections.OrderedDict([(a, 1), (b, 2)]).values()],
    "set comprehension": lambda a, b: len({each for each in [a, b, a]}),
    "dict comprehension": lambda a, b: len({each: 1 for each in [a, b, a]}),
    "unpacked": lambda a, b: len({*[a], *[b]}) + len({**{a: 1}, **{b: 2}}),
    "ChainMap": lambda a, b: collections.ChainMap({a: 1}, {b: 2}).get(b),
    "tuple keys": lambda a, b: {(a, 1): 2}.get((b, 1)),
    "iter with a sentinel": lambda a, b: len(list(itertools.islice(iter([a, b, a].pop, b), 5))),
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
    assert unrecorded(recorded) == []


def unrecorded(recorded):
    """Why calls are not recorded to their end, but for those that raised."""
    tails = [entry.tail for entry in recorded.stats.entries if entry.tail is not None]
    return [tail for tail in tails if "the call raised" not in tail and "write something" not in tail] + [
        row for row in recorded.ledger.rows() if row["sharp"]
    ]


class Logged:
    """One whose special methods leave a line in the log."""

    def __init__(self, n, log):
        self.n, self.log = n, log

    def __getattr__(self, name):
        raise AttributeError(name)


def logging(name):
    def method(self, *args):
        self.log.append((name, self.n, *(getattr(each, "n", each) for each in args)))
        return getattr(Box, name)(self, *args)

    return method


for name in "eq hash lt index repr format len add radd".split():
    setattr(Logged, f"__{name}__", logging(f"__{name}__"))


@pytest.mark.parametrize("name", USES)
def test_special_methods_run_as_often_as_in_eager(name):
    """Also in calls that are served by a program."""
    use = USES[name]
    recorded = jit(use)
    logs = [], []
    ours, theirs = ([Logged(1, log), Logged(2, log)] for log in logs)
    for _ in range(4):
        assert told(recorded, *ours) == told(use, *theirs)
        assert logs[0] == logs[1]
        assert not [entry.missed for entry in recorded.stats.entries[2:]]


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
    "map of a method": (list, lambda held, n: list(map(held.append, [n, 2]))),
    "map of a descriptor": (list, lambda held, n: list(map(list.insert, [held], [0], [n]))),
    "map of a partial": (list, lambda held, n: list(map(functools.partial(held.insert, 0), [n]))),
    "map of setattr": (list, lambda held, n: list(map(operator.setitem, [held.append(n) or held], [-1], [n + 1]))),
    "filter by a method": (set, lambda held, n: list(filter(held.add, [n, 2]))),
    "reduce by a method": (dict, lambda held, n: functools.reduce(held.setdefault, [1, n, 3])),
    "accumulate by a method": (dict, lambda held, n: list(itertools.accumulate([1, n, 3], held.setdefault))),
    "starmap of a method": (dict, lambda held, n: list(itertools.starmap(held.__setitem__, [(n, 2)]))),
    "iter of a method": (list, lambda held, n: (held.extend([2, n, 3]), list(iter(held.pop, 2)))),
    "factory that pops": (list, lambda held, n: (held.append(n), collections.defaultdict(held.pop)[1])),
    "key that reads": (list, lambda held, n: (held.append(n), sorted([0, 1, 2], key=held.count))),
    "predicate that reads": (dict, lambda held, n: (held.update({n: n}), list(filter(held.get, [1, 2])))),
    "largest by what is held": (dict, lambda held, n: (held.update({n: -n}), max([1, 2, n], key=held.get))),
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
    assert unrecorded(recorded) == []
