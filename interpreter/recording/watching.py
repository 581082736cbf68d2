"""Native code that runs Python code of the user's behind the machine's back.

A set hashes its elements, a list compares them, `"%s" % x` asks for a text: where such a special method is written in
Python and no lookaside leads it through the machine, it runs natively, and what it reads is not guarded. So where a
value with such methods goes into native code, that code is watched: a Python function that starts there ends the
recording, by name.

Watching is CPython's profile hook. It is on only for these few native steps, and off again while one of them re-enters
the machine.
"""

from __future__ import annotations

import enum
import functools
import itertools
import sys
from types import FunctionType, MethodType

import torch

from interpreter.lookasides.hooks import ATOM_IDS, WRAPPER_IDS, holder
from interpreter.vm.calls import DESCRIPTORS
from interpreter.vm.hiding import hidden
from interpreter.vm.lookups import mro_of, namespace_of, verdicts
from interpreter.vm.machine import Machine

# Special methods that the machine calls itself, or that native code does not ask of what it is given.
MACHINES_OWN = frozenset(f"__{name}__" for name in (
    "init", "new", "init_subclass", "call", "getattr", "getattribute", "setattr", "delattr", "enter", "exit", "del",
    "get", "set", "delete", "set_name", "class_getitem", "reduce", "reduce_ex", "getstate", "setstate", "deepcopy",
    "copy"))
CALLED = (FunctionType, MethodType, functools.partial)  # native code that is given one may call it
STEPPED = (itertools.groupby, type(next(itertools.groupby([0]))[1]), itertools.count)  # steps that compare or add
KNOWN = "net"  # the key under which the answer of `asks_python` is remembered with a type
LIBRARY = (torch.__path__[0], enum.__file__, __file__.rpartition("recording")[0])
CONCATENATED = (list, tuple, str, bytes)

# Native functions that ask nothing of the elements of what they are given, or whose lookaside has asked by then.
HOOKLESS = frozenset((
    len, isinstance, issubclass, id, type, iter, next, zip, enumerate, reversed, map, filter, callable, getattr,
    hasattr, setattr, delattr, property, staticmethod, classmethod, object, super))


def asks_python(kind) -> bool:
    """Has the type a special method written in Python, other than torch's own?"""
    known = verdicts(kind)
    answer = known.get(KNOWN)
    if answer is None:
        members = [item for base in mro_of(kind) or () for item in namespace_of(base).items()]
        answer = known[KNOWN] = any(written_by_user(name, member) for name, member in members)
    return answer


def written_by_user(name, member) -> bool:
    if type(member) is not FunctionType or name in MACHINES_OWN or not (name.startswith("__") and name.endswith("__")):
        return False
    return not member.__code__.co_filename.startswith(LIBRARY)


def hooked(value, depth=3) -> bool:
    """May native code that handles this value come to Python code of the user's?"""
    kind = type(value)
    if id(kind) in ATOM_IDS:
        return False
    if id(kind) in WRAPPER_IDS or kind in CALLED:
        return True
    base = holder(kind)
    if base is None:
        return asks_python(kind) or kind is slice and any(map(hooked, (value.start, value.stop, value.step)))
    if kind is not base and asks_python(kind):
        return True
    items = [*base.__iter__(value)]
    if issubclass(base, dict):
        items += dict.values(value)
    kinds = {id(each): each for each in map(type, items)}
    if ATOM_IDS.issuperset(kinds):
        return False
    if any(holder(each) is None and asks_python(each) for each in kinds.values()):
        return True
    return depth > 0 and any(holder(type(each)) and hooked(each, depth - 1) for each in items)


def harmless(frame) -> bool:
    """Python code that may run at any time (finalizers), or that the recording knows: torch's and our own."""
    module = frame.f_globals.get("__name__") or ""
    return module.partition(".")[0] in ("torch", "interpreter", "enum") or frame.f_code.co_name == "__del__"


class Watch:
    """Watches one native step; where Python code started in it, the trace ends."""

    __slots__ = ("found", "machine", "what")

    def __init__(self, machine, what: str):
        self.machine, self.what, self.found = machine, what, None

    def __enter__(self):
        if sys.getprofile() is not None:
            self.found = "Python code, while a profiler keeps the interpreter from telling which"
            return
        self.machine.watch = self
        sys.setprofile(self.event)

    def __exit__(self, *raised):
        if self.machine.watch is self:
            sys.setprofile(None)
            self.machine.watch = None
        if self.found is not None:
            self.machine.ledger.sharp(self.what, self.machine.where())
            self.machine.trace.end(f"{self.what} runs {self.found} in native code")

    def event(self, frame, event, arg):
        if event == "call" and self.found is None:
            code = frame.f_code
            if not harmless(frame):
                self.found = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"


