"""Native handlers for callables that ask special methods of their arguments: as many as the tables of a module name.

The original is called with objects lent in the place of the user's (see ``lent``): it asks those for the special
method, which runs in the machine, and checks the answer in its own words.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interpreter.lookasides.hooks import ATOM_IDS, has_hook
from interpreter.lookasides.lent import lend
from interpreter.lookasides.registry import REGISTRY, Lookaside

Column = tuple[str, ...]


def asks(target: Callable, *columns: Column, take: Callable = lend) -> None:
    """Registers a handler for ``target``. Its n-th argument may be asked for the special methods in the n-th column;
    further arguments, and those given by name, for those in the last. ``take(machine, value, names)`` lends.
    """
    last = columns[-1]

    def handler(machine: Any, /, *args: Any, **kwargs: Any) -> Any:
        lent = [take(machine, value, columns[i] if i < len(columns) else last) for i, value in enumerate(args)]
        if kwargs:
            kwargs = {name: take(machine, value, last) for name, value in kwargs.items()}
        return machine.original(target, lent, kwargs)

    def needed(args: Any, kwargs: Any) -> bool:
        for i, value in enumerate(args):
            if id(type(value)) not in ATOM_IDS and hooked(value, columns[i] if i < len(columns) else last):
                return True
        return bool(kwargs) and any(hooked(value, last) for value in kwargs.values())

    asked = ", ".join(sorted({name for column in columns for name in column}))
    handler.__name__ = handler.__qualname__ = target.__name__ + "_"
    handler.__doc__ = f"The original, which asks {asked} of objects lent to it."
    REGISTRY.add(Lookaside(target, handler, native=True, needed=needed))


def hooked(value: Any, names: Column) -> bool:
    """May the original, asking for these, come to Python code?"""
    if type(value) is slice and names:
        return any(has_hook(part, *names) for part in (value.start, value.stop, value.step))
    return has_hook(value, *names)
