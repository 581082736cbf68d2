"""What native objects hold is looked at without harm."""

import itertools

from interpreter.recording.diversion import carried, collect


def test_a_tuple_of_an_iterators_own_may_have_holes():
    iterator = itertools.zip_longest([1], [2, "two"])
    for _ in range(2):
        next(iterator)
        assert all(True for _ in carried(iterator))
        collect([iterator], 4, {})
