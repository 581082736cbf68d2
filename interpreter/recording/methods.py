"""Methods of native types: of which it is known what exactly they read or write of an outside object."""

from __future__ import annotations

import contextvars
import operator
import re
import types

from interpreter.lookasides.lent import Lent
from interpreter.lookasides.machinery import done
from interpreter.lookasides.purity import effect
from interpreter.lookasides.registry import find, qualified_name
from interpreter.recording import guards, sources
from interpreter.recording.asked import COMPARING, EQUALITY
from interpreter.recording.containers import CONTAINERS, DICTS, HASHED
from interpreter.recording.hidden import hides
from interpreter.recording.numbers import plain
from interpreter.recording.outside import MISSING, is_constant
from interpreter.recording.special import (
    SPECIAL,
)
from interpreter.vm.calls import BUILTINS
from interpreter.vm.lookups import derives
from interpreter.vm.machine import Machine
from interpreter.vm.values import NULL

BOUND_NATIVE = (*BUILTINS, types.MethodWrapperType)
NATIVE_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
STEPPED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
ASKS_TYPE = {isinstance, type.__instancecheck__, callable}  # look at the type of a value, not at the value


class MethodCalls(Machine):
    """The part of the recording machine that calls methods written in C."""

    def call_method(self, descriptor, callable, owner, args, kwargs):
        """A method of a native type: `descriptor` tells which, `owner` is the object where the method came bound."""
        trace = self.trace
        obj = owner if owner is not None else args[0]
        rest = args if owner is not None else args[1:]
        special = self.specially(descriptor, obj, rest, kwargs)
        if special is not MISSING:
            return special
        handler = SPECIAL.get(descriptor)
        if handler is not None:
            return handler(self, descriptor, (obj, *rest), kwargs)
        known = effect(descriptor)
        entry = trace.find(obj)
        if known.kind == "writes":
            return self.call_writer(callable, known, descriptor, (obj, *rest), kwargs)
        steps = isinstance(obj, STEPPED) and entry is None
        if known.kind == "opaque" and not steps and not self.in_our_code() and not self.is_pure_here(descriptor):
            self.sharp(descriptor, "native code that isn't known to be pure")
            return self.unrecorded(callable, args, kwargs)
        if entry is not None:
            if type(obj) is re.Pattern:  # never changes
                trace.guard(guards.Identity(entry.source, obj))
            elif not isinstance(obj, (*CONTAINERS, type)):
                return self.read_native(entry, descriptor, callable, args, kwargs)
            self.see(obj)
        rest = tuple(map(plain if descriptor in ASKS_TYPE else self.see, rest))
        if isinstance(obj, CONTAINERS):
            self.note_looked_up(descriptor.__name__, obj, rest)
        if kwargs:
            kwargs = {key: self.see(value) for key, value in kwargs.items()}
        return super().call_native(callable, rest if owner is not None else (self.see(obj), *rest), kwargs)

    def note_looked_up(self, name, obj, values):
        """A method of a container compares or hashes what it is given."""
        if name in COMPARING:
            self.note_compared(obj, EQUALITY)
            for value in values:
                self.note_compared(value, EQUALITY)
                self.ask_identities(value, obj)
        if values and isinstance(obj, HASHED) and not is_constant(values[0]) and not isinstance(values[0], CONTAINERS):
            self.note_hashed(obj, values[0])

    def specially(self, descriptor, obj, rest, kwargs):
        """The few native methods of which it is known what exactly they read or write."""
        trace = self.trace
        if descriptor is object.__getattribute__ and len(rest) == 1:
            found = self.found_attribute(obj, type(obj), rest[0])
            return object.__getattribute__(obj, rest[0]) if found is NULL else found
        if descriptor is object.__setattr__ and len(rest) == 2:
            return done(self.set_object_attribute(obj, type(obj), *rest))
        if descriptor is object.__delattr__ and len(rest) == 1:
            return done(self.delete_object_attribute(obj, type(obj), *rest))
        if descriptor in (object.__init__, object.__init_subclass__) and not rest:
            return None
        entry = trace.find(obj)
        if type(obj) is contextvars.ContextVar and descriptor.__name__ == "get":
            return self.context_variable(obj, descriptor, rest)
        if entry is None or kwargs:
            return MISSING
        count = len(rest)
        if type(obj) in DICTS and rest and is_constant(rest[0]) and not self.has_hooked_keys(obj):
            if descriptor is dict.get and count <= 2 or descriptor is dict.__getitem__ and count == 1:
                value = trace.read_key(entry, rest[0])
                if value is MISSING:
                    return obj[rest[0]] if descriptor is dict.__getitem__ else rest[1] if len(rest) > 1 else None
                return value
            if descriptor is dict.__contains__ and count == 1:
                return trace.read_present(entry, rest[0])
            if descriptor is dict.__setitem__ and count == 2:
                return self.write_item(entry, *rest)
        if descriptor.__name__ == "__len__" and not rest and isinstance(obj, CONTAINERS):
            trace.read_length(entry)
            return len(obj)
        return MISSING

    def context_variable(self, obj, descriptor, rest):
        trace = self.trace
        entry = trace.pinned(obj, obj.name)
        if "value" not in entry.known:
            marker = MISSING
            value = obj.get(marker)
            source = sources.Reading(entry.source, contextvars.ContextVar.get, (marker,), "ContextVar.get")
            entry.known["value"] = trace.read(value, source) if value is not marker else marker
            if value is marker:
                trace.guard(guards.Identity(source, marker))
        value = entry.known["value"]
        return obj.get(*rest) if value is MISSING else value

    def read_native(self, entry, descriptor, callable, args, kwargs):
        """A reading method of an outside object of a native type: what it gives is guarded where that is a constant."""
        result = super().call_native(callable, args, kwargs)
        if is_constant(result) and all(map(is_constant, args)) and not kwargs:
            source = sources.Reading(entry.source, descriptor, args, qualified_name(descriptor))
            return self.trace.read(result, source)
        self.sharp(descriptor, f"reads {entry.source}, an outside object of a native type")
        return result

    def call_writer(self, callable, known, descriptor, args, kwargs):
        """A native function that writes one of its arguments."""
        trace = self.trace
        position = known.argument or 0
        if len(args) <= position:
            return super().call_native(callable, args, kwargs)
        target = args[position]
        entry = self.entry_of(target)
        others = [self.see(settled(value)) for i, value in enumerate(args) if i != position]
        if kwargs:
            kwargs = {key: self.see(value) for key, value in kwargs.items()}
        if entry is None:
            if id(target) in trace.outside and changeable(descriptor, target, args) and not refused(
                    descriptor, args, kwargs):
                self.sharp(
                    descriptor, f"changes {trace.outside[id(target)].source}, an outside object of a native type"
                )
            args = (*others[:position], target, *others[position:])
            if type(callable) in BOUND_NATIVE and getattr(callable, "__self__", None) is target:
                return super().call_native(callable, args[1:], kwargs)
            return super().call_native(callable, args, kwargs)
        if known.needs_old:
            trace.read_all(entry)
        self.note(descriptor, "opaque")
        function = descriptor
        if kwargs:
            function = Named(descriptor, tuple(kwargs))
            others += kwargs.values()
        if position == 0:
            return self.write_whole(entry, function, *others)
        self.sharp(descriptor, "writes an argument that is not its first")
        return descriptor(*args, **(kwargs or {}))


