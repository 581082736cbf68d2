"""Operations that raised while they were recorded, and whose exception the user's code caught.

Whether such an operation raises depends on data. So the program makes the same *attempt* in its place, and checks its
outcome: the same exception with the same message, or a result. Another outcome than the recorded one is a side exit, as
for any other check.
"""

from __future__ import annotations


class Tried:
    """The outcome of an attempt: a result, or an error."""

    __slots__ = ("error", "result")

    def __init__(self, result, error):
        self.result = result
        self.error = error


class Attempt:
    """The function of an operation that may raise: called as that function, it gives a `Tried`."""

    __slots__ = ("__name__", "function")

    def __init__(self, function):
        self.function = function
        self.__name__ = f"attempt of {getattr(function, '__name__', function)}"

    def __call__(self, *args, **kwargs):
        try:
            return Tried(self.function(*args, **kwargs), None)
        except Exception as error:
            return Tried(None, error.with_traceback(None))

    def __eq__(self, other):
        return type(other) is Attempt and other.function == self.function

    def __hash__(self):
        return hash(self.function)


def outcome(tried: Tried) -> str:
    """What Python sees of an attempt."""
    return "a result" if tried.error is None else f"{type(tried.error).__qualname__}: {tried.error}"


def result_of(tried: Tried):
    return tried.result
