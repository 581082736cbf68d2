"""Callables that lookasides give to native iterators in the place of the user's.

They ask in the machine what C code would ask natively, and are pickled and copied as what they stand for can be.
"""

from __future__ import annotations

from typing import Any

from interpreter.vm.reentry import identity


class Judged:
    """A predicate, the truth of whose answers is asked in the machine."""

    __slots__ = ("function",)

    def __init__(self, function: Any):
        self.function = function

    def __call__(self, item: Any) -> bool:
        return True if self.function(item) else False  # noqa: SIM210 - the truth of the answer is asked here

    def __reduce__(self) -> tuple:
        return identity, (self.function,)


class Produced:
    """What ``iter(function, sentinel)`` calls: ends the iteration itself, having compared in the machine."""

    __slots__ = ("end", "function")

    def __init__(self, function: Any, end: Any):
        self.function = function
        self.end = end

    def __call__(self) -> Any:
        value = self.function()
        if value is self.end or self.end == value:
            raise StopIteration
        return value

    def __reduce__(self) -> tuple:
        return Produced, (self.function, self.end)
