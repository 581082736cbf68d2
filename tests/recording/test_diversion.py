"""What native objects hold is looked at without harm."""

import itertools

from interpreter.recording.diversion import carried, hooks_within, items_of


def test_a_tuple_of_an_iterator_s_own_may_have_holes():
    iterator = itertools.zip_longest([1], [2, "two"])
    for _ in range(2):
        next(iterator)
        inner = [each for each in carried(iterator) if type(each) is tuple]
        assert inner
        for each in inner:
            items_of(each, tuple)
        hooks_within([iterator], lambda name, member: False)
