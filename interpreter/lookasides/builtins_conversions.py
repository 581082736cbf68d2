"""Builtins that turn an object into a number or a text by asking it for a special method."""
from __future__ import annotations

import threading

from interpreter.lookasides.asking import asks
from interpreter.lookasides.hooks import has_hook, quiet
from interpreter.lookasides.lent import INDEX, NUMBER, lend, lend_number
from interpreter.lookasides.registry import lookaside

TEXT = ("__str__", "__repr__")
FORMAT = ("__format__", *TEXT)

for target in (bin, oct, hex, chr, range, slice.indices):
    asks(target, INDEX, take=lend_number)
asks(abs, ("__abs__",))
asks(bool, ("__bool__", "__len__"))
asks(complex, ("__complex__", *NUMBER))
asks(float, NUMBER)
asks(format, FORMAT)
asks(hash, ("__hash__",))
asks(int, ("__int__", "__trunc__", *INDEX), INDEX)
asks(len, ("__len__",))
asks(object.__format__, FORMAT)
asks(object.__str__, ("__repr__",))
asks(reversed, ("__reversed__", "__getitem__", "__len__"))
asks(round, ("__round__",), INDEX)


class Showing(threading.local):
    """Per thread: the containers that are being shown, which a container that holds itself comes back to."""

    def __init__(self):
        self.ids = set()


showing = Showing()
OPENING = {list: "[...]", tuple: "(...)", dict: "{...}", set: "set(...)", frozenset: "frozenset(...)"}


def holds_shown(value):
    """A builtin container of something that shows itself in Python."""
    return type(value) in OPENING and not quiet(value, TEXT)


def shown(machine, container):
    """The text of a builtin container, each item shown in the machine."""
    kind, key = type(container), id(container)
    if key in showing.ids:
        return OPENING[kind]
    showing.ids.add(key)
    try:
        if kind is dict:
            pairs = [(machine.invoke(repr, name), machine.invoke(repr, value)) for name, value in container.items()]
            return "{" + ", ".join([f"{name}: {value}" for name, value in pairs]) + "}"
        items = [machine.invoke(repr, item) for item in container]
    finally:
        showing.ids.discard(key)
    text = ", ".join(items)
    if kind is list:
        return f"[{text}]"
    if kind is tuple:
        return f"({text},)" if len(items) == 1 else f"({text})"
    return f"{{{text}}}" if kind is set else f"frozenset({{{text}}})"


def shows(names):
    """``needed`` of repr, ascii and str of one object."""

    def needed(args, kwargs):
        return has_hook(args[0], *names) or (len(args) == 1 and holds_shown(args[0]))

    return needed


@lookaside(repr, native=True, needed=shows(("__repr__",)))
def repr_(machine, obj, /):
    """What the object's ``__repr__`` says; a builtin container's items are shown in the machine."""
    return shown(machine, obj) if holds_shown(obj) else machine.original(repr, [lend(machine, obj, ("__repr__",))])


@lookaside(ascii, native=True, needed=shows(("__repr__",)))
def ascii_(machine, obj, /):
    """The same with other characters escaped."""
    text = machine.invoke(repr, obj)
    return text.encode("ascii", "backslashreplace").decode("ascii")


@lookaside(str, native=True, needed=shows(TEXT))
def str_(machine, object="", *decoding, **named):  # noqa: A002 - the original's name
    """What the object's ``__str__`` says; a builtin container's items are shown in the machine."""
    if holds_shown(object) and not decoding and not named:
        return shown(machine, object)
    return machine.original(str, [lend(machine, object, TEXT), *decoding], named)
