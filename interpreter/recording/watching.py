"""Native code that runs Python code of the user's behind the machine's back.

A set hashes its elements, a list compares them, `"%s" % x` asks for a text: where such a special method is written in
Python and no lookaside leads it through the machine, it would run natively, and what it reads would not be guarded. So
where a value with such methods goes into native code, these are led into the machine for that step (`diversion.py`),
and the step is watched: any other Python function that starts there ends the recording, by name.

Watching is CPython's profile hook. It is on only for these few native steps, and off again while one of them re-enters
the machine.
"""

from __future__ import annotations

import collections
import enum
import functools
import gc
import sys
import types
from types import FunctionType, MethodType

import torch

from interpreter.lookasides.hooks import ATOM_IDS, WRAPPER_IDS, holder, native
from interpreter.lookasides.lent import TAKEN
from interpreter.lookasides.purity import effect_of
from interpreter.recording.diversion import Bodies, Diversion, carried, closed, items_of
from interpreter.recording.numbers import pin
from interpreter.vm.calls import DESCRIPTORS
from interpreter.vm.hiding import hidden
from interpreter.vm.lookups import mro_of, namespace_of, verdicts
from interpreter.vm.machine import Machine
from interpreter.vm.pyframes import ours
from interpreter.vm.reentry import Reentry

# Special methods that the machine calls itself, or that native code does not ask of what it is given.
MACHINES_OWN = frozenset(f"__{name}__" for name in (
    "init", "new", "init_subclass", "call", "getattr", "getattribute", "setattr", "delattr", "enter", "exit", "del",
    "get", "set", "delete", "set_name", "class_getitem", "reduce", "reduce_ex", "getstate", "setstate", "deepcopy",
    "copy"))
CALLED = (FunctionType, MethodType, functools.partial)  # native code that is given one may call it
ORDERED: collections.OrderedDict = collections.OrderedDict()
# Steps that may compare or add (groupby, count), or look a key up, and iterators that may hold such ones.
ASKING = WRAPPER_IDS - {id(types.GeneratorType)} | frozenset(map(id, (
    collections.OrderedDict, *map(type, (ORDERED.keys(), ORDERED.values(), ORDERED.items(), iter(ORDERED))))))
KNOWN = "net"  # the key under which the answer of `asks_python` is remembered with a type
LIBRARY = (torch.__path__[0], enum.__file__, __file__.rpartition("recording")[0])
UNASKED = ("torch", "interpreter", "enum", "copyreg", "weakref", "_weakrefset")
KEYED = (dict, set, frozenset)
VIEWS = (type({}.keys()), type({}.items()))
SMALL = 64
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
        return asks_python(kind) or depth > 0 and any(hooked(each, depth - 1) for each in carried(value))
    if kind is not base and asks_python(kind):
        return True
    items = items_of(value, base)
    kinds = {id(each): each for each in map(type, items)}
    if ATOM_IDS.issuperset(kinds):
        return False
    if any(holder(each) is None and asks_python(each) for each in kinds.values()):
        return True
    deeper = {key for key, each in kinds.items() if key not in ATOM_IDS and (holder(each) or not closed(each))}
    return depth > 0 and bool(deeper) and any(hooked(each, depth - 1) for each in items if id(type(each)) in deeper)


def is_pure_function(function) -> bool:
    """A native function or class whose result depends on the values of atoms alone."""
    return native(function) and effect_of(function) == "pure"


def harmless(frame) -> bool:
    """Python code that may run at any time (finalizers), or that the recording knows: torch's and our own."""
    module = frame.f_globals.get("__name__") or ""
    if ours(frame.f_code) or frame.f_code.co_filename.startswith(LIBRARY[-1]):
        return True  # also under the name of a user's function, or in the user's namespace
    return module.partition(".")[0] in UNASKED or frame.f_code.co_name == "__del__"


