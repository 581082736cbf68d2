"""Operands for ``sum``, whose additions are made by the machine where they are written in Python."""
from __future__ import annotations

from interpreter.lookasides.hooks import has_hook
from interpreter.vm.lookups import Host


class Summand(Host):
    """``value``, and ``add(left, right)``: the addition, made in the machine."""

    __slots__ = ("add", "value")

    def __init__(self, add, value):
        self.add, self.value = add, value

    def __add__(self, other):
        return Summand(self.add, self.add(self.value, other.value if type(other) is Summand else other))

    def __radd__(self, other):
        return Summand(self.add, self.add(other, self.value))


def added(left, right):
    return left + right


def summand(add, value):
    """The value itself where adding it runs no Python code."""
    return Summand(add, value) if has_hook(value, "__add__", "__radd__") else value
