"""Formatting: fields ask the objects that they show for attributes, items and texts."""
from __future__ import annotations

from typing import Any

from interpreter.lookasides.builtins_conversions import holds_shown
from interpreter.lookasides.hooks import atom, mro_of, not_plain, values_hooked
from interpreter.lookasides.lent import lend
from interpreter.lookasides.registry import lookaside
from interpreter.vm.lookups import Host


class Field(Host):
    """What ``str.format`` and ``%`` get in the place of an object: whatever they ask of it is asked in the machine."""

    __slots__ = ("_machine", "_value")

    def __init__(self, machine, value):
        object.__setattr__(self, "_machine", machine)
        object.__setattr__(self, "_value", value)

    def __getattribute__(self, name):
        return shown(machine_of(self), machine_of(self).reentered(attribute)(value_of(self), name))

    def __getitem__(self, key):
        return shown(machine_of(self), machine_of(self).reentered(item)(value_of(self), key))

    def __format__(self, spec):
        return machine_of(self).reentered(formatted)(value_of(self), spec)

    def __str__(self):
        return machine_of(self).reentered(text)(value_of(self))

    def __repr__(self):
        return machine_of(self).reentered(representation)(value_of(self))


machine_of = Field._machine.__get__
value_of = Field._value.__get__


def attribute(value, name):
    return getattr(value, name)


def item(value, key):
    return value[key]


def formatted(value, spec):
    return format(value, spec)


def text(value):
    return str(value)


def representation(value):
    return repr(value)


def shown(machine: Any, value: Any) -> Any:
    """The value itself where showing it runs no Python code."""
    return value if atom(value) else Field(machine, value)


class Names(dict):
    """The mapping that ``format_map`` looks fields up in."""

    __slots__ = ("machine", "mapping", "show")

    def __missing__(self, key):
        return self.show(self.machine, self.machine.reentered(item)(self.mapping, key))


PERCENT = ("__str__", "__repr__", "__int__", "__index__", "__float__")


def filled(machine, value):
    """What ``%`` gets in the place of a value."""
    return Field(machine, value) if holds_shown(value) else lend(machine, value, PERCENT)


@lookaside(str.__mod__, native=True, needed=values_hooked(*PERCENT, "__getitem__"))
def percent_(machine, template, value, /):
    """The original, asking in the machine what it shows."""
    if tuple in mro_of(type(value)):
        parts = [filled(machine, each) for each in tuple.__iter__(value)]
        return machine.original(str.__mod__, [template, tuple(parts)])
    if "%(" in template and hasattr(type(value), "__getitem__"):
        names = Names()
        names.machine, names.mapping, names.show = machine, value, filled
        return machine.original(str.__mod__, [template, names])
    return machine.original(str.__mod__, [template, filled(machine, value)])


@lookaside(str.format, native=True, needed=not_plain)
def format_(machine, template, /, *args, **kwargs):
    """The original, shown fields that ask in the machine."""
    shown_args = [template, *(shown(machine, each) for each in args)]
    return machine.original(str.format, shown_args, {name: shown(machine, value) for name, value in kwargs.items()})


@lookaside(str.format_map, native=True, needed=not_plain)
def format_map_(machine, template, mapping, /):
    """The original, shown fields that ask in the machine."""
    names = Names()
    names.machine, names.mapping, names.show = machine, mapping, shown
    return machine.original(str.format_map, [template, names])
