"""Effects: what the table says is what the callables do."""

import collections

import pytest

from interpreter.lookasides.purity import CONTAINERS, effect, effect_of, is_pure, methods

SAMPLES = {
    list: lambda: [3, 1, 2],
    tuple: lambda: (3, 1, 2),
    dict: lambda: {1: 2, 3: 4},
    set: lambda: {1, 2, 3},
    frozenset: lambda: frozenset({1, 2, 3}),
    bytearray: lambda: bytearray(b"\1\2\3"),
    collections.deque: lambda: collections.deque([3, 1, 2], maxlen=5),
    collections.defaultdict: lambda: collections.defaultdict(list, {1: 2}),
    collections.OrderedDict: lambda: collections.OrderedDict({1: 2, 3: 4}),
}
ARGUMENTS = [(), (1,), (1, 7), ([5, 6],), ({5: 6},), ({5, 6},), (0, [9])]


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
def test_methods_that_are_said_to_read_write_nothing(kind):
    """Each method is called in several ways; one that changes its object must be said to write it."""
    for name, method in methods(kind):
        if type(method) in (staticmethod, type(dict.fromkeys)) or name.startswith("__class"):
            continue
        for args in ARGUMENTS:
            held, before = SAMPLES[kind](), SAMPLES[kind]()
            try:
                method(held, *args)
            except (TypeError, ValueError, LookupError):
                continue
            changed = held != before or list(held) != list(before)
            assert not changed or effect_of(method) == "writes", f"{kind.__name__}.{name}{args}"


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
def test_writers_that_do_not_depend_on_the_old_content_give_the_same_on_any(kind):
    """A blind writer gives the same result, or exception, whatever its object held."""
    for name in CONTAINERS[kind][0].split():
        for args in ARGUMENTS:
            outcomes = set()
            for empty in (True, False):
                held = kind() if empty else SAMPLES[kind]()
                try:
                    result = getattr(kind, name)(held, *args)
                    outcomes.add("self" if result is held else repr(result))
                except Exception as error:
                    outcomes.add(type(error).__name__)
            assert len(outcomes) == 1, f"{kind.__name__}.{name}{args}: {outcomes}"


@pytest.mark.parametrize(
    "target, kind",
    [
        (str.upper, "pure"),
        ("x".upper, "pure"),
        (abs, "pure"),
        (tuple.index, "reads"),
        (dict.get, "reads"),
        ({}.get, "reads"),
        (dict.fromkeys, "reads"),
        (list.append, "writes"),
        ([].append, "writes"),
        (iter([]).__next__, "writes"),
        (object.__setattr__, "writes"),
        (print, "opaque"),
        (input, "opaque"),
        (open, "opaque"),
        (len.__self__.__loader__, "opaque"),
        ([], "opaque"),
    ],
)
def test_effects_of_samples(target, kind):
    assert effect_of(target) == kind


def test_writers_say_what_they_write():
    assert (effect(list.append).argument, effect(list.append).needs_old) == (0, False)
    assert effect(list.pop).needs_old
    assert is_pure(len) and is_pure(abs) and not is_pure(list.append) and not is_pure(print)
