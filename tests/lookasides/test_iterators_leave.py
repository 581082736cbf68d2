"""Iterators and views that leave a jitted call are real ones, also where a program made them: of the same type, over
the same container, as far along, to be copied and pickled as those of the eager call are.
"""

import collections
import copy
import functools
import itertools
import operator
import pickle
import types

import pytest

torch = pytest.importorskip("torch")
jit = pytest.importorskip("interpreter.jit").jit

from tests.lookasides.outcome import described  # noqa: E402 - after what may be missing


class Steps:
    """An iterator written in Python."""

    def __init__(self, items):
        self.items = list(items)

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration
        return self.items.pop(0)


def double(value):
    return value * 2


def started(iterator, steps=1):
    for _ in range(steps):
        next(iterator)
    return iterator


def told(held):
    return dict.fromkeys(map(str, held), held[0])


MADE = {
    "zip": lambda held, x: zip(held, [x, x]),
    "zip, strict": lambda held, x: zip(held, held, strict=True),
    "map": lambda held, x: map(abs, held),
    "map of a function": lambda held, x: map(double, held),
    "map of a lambda": lambda held, x: map(lambda value: value + len(held), held),
    "map over an iterator in Python": lambda held, x: map(double, Steps(held)),
    "filter": lambda held, x: filter(None, held),
    "filter by a function": lambda held, x: filter(lambda value: value > 1, Steps(held)),
    "enumerate": lambda held, x: enumerate(held, 3),
    "reversed": lambda held, x: reversed(held),
    "reversed tuple": lambda held, x: reversed((x, x)),
    "list": lambda held, x: iter(held),
    "list, started": lambda held, x: started(iter(held)),
    "tuple": lambda held, x: iter((x, 2)),
    "range": lambda held, x: iter(range(len(held))),
    "str": lambda held, x: iter("abc"),
    "bytes": lambda held, x: started(iter(b"abc")),
    "deque": lambda held, x: iter(collections.deque(held)),
    "set": lambda held, x: iter(set(held)),
    "set, ended": lambda held, x: started(iter({1}), 1),
    "dict": lambda held, x: iter(told(held)),
    "dict, started": lambda held, x: started(iter(told(held))),
    "dict values": lambda held, x: started(iter(dict.fromkeys(held, x).values())),
    "dict items": lambda held, x: iter(told(held).items()),
    "dict, reversed": lambda held, x: started(reversed(told(held))),
    "dict items, reversed": lambda held, x: reversed(told(held).items()),
    "keys": lambda held, x: told(held).keys(),
    "values": lambda held, x: told(held).values(),
    "items": lambda held, x: told(held).items(),
    "keys in order": lambda held, x: collections.OrderedDict.fromkeys(held).keys(),
    "in order": lambda held, x: started(iter(collections.OrderedDict.fromkeys(held, x))),
    "values in order": lambda held, x: iter(collections.OrderedDict.fromkeys(held, x).values()),
    "items in order": lambda held, x: started(iter(collections.OrderedDict.fromkeys(held, 1).items())),
    "in order, reversed": lambda held, x: reversed(collections.OrderedDict.fromkeys(held, 1)),
    "mapping proxy": lambda held, x: types.MappingProxyType(told(held)),
    "of a sentinel": lambda held, x: iter([3, 2, 1].pop, 3),
    "chain": lambda held, x: started(itertools.chain(held, [x])),
    "chain of iterables": lambda held, x: itertools.chain.from_iterable([held, Steps(held)]),
    "islice": lambda held, x: itertools.islice(held, 2),
    "islice, started": lambda held, x: started(itertools.islice(itertools.count(), 1, 9, 2)),
    "count": lambda held, x: itertools.count(held[0], 2),
    "repeat": lambda held, x: itertools.repeat(x, 2),
    "cycle": lambda held, x: started(itertools.cycle(held), 2),
    "accumulate": lambda held, x: started(itertools.accumulate(held, initial=2)),
    "accumulate by a function": lambda held, x: itertools.accumulate(held, lambda a, b: a * b),
    "product": lambda held, x: started(itertools.product(held, repeat=2)),
    "permutations": lambda held, x: started(itertools.permutations(held, 2)),
    "combinations": lambda held, x: itertools.combinations(held, 2),
    "combinations with replacement": lambda held, x: itertools.combinations_with_replacement(held, 2),
    "starmap": lambda held, x: itertools.starmap(pow, [(2, 3), (3, 2)]),
    "takewhile": lambda held, x: itertools.takewhile(lambda value: value < 3, held),
    "dropwhile": lambda held, x: itertools.dropwhile(lambda value: value < 2, held),
    "filterfalse": lambda held, x: itertools.filterfalse(lambda value: value < 2, held),
    "compress": lambda held, x: itertools.compress(held, [1, 0, 1]),
    "zip_longest": lambda held, x: itertools.zip_longest(held, [1], fillvalue=x),
    "pairwise": lambda held, x: itertools.pairwise(held),
    "tee": lambda held, x: started(itertools.tee(held)[1]),
    "groupby": lambda held, x: itertools.groupby(held, lambda value: value % 2),
    "a group": lambda held, x: next(itertools.groupby(held))[1],
    "a group left behind": lambda held, x: [group for _, group in itertools.groupby(held)][0],
    "partial": lambda held, x: map(functools.partial(operator.mul, 2), held),
}


def shown(value):
    return value.tolist() if isinstance(value, torch.Tensor) else [*value] if hasattr(value, "__next__") else value


def looked_at(made):
    """What can be told of an iterator or view, stepped to its end."""
    steps = iter(made)
    told = [type(made).__name__, isinstance(made, collections.abc.Iterator), steps is made]
    for twin in (copy.copy, lambda value: pickle.loads(pickle.dumps(value))):
        try:
            told.append(type(twin(made)).__name__)
        except Exception as error:
            told.append(described(error)[0])
    for _ in range(5):
        try:
            item = next(steps)
        except Exception as error:
            return [*told, described(error)]
        told.append([shown(each) for each in item] if isinstance(item, tuple) else shown(item))
    return told


@pytest.mark.parametrize("name", MADE)
@pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy:DeprecationWarning")
def test_what_leaves_is_what_eager_gives(name):
    make = MADE[name]
    recorded = jit(lambda held, x: make(held, x))
    x = torch.ones(2)
    for held in ([1, 2, 3], [1, 2, 3], [1, 2, 3], [2, 2], [1, 2, 3]):
        assert looked_at(recorded(held, x)) == looked_at(make(held, x))
    assert [entry.tail for entry in recorded.stats.entries] == [None] * len(recorded.stats.entries)
    assert recorded.stats.hits >= 3


@pytest.mark.parametrize("kind", [dict, list, set, collections.deque])
def test_an_iterator_over_a_given_container_looks_at_that(kind):
    recorded = jit(iter)
    outcomes = []
    for use in (iter, recorded, recorded):
        held = kind([(1, 2), (2, 3)])
        steps = use(held)
        outcomes.append([next(steps)])
        held.update([(5, 6)]) if hasattr(held, "update") else held.append(7)
        with pytest.raises((RuntimeError, StopIteration)) as raised:
            outcomes[-1].extend(iter(steps.__next__, None))
            raise StopIteration
        outcomes[-1].append(described(raised.value))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_what_one_tee_gives_goes_on_sharing():
    recorded = jit(lambda held: itertools.tee(Steps(held)))
    for _ in range(3):
        first, second = recorded([1, 2, 3])
        assert next(first) == 1
        assert [*second] == [1, 2, 3]
        assert [*first] == [2, 3]
