"""What native handlers need of the machine beyond its methods."""
from __future__ import annotations

from typing import Any

from interpreter.vm.frame import Frame
from interpreter.vm.hooks import Hook, Then, hooked


def finish(machine: Any, outcome: Any) -> Any:
    """The value of an outcome: a value as it is, a Frame run to its end in a nested loop."""
    return machine.finish(outcome) if type(outcome) is Frame else outcome


class Answered(Hook):
    """Two answers: one for a value, whatever it is, and one for an exception of the given type."""

    __slots__ = ("kind", "otherwise", "value")

    def __init__(self, value, kind, otherwise):
        self.value, self.kind, self.otherwise = value, kind, otherwise

    def returned(self, back, value):
        return self.value

    def raised(self, back, error):
        return self.otherwise if isinstance(error, self.kind) else super().raised(back, error)


def answered(outcome: Any, value: Any, kind: type, otherwise: Any) -> Any:
    """``value`` in the place of an outcome; ``otherwise`` if the Frame to come raises an exception of this type."""
    return hooked(outcome, Answered(value, kind, otherwise)) if type(outcome) is Frame else value


NOTHING = Then(lambda value: None)


def done(outcome: Any) -> Any:
    """None as the result of a step that only has effects: the outcome of set_attribute, set_item and their like."""
    if type(outcome) is Frame:
        outcome.hook = NOTHING  # in the place of the hook that would push nothing at all
        return outcome
    return None
