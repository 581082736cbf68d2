"""Nothing of builtins, itertools, functools, operator and collections, nor of their containers, ends a recording.

The inventory is walked. Each callable is used in a jitted function, on objects with special methods in Python that are
made inside the call or exist before it; iterators that exist before a call are another matter. What is an edge by its
nature is listed, with the reason.
"""

import builtins
import collections
import functools
import itertools
import operator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from interpreter.lookasides import REGISTRY
from interpreter.lookasides.inventory import walk
from interpreter.lookasides.registry import qualified_name
from tests.lookasides.outcome import ITERATORS, LIMIT
from tests.lookasides.recipes import Recipe, hashables, iterables_of, make, many, small
from tests.lookasides.shapes import anything, shape_of

pytest.importorskip("torch")
jit = pytest.importorskip("interpreter.jit").jit

QUICK = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
MODULES = {each.__name__ for each in (builtins, itertools, functools, operator, collections)}
KINDS = {
    "list": many("list", of=hashables),
    "tuple": many("tuple", of=hashables),
    "dict": many("dict", of=hashables),
    "set": many("set", of=hashables),
    "frozenset": many("frozenset", of=hashables),
    "deque": many("deque", of=hashables),
    "defaultdict": many("defaultdict", st.just(list), of=hashables),
    "OrderedDict": many("ordered_dict", of=hashables),
}
EDGES = {
    "breakpoint": "stops for a person",
    "compile": "its result, and that of what follows, is code that was made inside",
    "eval": "runs any code, in namespaces of its own",
    "exec": "runs any code, in namespaces of its own",
    "input": "waits for a person",
    "open": "reads and writes files",
    "print": "given a file it writes there",
    "__sizeof__": "tells memory, which depends on how an object came to be",
}


def is_edge(target):
    return any(qualified_name(target).endswith(f".{name}") for name in EDGES)


USED = [
    (where, target)
    for where, target in walk()
    if (where in MODULES or where in KINDS)
    and not is_edge(target)
    and not (isinstance(target, type) and issubclass(target, BaseException))
]


class Silent:
    """A log that nobody reads."""

    def append(self, line):
        pass


def arguments(where, target):
    """A strategy: what a callable is given by position and by name."""
    if REGISTRY.find(target) is not None:
        return shape_of(REGISTRY.find(target).target)
    others = st.lists(st.one_of(hashables, small, iterables_of(hashables), anything), max_size=2)
    first = [KINDS[where]] if where in KINDS and hasattr(target, "__objclass__") else []
    return st.tuples(*first, others).map(lambda made: ((*made[:-1], *made[-1]), {}))


STEPPED = ("iterator", "generator", "cut")


def given_before(recipe):
    """The recipe without iterators: one that exists before the call ends a recording, whoever steps it."""
    if not isinstance(recipe, Recipe):
        return recipe
    parts = tuple(map(given_before, recipe.parts))
    if recipe.kind in STEPPED:
        return Recipe("list", parts[recipe.kind != "iterator" :])
    return Recipe(recipe.kind, parts)


def use(target, args, kwargs):
    """Calls the target, and goes through the iterator that comes out."""
    try:
        result = target(*args, **kwargs)
        if type(result) in ITERATORS:
            list(itertools.islice(result, LIMIT))
    except Exception as error:
        return type(error).__name__
    return "gave"


def use_made_inside(target, args, kwargs):
    silent, names = Silent(), itertools.count()
    return use(
        target, [make(arg, silent, names) for arg in args], {key: make(arg, silent) for key, arg in kwargs.items()}
    )


def edges(recorded):
    tails = [entry.tail for entry in recorded.stats.entries if entry.tail is not None]
    return tails + [row["callable"] for row in recorded.ledger.rows() if row["sharp"]]


@pytest.mark.parametrize("where, target", USED, ids=lambda each: each if type(each) is str else qualified_name(each))
def test_nothing_ends_the_recording(where, target):
    @QUICK
    @given(arguments(where, target))
    def check(call):
        args, kwargs = call
        inside = jit(use_made_inside)
        inside(target, args, kwargs)
        assert edges(inside) == [], "made inside"
        outside = jit(use)
        silent, names = Silent(), itertools.count()
        given = [make(given_before(arg), silent, names) for arg in args]
        outside(target, given, {key: make(given_before(arg), silent, names) for key, arg in kwargs.items()})
        assert edges(outside) == [], "made before"

    check()


def test_every_edge_is_there():
    names = {qualified_name(target).rpartition(".")[2] for _, target in walk()}
    assert set(EDGES) <= names
