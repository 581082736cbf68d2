"""Every lookaside is sound: what it read of outside containers is guarded, what it wrote to them is written again.

A jitted function uses the callable on containers that exist before the call. They are changed between calls, in each
way that can matter: an element, the length, the order, a key. Each call must give what the eager function gives.
"""

import collections
import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from interpreter.lookasides import REGISTRY
from interpreter.lookasides.purity import effect_of, methods
from tests.lookasides.outcome import ITERATORS, LIMIT, consume, described
from tests.lookasides.recipes import Recipe, make, many, small
from tests.lookasides.shapes import shape_of

pytest.importorskip("torch")
jit = pytest.importorskip("interpreter.jit").jit

pytestmark = pytest.mark.filterwarnings("ignore:.*has been recorded")  # that is what these tests are about
QUICK = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def same(*args):
    return args[0] if args else None


def pair(*args):
    return args


def truthy(*args):
    return bool(args and args[0])


FUNCTIONS = {"same": same, "pair": pair, "truthy": truthy, "first_or_raise": same, "callable": pair, "method": truthy}
LISTS = {"iterator": 0, "source": 1, "hinted": 1, "generator": 1, "cut": 1}  # how many parts come before the elements


def calm(recipe):
    """The recipe with builtin containers and plain functions in the place of what logs and raises."""
    if not isinstance(recipe, Recipe):
        return recipe
    parts = tuple(map(calm, recipe.parts))
    if recipe.kind == "thing":
        return recipe.parts[2]
    if recipe.kind in FUNCTIONS:
        return FUNCTIONS[recipe.kind]
    if recipe.kind in LISTS:
        return Recipe("list", parts[LISTS[recipe.kind] :])
    if recipe.kind == "mapping":
        return Recipe("dict", parts)
    if recipe.kind == "countdown":
        return same
    return Recipe(recipe.kind, parts)


def changes(value):
    """Ways to change a container in place, each as a name and a function."""
    if isinstance(value, list | collections.deque):
        yield "longer", lambda held: held.append(2)
        yield "other element", lambda held: held.__setitem__(0, 5)
        yield "other order", lambda held: held.reverse()
        yield "shorter", lambda held: held.pop()
    elif isinstance(value, dict):
        yield "new key", lambda held: held.__setitem__("new", 4)
        yield "other value", lambda held: held.__setitem__("new", 7)
        yield "other order", lambda held: held.__setitem__(next(iter(held)), held.pop(next(iter(held))))
        yield "key gone", lambda held: held.pop("new", None)
    elif isinstance(value, set | bytearray):
        yield "more", lambda held: (held.add if isinstance(held, set) else held.append)(9)
        yield "less", lambda held: held.pop()


def attempt(change, held):
    try:
        change(held)
    except (TypeError, ValueError, IndexError, LookupError, StopIteration, RuntimeError):
        pass


def user_of(target):
    """A Python function that uses the callable and makes what comes out comparable."""

    def use(args, kwargs):
        try:
            result = target(*args, **kwargs)
            if type(result) in ITERATORS:
                return list(itertools.islice(result, LIMIT))
            return result
        except Exception as error:
            return type(error), str(error)

    return use


def seen(function, args, kwargs):
    try:
        return consume(function(args, kwargs)), [consume(arg) for arg in args if type(arg) not in ITERATORS]
    except Exception as error:
        return described(error)


def compare_through_changes(target, shape):
    """Eager and jitted agree on each call while the containers among the arguments change between them."""

    @QUICK
    @given(shape)
    def check(call):
        args, kwargs = call
        eager, jitted = ([make(calm(arg), []) for arg in args] for _ in range(2))
        named = {name: make(calm(value), []) for name, value in kwargs.items()}
        use = user_of(target)
        recorded = jit(user_of(target))
        assert seen(recorded, jitted, named) == seen(use, eager, named), "first call"
        assert seen(recorded, jitted, named) == seen(use, eager, named), "second call"
        for at, value in enumerate(eager):
            for name, change in changes(value):
                attempt(change, eager[at])
                attempt(change, jitted[at])
                assert seen(recorded, jitted, named) == seen(use, eager, named), f"argument {at}: {name}"

    check()


@pytest.mark.parametrize("entry", list(REGISTRY.values()), ids=lambda entry: entry.name)
def test_lookasides_guard_what_they_read(entry):
    compare_through_changes(entry.target, shape_of(entry.target))


OWNERS = {
    list: many("list", of=small),
    tuple: many("tuple", of=small),
    dict: many("dict", of=small),
    set: many("set", of=small),
    frozenset: many("frozenset", of=small),
    collections.deque: many("deque", of=small),
    collections.OrderedDict: many("ordered_dict", of=small),
    collections.defaultdict: many("defaultdict", st.just(list), of=small),
}
others = st.lists(
    st.one_of(small, small, many("list", of=small), many("dict", of=small), many("set", of=small)), max_size=2
)
METHODS = [
    (kind, method)
    for kind in OWNERS
    for name, method in methods(kind)
    if effect_of(method) in ("reads", "writes")
    and type(method) is not staticmethod
    and not name.startswith(("__class", "__reduce"))
]


@pytest.mark.parametrize("kind, method", METHODS, ids=lambda each: getattr(each, "__name__", "?"))
def test_methods_of_containers_guard_what_they_read(kind, method):
    """Those that need no lookaside: the recording knows from the table of effects what they do."""
    shape = st.tuples(OWNERS[kind], others).map(lambda made: ((made[0], *made[1]), {}))
    compare_through_changes(method, shape)