def watched(handler):
    """A handler that hashes what is on the stack (building sets and dicts), watched where that may run Python code."""

    def watching(frame, operand):
        machine = frame.machine
        if machine.trace.ended is None and machine.watch is None and any(map(hooked, frame.stack[-8:])):
            with Watch(machine, handler.__name__):
                return handler(frame, operand)
        return handler(frame, operand)

    return watching


HASHING = ("BUILD_SET", "BUILD_MAP", "SET_ADD", "MAP_ADD", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE")


class WatchedSteps(Machine):
    """Operators and their like, outside of all else that the recording does for them."""

    watch: Watch | None = None

    @hidden
    def nested(self, root, start):
        watch = self.watch
        if watch is None:
            return super().nested(root, start)
        sys.setprofile(None)
        self.watch = None
        try:
            return super().nested(root, start)
        finally:
            self.watch = watch
            sys.setprofile(watch.event)

    def to_watch(self, *values) -> bool:
        return self.trace.ended is None and self.watch is None and any(map(hooked, values))

    def binary(self, symbol, a, b):
        kind = type(a)
        atoms = id(kind) in ATOM_IDS and id(type(b)) in ATOM_IDS
        if atoms or kind is type(b) and kind in CONCATENATED and symbol != "%":
            return super().binary(symbol, a, b)
        if self.to_watch(a, b):
            with Watch(self, symbol):
                return super().binary(symbol, a, b)
        return super().binary(symbol, a, b)

    def compare(self, symbol, a, b):
        if self.to_watch(a, b):
            with Watch(self, symbol):
                return super().compare(symbol, a, b)
        return super().compare(symbol, a, b)

    def contains(self, item, container):
        if self.to_watch(item) or (not isinstance(container, (dict, set, frozenset)) and self.to_watch(container)):
            with Watch(self, "in"):
                return super().contains(item, container)
        return super().contains(item, container)

    def get_item(self, obj, key):
        if self.to_watch(key) or holder(type(obj)) is not type(obj) and self.to_watch_type(obj):
            with Watch(self, "[]"):
                return super().get_item(obj, key)
        return super().get_item(obj, key)

    def to_watch_type(self, obj) -> bool:
        """A container of a derived class, such as one with `__missing__` or a default factory."""
        return self.trace.ended is None and self.watch is None and issubclass(type(obj), dict) and (
            asks_python(type(obj)) or type(getattr(obj, "default_factory", None)) is FunctionType)

    def set_item(self, obj, key, value):
        if self.to_watch(key):
            with Watch(self, "[] ="):
                return super().set_item(obj, key, value)
        return super().set_item(obj, key, value)

    def delete_item(self, obj, key):
        if self.to_watch(key):
            with Watch(self, "del []"):
                return super().delete_item(obj, key)
        return super().delete_item(obj, key)

    def format_value(self, value, *rest):
        if self.to_watch(value):
            with Watch(self, "a formatted string"):
                return super().format_value(value, *rest)
        return super().format_value(value, *rest)

    def advance(self, iterator):
        if type(iterator) in STEPPED and self.to_watch(iterator):
            with Watch(self, type(iterator).__name__):
                return super().advance(iterator)
        return super().advance(iterator)

    def write_whole(self, entry, function, *arguments):
        if self.to_watch(*arguments):
            with Watch(self, getattr(function, "__name__", "a write")):
                return super().write_whole(entry, function, *arguments)
        return super().write_whole(entry, function, *arguments)


class WatchedCalls(Machine):
    """Native calls, inside of all else: just the call itself is watched."""

    def call_native(self, function, args, kwargs=None):
        if self.trace.ended is None and self.watch is None and self.hands_over(function, args, kwargs):
            with Watch(self, getattr(function, "__name__", type(function).__name__)):
                return super().call_native(function, args, kwargs)
        return super().call_native(function, args, kwargs)

    def hands_over(self, function, args, kwargs) -> bool:
        """Is it given something with special methods in Python? The elements of its own object do not count."""
        try:
            if function in HOOKLESS:
                return False
        except TypeError:
            return True
        if type(function) in DESCRIPTORS and args and holder(type(args[0])) is type(args[0]):
            args = args[1:]
        return any(map(hooked, args)) or bool(kwargs) and any(map(hooked, kwargs.values()))
