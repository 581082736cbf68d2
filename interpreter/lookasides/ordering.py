"""Keys for the original sorting and choosing functions, whose comparisons are made by the machine.

``sorted``, ``min``, ``heapq`` and the like call ``<`` (``max``: ``>``) on elements or their keys. They are given keys
that carry the value and answer that one question through the machine, so the algorithm, and with it the order and
number of comparisons, stays the original's. Values whose comparison runs no Python code stay as they are.
"""
from __future__ import annotations

from interpreter.lookasides.hooks import quiet
from interpreter.vm.lookups import Host
from interpreter.vm.reentry import reenter


class Key(Host):
    """``value``, and ``question(left, right)``: what the native code asks, asked in the machine."""

    __slots__ = ("question", "value")

    def __init__(self, value, question):
        self.value, self.question = value, question


class Least(Key):
    """For native code that asks ``<``; ``__gt__`` is its reflection, met where the left operand is a plain value."""

    __slots__ = ()

    def __lt__(self, other):
        return self.question(self.value, other.value if type(other) is Least else other)

    def __gt__(self, other):
        return self.question(other, self.value)


class Greatest(Key):
    """For native code that asks ``>``; ``__lt__`` is its reflection."""

    __slots__ = ()

    def __gt__(self, other):
        return self.question(self.value, other.value if type(other) is Greatest else other)

    def __lt__(self, other):
        return self.question(other, self.value)


def is_less(left, right):
    return True if left < right else False  # noqa: SIM210 - the truth of the answer is asked in the machine too


def is_greater(left, right):
    return True if left > right else False  # noqa: SIM210


def compares_natively(value):
    """Does ``<`` or ``>`` on this value run no Python code, whatever stands at the other side of it?"""
    return quiet(value, ("__lt__", "__gt__", "__eq__"))


def keys(kind, question, key):
    """A key function for the original: ``key`` runs in the machine, and so does the comparison of what it gives."""

    def ranked(item):
        value = item if key is None else key(item)
        return value if compares_natively(value) else kind(value, question)

    return ranked


def ascending(key):
    """The key function to give to what asks ``<``."""
    return keys(Least, reenter(is_less), reenter(key))


def descending(key):
    """The key function to give to what asks ``>``."""
    return keys(Greatest, reenter(is_greater), reenter(key))
