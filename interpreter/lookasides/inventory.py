"""Every public callable written in C that a traced function is likely to meet, and what the interpreter makes of it.

Found by walking modules and types, not from a list of names. ``rows()`` gives a dict each; ``python -m
interpreter.lookasides.inventory`` prints them, or with ``--opaque`` only those that can be a sharp edge.

Statuses:

    lookaside   a stand-in is registered, the machine answers itself, or a recording performs the write again
    pure        called as it is: what it reads of outside objects is guarded by value
    opaque      a sharp edge when it is given an outside object: such calls are run unrecorded every time
"""
from __future__ import annotations

import abc
import builtins
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

from interpreter.lookasides import REGISTRY
from interpreter.lookasides.purity import effect, iterator_types, methods
from interpreter.lookasides.registry import qualified_name
from interpreter.vm.lookups import HEAP_TYPE
from interpreter.vm.natives import NATIVES

MODULES = (builtins, itertools, functools, operator, collections, math, types, contextlib, copy, enum, dataclasses)
TYPES = (
    list, dict, tuple, set, frozenset, str, bytes, range, slice, collections.deque, collections.defaultdict,
    collections.Counter, collections.OrderedDict, types.MappingProxyType,
    type({}.keys()), type({}.values()), type({}.items()),
    *(type(getattr(collections.OrderedDict(), name)()) for name in ("keys", "values", "items")),
    *iterator_types(),
)


def in_c(thing: Any) -> bool:
    """Is this callable written in C? A class is where no member of it or of its bases is written in Python."""
    if not isinstance(thing, type):
        return callable(thing) and not isinstance(getattr(thing, "__func__", thing), types.FunctionType) \
            and type(thing).__module__ in ("builtins", "functools")
    if not thing.__flags__ & HEAP_TYPE:
        return True
    python = (types.FunctionType, classmethod, staticmethod, property)
    members = [member for base in thing.__mro__[:-1] for member in vars(base).items()]
    return not any(name == "__weakref__" or isinstance(member, python) for name, member in members)


def walk() -> Iterator[tuple[str, Any]]:
    """(where it was found, callable), each callable once."""
    seen: dict[int, Any] = {}
    for module in MODULES:
        for name, member in vars(module).items():
            if not name.startswith("_") and callable(member) and in_c(member) and id(member) not in seen:
                seen[id(member)] = member
                yield module.__name__, member
    for kind in TYPES:
        for name, method in methods(kind):
            if type(method) is not staticmethod and id(method) not in seen and not name.startswith("__class_"):
                seen[id(method)] = method
                yield kind.__name__, method


# What a recording answers itself, or does again in its place.
ANSWERED = {
    print: "an operation of the program: printed again in its place",
    id: "of an outside object guarded by identity",
    type: "of one argument: guarded; of three: the class is made inside the call",
    object.__reduce_ex__: "takes the object apart as pickling does, its hooks interpreted",
    object.__init__: "does nothing",
    functools.partial.__call__: "taken apart by the machine",
    operator.methodcaller.__call__: "taken apart by its lookaside",
    weakref.ref.__call__: "guarded by what it gives",
    type(threading.RLock()): "makes a lock",
    abc.get_cache_token: "gives nothing that a program depends on",
    builtins.__import__: "gives a module that is there already",
}


def status_of(target: Any) -> tuple[str, str]:
    """(status, reason) of a callable written in C."""
    if target in ANSWERED:
        return "lookaside", ANSWERED[target]
    entry = REGISTRY.find(target)
    if entry is not None:
        return "lookaside", (entry.function.__doc__ or "").split("\n")[0]
    if target in NATIVES:
        return "lookaside", "the machine answers itself"
    known = effect(target)
    if known.kind == "writes":
        return "lookaside", f"{known.why}: made at once, and again by the epilogue"
    if known.kind in ("pure", "reads"):
        return "pure", known.why
    return "opaque", known.why


def rows() -> list[dict[str, str]]:
    """A dict for each callable: ``callable``, ``found`` (module or type), ``status``, ``reason``."""
    found = []
    for where, target in walk():
        status, reason = status_of(target)
        found.append({"callable": qualified_name(target), "found": where, "status": status, "reason": reason})
    return found


def main(arguments: list[str]) -> int:
    """Prints the inventory; 2 on wrong usage."""
    if set(arguments) - {"--opaque"}:
        sys.stderr.write("usage: python -m interpreter.lookasides.inventory [--opaque]\n")
        return 2
    shown = [row for row in rows() if not arguments or row["status"] == "opaque"]
    for row in shown:
        sys.stdout.write(f"{row['callable']:45} {row['status']:10} {row['reason']}\n")
    counts = collections.Counter(row["status"] for row in shown)
    total = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    sys.stdout.write(f"{len(shown)} callables: {total}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