class Watch:
    """Watches one native step that is given `values`; where Python code started in it unseen, the trace ends."""

    __slots__ = ("collects", "diversion", "found", "machine", "what")

    def __init__(self, machine, what: str, values=()):
        self.machine, self.what, self.found, self.collects = machine, what, None, False
        self.diversion = Diversion(machine.bodies)
        self.diversion.add(values)
        machine.hooks_about = True

    def __enter__(self):
        if sys.getprofile() is not None:
            self.found = "Python code, while a profiler keeps the interpreter from telling which"
            return
        self.begin()

    def begin(self):
        self.machine.watch = self
        self.diversion.begin()
        self.collects = gc.isenabled()
        gc.disable()  # whose callbacks are Python code that the step does not run
        sys.setprofile(self.event)

    def stop(self):
        sys.setprofile(None)
        if self.collects:
            gc.enable()
        self.diversion.stop()
        self.machine.watch = None

    def go_on(self, given):
        """After the machine has been entered: native code may ask what it was given there, too."""
        if hooked(given):
            self.diversion.add((given,))
        self.begin()

    def __exit__(self, *raised):
        if self.machine.watch is self:
            self.stop()
        if self.found is not None:
            self.machine.ledger.sharp(self.what, self.machine.where())
            self.machine.trace.end(f"{self.what} runs {self.found} in native code")

    def event(self, frame, event, arg):
        if event == "call" and self.found is None:
            code = frame.f_code
            if not harmless(frame):
                self.found = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"


def at_stake(name: str, stack: list, operand: int) -> list:
    """What an instruction that builds or fills a set or dict hashes, and what it is compared with."""
    if name in ("BUILD_SET", "BUILD_MAP"):
        count = operand if name == "BUILD_SET" else 2 * operand
        return stack[-count:] if count else []
    taken = 2 if name == "MAP_ADD" else 1
    return [*stack[-taken:], stack[-taken - operand]]


def watched(handler):
    """A handler that hashes what is on the stack (building sets and dicts), watched where that may run Python code."""
    name = handler.__name__

    def watching(frame, operand):
        machine = frame.machine
        if machine.trace.ended is None and machine.watch is None:
            values = at_stake(name, frame.stack, operand)
            if any(map(hooked, values)):
                with Watch(machine, name, values):
                    return handler(frame, operand)
        return handler(frame, operand)

    return watching


