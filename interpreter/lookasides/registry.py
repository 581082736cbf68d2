"""Which callable has which lookaside.

A lookaside is a function that the machine runs in place of a callable written in C, so that the Python code which the
C would call (an iterator's ``__next__``, a key function, an element's ``__lt__``) is interpreted too. Two kinds exist:

* an ordinary function, interpreted in place of its target with the same arguments. A call that it makes to its own
  target goes to the original, so the shortest lookaside prepares its arguments and lets the original do the work;
* a *native handler* (``native=True``), called by the machine as ``handler(machine, *args, **kwargs)``; it returns the
  value, or a frame that the machine enters, whose return value is the result.

``needed`` is a cheap question asked before either: ``needed(args, kwargs)`` is False when no argument can lead back
into Python code, and the original may be called as it is.
"""
from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

from interpreter.vm import ledger

Predicate = Callable[[Sequence, dict | None], bool]
BOUND_KINDS = (types.BuiltinFunctionType, types.MethodWrapperType)


def qualified_name(target: Any) -> str:
    """``builtins.zip``, ``itertools.chain.from_iterable``: the name in the ledger; a bound method's descriptor's."""
    return ledger.qualified_name(unbound(target))


def unbound(target: Any) -> Any:
    """The descriptor behind a bound method of a C type (``[].append`` -> ``list.append``); anything else as it is."""
    if isinstance(target, BOUND_KINDS):
        owner = getattr(target, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType | type):
            return getattr(type(owner), target.__name__, target)
    return target


class Lookaside:
    """A stand-in: ``function`` runs in place of ``target`` unless ``needed(args, kwargs)`` says that it need not.

    ``needed`` is False too for arguments that ``function`` can't be called with: the original then complains in its own
    words, which is all that it would have done.
    """

    __slots__ = ("_keywords", "_least", "_most", "_owner", "_places", "_predicate", "_required", "_takes_all",
                 "function", "name", "native", "target")
    counted = True  # in the ledger

    def __init__(self, target: Any, function: Any, native: bool = False, needed: Predicate | None = None):
        self.target, self.function, self.native, self._predicate = target, function, native, needed
        self.name = qualified_name(target)
        self._owner = getattr(target, "__objclass__", object)
        code = function.__code__
        own = 1 if native else 0  # the machine comes first
        defaults = len(function.__defaults__ or ())
        positional = code.co_varnames[:code.co_argcount]
        self._least = code.co_argcount - defaults - own
        self._most = None if code.co_flags & inspect.CO_VARARGS else code.co_argcount - own
        named = positional[code.co_posonlyargcount:] + code.co_varnames[code.co_argcount:][:code.co_kwonlyargcount]
        self._keywords = None if code.co_flags & inspect.CO_VARKEYWORDS else frozenset(named)
        self._takes_all = self._owner is object and self._most is self._keywords is None and self._least <= 0
        self._places = ("",) * (code.co_posonlyargcount - own) + positional[max(code.co_posonlyargcount, own):]
        self._required = positional[max(code.co_posonlyargcount, own):][:self._least]

    def accepts(self, args: Sequence, kwargs: dict | None) -> bool:
        """Can ``function`` be called so? A method's first argument must be an instance of its class."""
        if self._takes_all:
            return True
        count = len(args)
        if self._owner is not object and not (count and issubclass(type(args[0]), self._owner)):
            return False
        if self._most is not None and count > self._most:
            return False
        if not kwargs:
            return count >= self._least
        if self._keywords is not None and not self._keywords.issuperset(kwargs):
            return False
        if any(name in kwargs for name in self._places[:count]):  # given twice
            return False
        given = sum(name in kwargs for name in self._required)
        return count + given >= self._least

    def needed(self, args: Sequence, kwargs: dict | None) -> bool:
        """Should the stand-in run, or may the original be called as it is?"""
        predicate = self._predicate
        if predicate is not None:
            try:
                if not predicate(args, kwargs):
                    return False
            except (AttributeError, IndexError, TypeError, ValueError):  # asked of arguments that do not fit
                return False
        return self.accepts(args, kwargs)

    def __repr__(self) -> str:
        return f"<lookaside {self.function.__name__} for {self.name}>"


class Registry(dict):
    """``{callable: Lookaside}``, as a Machine takes it. Descriptors such as ``list.append`` count as callables."""

    def add(self, entry: Lookaside) -> None:
        """Raises ValueError when the target has a lookaside already, TypeError when it can't be called."""
        if not callable(entry.target):
            raise TypeError(f"a lookaside stands in for a callable, such as zip or list.append; got {entry.target!r}")
        present = self.get(entry.target)
        if present is not None:
            code = present.function.__code__
            raise ValueError(f"{entry.name} has a lookaside already: {present.function.__name__} at "
                             f"{code.co_filename}:{code.co_firstlineno}; del lookasides()[{entry.name!r}] first")
        self[entry.target] = entry

    def find(self, target: Any) -> Lookaside | None:
        """The lookaside of a callable, of a bound method's descriptor, or None."""
        try:
            return self.get(unbound(target))
        except TypeError:  # a callable that can't be hashed has none
            return None


class ByName(MutableMapping):
    """A live view of a registry by qualified name; ``builtins`` may be left out. Deleting a name unregisters."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def _entry(self, name: str) -> Lookaside:
        for entry in self._registry.values():
            if entry.name in (name, f"builtins.{name}"):
                return entry
        raise KeyError(name)

    def __getitem__(self, name: str) -> Callable:
        return self._entry(name).function

    def __setitem__(self, name: str, function: Callable) -> None:
        """Puts another function in the place of a registered one; a new target needs ``@lookaside(target)``."""
        entry = self._entry(name)
        self._registry[entry.target] = Lookaside(entry.target, function)

    def __delitem__(self, name: str) -> None:
        del self._registry[self._entry(name).target]

    def __iter__(self) -> Iterator[str]:
        return iter([entry.name for entry in self._registry.values()])

    def __len__(self) -> int:
        return len(self._registry)

    def __repr__(self) -> str:
        return f"<{len(self)} lookasides: {', '.join(sorted(self))}>"


REGISTRY = Registry()


def lookaside(*targets: Callable, native: bool = False, needed: Predicate | None = None) -> Callable:
    """Registers the decorated function as the stand-in of each target. It stays an ordinary function.

    Raises ValueError when a target has a lookaside already, TypeError when one can't be called.
    """
    if not targets:
        raise TypeError("lookaside() takes the callable to stand in for: @lookaside(zip)")

    def register(function: Callable) -> Callable:
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"a lookaside is a Python function; got {function!r} for {qualified_name(targets[0])}")
        for target in targets:
            REGISTRY.add(Lookaside(target, function, native, needed))
        return function

    return register


def lookasides() -> MutableMapping[str, Callable]:
    """``{qualified name: function}``, live: after ``del lookasides()["zip"]`` a call of ``zip`` is opaque."""
    return ByName(REGISTRY)


def find(target: Any) -> Lookaside | None:
    """The lookaside that stands in for a callable, or None."""
    return REGISTRY.find(target)