def changeable(function, target, args) -> bool:
    """Whether a native function may change an object: not if that keeps nothing that C code alone can see, or is not
    what the function is for."""
    kind = type(target)
    if function in (setattr, delattr) and not isinstance(args[1], str):
        return False
    owner = getattr(function, "__objclass__", object)
    operators = getattr(function, "__module__", None) == "_operator" or function in (next, anext)
    name = f"__{function.__name__.strip('_')}__"
    return hides(kind) and issubclass(kind, owner) and (not operators or hasattr(kind, name))


def refused(callable, args, kwargs) -> bool:
    """Whether a callable that has a lookaside is given arguments that it complains of before it runs anything."""
    standin = find(callable)
    return standin is not None and not standin.accepts(args, kwargs)


def settled(value):
    """A number that native code was to ask a lent object for: what is written is written again with that."""
    if type(value) is slice:
        step, start, stop = map(settled, (value.step, value.start, value.stop))  # in the order in which C asks
        return slice(start, stop, step)
    return operator.index(value) if derives(type(value), Lent) else value


class Named:
    """A function whose last arguments go by name."""

    __slots__ = ("function", "names")

    def __init__(self, function, names: tuple[str, ...]):
        self.function = function
        self.names = names

    @property
    def __name__(self):
        return self.function.__name__

    def __call__(self, *args):
        count = len(args) - len(self.names)
        return self.function(*args[:count], **dict(zip(self.names, args[count:])))


def unbound(callable):
    """The descriptor behind a bound method of a native type: `list.append` of `[].append`, `object.__setattr__` of
    `super().__setattr__`.
    """
    owner = getattr(callable, "__self__", None)
    kind = type(callable)
    if owner is None or isinstance(owner, types.ModuleType) or kind not in BOUND_NATIVE:
        return callable
    name = callable.__name__
    if kind is types.MethodWrapperType:
        return callable.__objclass__.__dict__.get(name, callable)
    for base in (*(owner.__mro__ if isinstance(owner, type) else ()), *type(owner).__mro__):
        found = base.__dict__.get(name)
        if type(found) in NATIVE_METHODS:
            return found
    return callable