HASHING = ("BUILD_SET", "BUILD_MAP", "SET_ADD", "MAP_ADD", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE")


class WatchedSteps(Machine):
    """Operators and their like, outside of all else that the recording does for them."""

    watch: Watch | None = None

    def __init__(self, *args):
        super().__init__(*args)
        self.bodies = Bodies(self, written_by_user)
        self.calm_keys: dict[int, tuple] = {}
        self.hooks_about = False  # has a native step been watched yet? Iterators may go on with what that was given

    @hidden
    def nested(self, root, start):
        watch = self.watch
        if watch is None:
            return super().nested(root, start)
        watch.stop()
        result = None
        try:
            result = super().nested(root, start)
        finally:
            watch.go_on(result)
        return result

    def enter_at_rest(self, function, args, kwargs, noted):
        """A frame made in the middle of a watched step: of a function as it was written."""
        watch = self.watch
        watch.stop()
        try:
            return self.enter(function, args, kwargs, noted)
        finally:
            watch.begin()

    @hidden
    def run_hook(self, function, args, kwargs):
        """A special method that native code calls: what it answers as a number is settled there."""
        trace = self.trace
        writes = len(trace.writes)
        answer = self.run(function, args, kwargs or None)
        if len(trace.writes) > writes:
            trace.hooks_write = True
        return pin(answer) if function.__name__ in TAKEN else answer

    def to_watch(self, *values) -> bool:
        return self.trace.ended is None and self.watch is None and any(map(hooked, values))

    def to_watch_keyed(self, container, key) -> bool:
        """Does a container that hashes come to Python code where it is asked for this key, or given it?"""
        if self.trace.ended is not None or self.watch is not None:
            return False
        if hooked(key):
            self.calm_keys.clear()  # it may become one of a container's
            return True
        return isinstance(container, KEYED) and self.has_hooked_keys(container)

    def has_hooked_keys(self, container) -> bool:
        """Has one of a container's keys special methods in Python? Of large ones it is remembered that none has."""
        size = len(container)
        calm, _ = self.calm_keys.get(id(container), (-1, None))
        if size == calm:
            return False
        keys = dict.keys(container) if isinstance(container, dict) else container
        kinds = {id(each): each for each in map(type, keys)}
        if not ATOM_IDS.issuperset(kinds) and any(map(hooked, [*keys])):
            return True
        if size > SMALL:
            self.calm_keys[id(container)] = size, container
        return False

    def binary(self, symbol, a, b):
        kind = type(a)
        atoms = id(kind) in ATOM_IDS and id(type(b)) in ATOM_IDS
        if atoms or kind is type(b) and kind in CONCATENATED and symbol != "%":
            return super().binary(symbol, a, b)
        if self.to_watch(a, b):
            with Watch(self, symbol, (a, b)):
                return super().binary(symbol, a, b)
        return super().binary(symbol, a, b)

    def compare(self, symbol, a, b):
        if self.to_watch(a, b):
            with Watch(self, symbol, (a, b)):
                return super().compare(symbol, a, b)
        return super().compare(symbol, a, b)

    def contains(self, item, container):
        if self.to_watch_keyed(container, item) or not isinstance(container, KEYED) and self.to_watch(container):
            with Watch(self, "in", (item, container)):
                return super().contains(item, container)
        return super().contains(item, container)

    def get_item(self, obj, key):
        if self.to_watch_keyed(obj, key) or holder(type(obj)) is not type(obj) and self.to_watch_type(obj):
            with Watch(self, "[]", (obj, key)):
                return super().get_item(obj, key)
        return super().get_item(obj, key)

    def to_watch_type(self, obj) -> bool:
        """A container of a derived class, such as one with `__missing__` or a default factory."""
        return self.trace.ended is None and self.watch is None and issubclass(type(obj), dict) and (
            asks_python(type(obj)) or type(getattr(obj, "default_factory", None)) is FunctionType)

    def set_item(self, obj, key, value):
        if self.to_watch_keyed(obj, key):
            self.trace.hooks_again |= id(obj) in self.trace.outside
            with Watch(self, "[] =", (obj, key)):
                return super().set_item(obj, key, value)
        return super().set_item(obj, key, value)

    def delete_item(self, obj, key):
        if self.to_watch_keyed(obj, key):
            self.trace.hooks_again |= id(obj) in self.trace.outside
            with Watch(self, "del []", (obj, key)):
                return super().delete_item(obj, key)
        return super().delete_item(obj, key)

    def format_value(self, value, *rest):
        if self.to_watch(value):
            with Watch(self, "a formatted string", (value,)):
                return super().format_value(value, *rest)
        return super().format_value(value, *rest)

    def advance(self, iterator):
        if self.hooks_about and id(type(iterator)) in ASKING and self.to_watch(iterator):
            with Watch(self, type(iterator).__name__, (iterator,)):
                return super().advance(iterator)
        return super().advance(iterator)

    def reentered(self, function):
        """Native code is going to call this: whatever may read or write something else than its arguments, or is not to
        be called on outside ones unseen, is called in the machine."""
        if self.trace.ended is not None or is_pure_function(function) or not callable(function):
            return super().reentered(function)
        return Reentry(self, function)

    def unpack(self, iterable):
        if self.hooks_about and id(type(iterable)) in ASKING and self.to_watch(iterable):
            with Watch(self, "*", (iterable,)):
                return super().unpack(iterable)
        return super().unpack(iterable)

    def write_whole(self, entry, function, *arguments):
        if self.to_watch(entry.value, *arguments):
            self.trace.hooks_again = True
            with Watch(self, getattr(function, "__name__", "a write"), (entry.value, *arguments)):
                return super().write_whole(entry, function, *arguments)
        return super().write_whole(entry, function, *arguments)


class WatchedCalls(Machine):
    """Native calls, inside of all else: just the call itself is watched."""

    def call_native(self, function, args, kwargs=None):
        return self.call_watched(function, args, kwargs)

    def call_watched(self, function, args, kwargs=None):
        """The call itself, without all that a recording does for it."""
        if self.trace.ended is None and self.watch is None and self.hands_over(function, args, kwargs):
            given = (getattr(function, "__self__", None), *args, *(kwargs or {}).values())
            with Watch(self, getattr(function, "__name__", type(function).__name__), given):
                return super().call_native(function, args, kwargs)
        return super().call_native(function, args, kwargs)

    def hands_over(self, function, args, kwargs) -> bool:
        """Is it given something with special methods in Python? The elements of its own object do not count."""
        try:
            if function in HOOKLESS:
                return False
        except TypeError:
            return True
        owner = getattr(function, "__self__", None)
        if type(function) in DESCRIPTORS and args and holder(type(args[0])) is type(args[0]):
            owner, args = args[0], args[1:]
        if isinstance(owner, KEYED) and self.has_hooked_keys(owner) or type(owner) in VIEWS and hooked([*owner]):
            return True
        return any(map(hooked, args)) or bool(kwargs) and any(map(hooked, kwargs.values()))
