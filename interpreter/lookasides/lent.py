"""Objects lent to native code.

Native code that handles a user's object calls its special methods itself, where the machine can't see it. So it is lent
another object instead, which has just those special methods; each of them enters the machine again and runs the user's.
The native code then does all it ever does: its order of calls, its results and its messages are the original's.
"""
from __future__ import annotations

import functools
import operator
import types
from typing import Any

from interpreter.lookasides.hooks import ATOM_IDS, MISSING, find_special, in_python, members_of, ours
from interpreter.vm.lookups import Host, derives

INDEX = ("__index__",)
NUMBER = ("__float__", "__index__")


def bind(value: Any, name: str) -> Any:
    """The bound special method that the language would call: found on the type, past the object itself."""
    member = find_special(type(value), name)
    if type(member) is types.FunctionType:
        return types.MethodType(member, value)
    if find_special(type(member), "__get__") is MISSING:
        return member
    return member.__get__(value, type(value))


class Lent(Host):
    """What native code gets in the place of ``value``; made by ``lend``."""

    __slots__ = ("_machine", "_value", "__weakref__")

    def __init__(self, machine: Any, value: Any):
        object.__setattr__(self, "_machine", machine)
        object.__setattr__(self, "_value", value)


machine_of = Lent._machine.__get__  # type: ignore[attr-defined]
value_of = Lent._value.__get__  # type: ignore[attr-defined]


def owner(thing: Any) -> Any:
    """The user's object behind a lent one; anything else as it is."""
    return value_of(thing) if derives(type(thing), Lent) else thing


# Answers of which native code takes the value and drops the object.
TAKEN = frozenset(("__index__", "__int__", "__float__", "__len__", "__length_hint__", "__hash__"))


def settled(machine: Any, number: Any) -> Any:
    """A number that is the machine's own (a recording traces some) as a plain one, which the machine then knows of."""
    kind = type(number)
    if id(kind) in ATOM_IDS or not ours(kind):
        return number
    return machine.call_native(float.__float__ if issubclass(kind, float) else operator.index, [number])


@functools.cache
def forwarding(name: str) -> types.FunctionType:
    """A special method that runs the one of the lent object's owner in the machine."""

    def method(self, *args):
        machine = machine_of(self)
        answer = machine.reentered(bind(value_of(self), name))(*map(owner, args))
        return settled(machine, answer) if name in TAKEN else answer

    method.__name__ = name
    return method


@functools.lru_cache(maxsize=1024)
def lender(kind_name: str, names: tuple[str, ...], blocked: tuple[str, ...]) -> type:
    """The class of objects lent for a class of this name: messages of the original name it."""
    methods = {name: forwarding(name) for name in names}
    return type(kind_name, (Lent,), {"__slots__": ()} | methods | dict.fromkeys(blocked))


def lend(machine: Any, value: Any, names: tuple[str, ...]) -> Any:
    """``value`` itself where none of these special methods is written in Python, else an object to lend instead."""
    kind = type(value)
    if id(kind) in ATOM_IDS:
        return value
    machine.note_special(kind, *names)  # which of them it has, and which not, is what native code is going to find
    found = {name: find_special(kind, name) for name in names}
    if not any(in_python(kind, name) for name in found):
        return value
    present = [name for name, member in found.items() if member is not None and member is not MISSING
               and member is not members_of(object).get(name)]
    blocked = [name for name, member in found.items() if member is None]
    return lender(kind.__name__, tuple(present), tuple(blocked))(machine, value)


def lend_number(machine: Any, value: Any, names: tuple[str, ...] = INDEX) -> Any:
    """``lend`` for what C takes as a number: ints and floats, subclasses too, are taken as they are, without asking."""
    kind = type(value)
    if issubclass(kind, int) or (issubclass(kind, float) and "__float__" in names):
        return value
    if kind is slice:
        parts = [lend_number(machine, part) for part in (value.start, value.stop, value.step)]
        if any(a is not b for a, b in zip(parts, (value.start, value.stop, value.step), strict=True)):
            return slice(*parts)
        return value
    return lend(machine, value, names)
