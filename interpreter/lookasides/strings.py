"""Formatting: fields ask the objects that they show for attributes, items and texts."""
from __future__ import annotations

from typing import Any

from interpreter.lookasides.hooks import atom, not_plain
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

    __slots__ = ("machine", "mapping")

    def __missing__(self, key):
        return shown(self.machine, self.machine.reentered(item)(self.mapping, key))


@lookaside(str.format, native=True, needed=not_plain)
def format_(machine, template, /, *args, **kwargs):
    """The original, shown fields that ask in the machine."""
    shown_args = [template, *(shown(machine, each) for each in args)]
    return machine.original(str.format, shown_args, {name: shown(machine, value) for name, value in kwargs.items()})


@lookaside(str.format_map, native=True, needed=not_plain)
def format_map_(machine, template, mapping, /):
    """The original, shown fields that ask in the machine."""
    names = Names()
    names.machine, names.mapping = machine, mapping
    return machine.original(str.format_map, [template, names])
