"""The registry: by callable and by name, live, and clear about mistakes."""

import pytest

from interpreter.interpret import interpret
from interpreter.lookasides import REGISTRY, find, lookaside, lookasides
from interpreter.lookasides.registry import qualified_name
from interpreter.vm.natives import NATIVES
from tests.lookasides.shapes import SHAPES


@pytest.fixture
def kept():
    """The registry as it was, after the test."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


class Countdown:
    def __iter__(self):
        return iter([3, 2, 1])


def zipped():
    return list(zip(Countdown(), "abc", strict=True))


def routes(run, name):
    return {row["route"] for row in run.ledger.rows() if row["callable"] == name}


def test_names_are_those_of_the_ledger(kept):
    run = interpret(zipped)
    run()
    assert routes(run, "builtins.zip") == {"lookaside"}
    assert "builtins.zip" in lookasides()
    assert lookasides()["zip"] is lookasides()["builtins.zip"] is find(zip).function


def test_a_deleted_lookaside_makes_the_call_opaque(kept):
    expected = zipped()
    del lookasides()["zip"]
    run = interpret(zipped)
    assert run() == expected
    assert routes(run, "builtins.zip") == {"opaque"}
    assert find(zip) is None
    with pytest.raises(KeyError, match="zip"):
        del lookasides()["zip"]


def test_a_second_lookaside_is_refused():
    with pytest.raises(ValueError, match=r"zip has a lookaside already: zip_ at .*builtins_iterables.py:\d+; del"):

        @lookaside(zip)
        def another(*iterables):
            return iter(())


@pytest.mark.parametrize("target", [3, None, "zip"])
def test_what_cannot_be_called_is_refused(target):
    with pytest.raises(TypeError, match="stands in for a callable"):
        lookaside(target)(lambda: None)


def test_a_class_is_no_lookaside():
    with pytest.raises(TypeError, match="a lookaside is a Python function"):
        lookaside(abs)(int)
    with pytest.raises(TypeError, match="takes the callable"):
        lookaside()


def test_bound_methods_are_found_by_their_descriptor():
    assert find([].extend) is find(list.extend)
    assert find({}.fromkeys).name == qualified_name(dict.fromkeys)
    assert find([]) is None


def test_an_ordinary_function_is_a_lookaside_at_once(kept):
    del lookasides()["zip"]

    @lookaside(zip)
    def pairs(*iterables, strict=False):
        return iter([("stood", "in")])

    assert interpret(zipped)() == [("stood", "in")]
    assert zipped() == [(3, "a"), (2, "b"), (1, "c")]


def test_arguments_that_do_not_fit_go_to_the_original():
    entry = find(zip)
    assert entry.accepts(([],), {"strict": True})
    assert not entry.accepts(([],), {"strikt": True})
    with pytest.raises(TypeError, match="strikt"):
        interpret(lambda: zip(strikt=1))()


def test_the_machines_own_handlers_are_left_alone():
    assert not set(NATIVES) & set(REGISTRY)


def test_every_lookaside_says_what_it_does_and_is_tested():
    unsaid = [entry.name for entry in REGISTRY.values() if entry.function.__doc__ is None]
    assert unsaid == []
    assert {entry.name for entry in REGISTRY.values()} == set(SHAPES) & {entry.name for entry in REGISTRY.values()}
