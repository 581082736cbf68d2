"""Calls: which route a callable takes while a call is recorded, and what native code may see.

A Python function is interpreted; one with a lookaside is replaced; a function of torch is an operation, which the torch
function mode records when it is called. What is left is native code. It is harmless when it is known to be pure, or to
read or write only its arguments: then outside containers among them are guarded first, and a write to an outside one is
noted. Anything else ends the trace.
"""

from __future__ import annotations

import contextvars
import functools
import re
import types
import weakref
from types import BuiltinFunctionType, FunctionType, MethodType

import torch

from interpreter.lookasides.machinery import done
from interpreter.lookasides.purity import effect
from interpreter.lookasides.registry import qualified_name
from interpreter.recording import guards, sources, torch_calls
from interpreter.recording.callbacks import python_reached
from interpreter.recording.containers import CONTAINERS, DICTS, HASHED
from interpreter.recording.mode import deeply_plain, operate
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.position import Position
from interpreter.recording.special import (
    ASKED,
    COMPARING,
    EQUALITY,
    SPECIAL,
    SPECIAL_KINDS,
    is_library,
    is_ours,
    native_base,
    runs_hooks,
    shows_writes,
)
from interpreter.recording.trace import MISSING, Outside, is_constant
from interpreter.recording.whole import call_whole, transforms
from interpreter.vm.calls import BUILTINS, native_key
from interpreter.vm.machine import Machine

BOUND_NATIVE = (*BUILTINS, types.MethodWrapperType)
HEAP = 1 << 9
SHOWING = {str, repr, format, ascii}
STEPPED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
NATIVE_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
OPERATORS_OF_TORCH = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
ASKS_TYPE = {isinstance, type.__instancecheck__, callable}  # look at the type of a value, not at the value
PURE_HERE = {
    id,
    torch.jit.is_scripting,
    types.MethodType,
    types.FunctionType,
    torch.finfo,
    torch.iinfo,
    torch.device,
    torch.Size,
    weakref.ref,
}


class Calls(Machine):
    """The part of the recording machine that calls."""

    def call(self, callable, args, kwargs=None):
        trace = self.trace
        if trace.ended is not None:
            return super().call(callable, args, kwargs)
        kind = type(callable)
        if kind is FunctionType:
            if callable in torch_calls.WRITTEN_IN_PYTHON or callable in SPECIAL:
                return self.call_native(callable, args, kwargs)
        elif kind is MethodType:
            function = callable.__func__
            if type(function) is FunctionType:
                if function in torch_calls.WRITTEN_IN_PYTHON:
                    return self.call_native(callable, args, kwargs)
                if isinstance(callable.__self__, type) and issubclass(
                        callable.__self__, torch.autograd.Function) and callable.__name__ == "apply":
                    return call_whole(self, callable, args, kwargs)
        elif kind in OPERATORS_OF_TORCH:
            return self.call_native(callable, args, kwargs)
        elif kind is functools.partial:
            self.read_partial(callable)
        elif kind is not BuiltinFunctionType and kind not in NATIVE_METHODS and kind is not type:
            replaced = self.unwrapped(callable, kind)
            if replaced is not None:
                return self.call(replaced, args, kwargs)
        return super().call(callable, args, kwargs)

    def unwrapped(self, callable, kind):
        """What to call in place of a jitted or compiled callable, whose own machinery is not to be recorded."""
        place = getattr(kind, "interpreted_at", None)
        if place is not None and not isinstance(callable, type):
            return self.held(callable, place)
        if isinstance(callable, type):
            return None
        if kind.__module__.startswith("torch._dynamo") and "_orig_mod" in getattr(callable, "_modules", ()):
            modules = self.held(callable, "_modules")
            entry = self.trace.find(modules)
            return modules["_orig_mod"] if entry is None else self.trace.read_key(entry, "_orig_mod")
        return None

    def held(self, obj, name):
        """What an object's `__dict__` has under a name."""
        entry = self.trace.find(obj)
        return obj.__dict__[name] if entry is None else self.trace.read_key(self.trace.namespace(entry), name)

    def read_partial(self, made):
        trace = self.trace
        entry = trace.find(made)
        if entry is not None and "func" not in entry.known:
            entry.known["func"] = True
            for name in ("func", "args", "keywords"):
                value = trace.read(getattr(made, name), sources.Attribute(entry.source, name))
                self.see(value)

    def enter(self, function, args, kwargs=None, noted=False):
        if function.__module__ == "torch._dynamo.mutation_guard":
            return function(*args, **(kwargs or {}))  # Dynamo, where it is in use, counts the modules that are made
        if id(function) not in self.admitted and self.trace.ended is None:
            if transforms(function.__code__):
                return call_whole(self, function, args, kwargs)
            original = function.__dict__.get("_torchdynamo_orig_callable")
            if original is not None:
                return self.call(original, args, kwargs)
            self.admit(function)
        return super().enter(function, args, kwargs, noted)

    def admit(self, function):
        """An outside function is going to be interpreted: its cells and defaults are reached through it."""
        trace = self.trace
        self.admitted.add(id(function))
        trace.keep.append(function)
        if id(function) in trace.made or is_ours(function.__code__.co_filename):
            return
        entry = trace.pinned(function, guards.short(function))
        held = isinstance(entry.source, sources.Pinned)
        cells = None if held else sources.Attribute(entry.source, "__closure__")
        for i, (cell, name) in enumerate(zip(function.__closure__ or (), function.__code__.co_freevars)):
            if id(cell) not in trace.outside:
                source = (
                    sources.Pinned(cell, f"{function.__qualname__.rpartition('<locals>.')[2]}.{name}")
                    if held
                    else sources.Item(cells, i)
                )
                trace.outside[id(cell)] = Outside(cell, source)
            elif not held:
                trace.guard(guards.Same(sources.Item(cells, i), trace.outside[id(cell)].source))
        if not is_library(function.__code__.co_filename):
            trace.guard(guards.Identity(sources.Attribute(entry.source, "__code__"), function.__code__))
        defaults = function.__defaults__
        if defaults:
            source = sources.Attribute(entry.source, "__defaults__")
            if held:
                trace.guard(guards.Identity(source, defaults))
                self.read_defaults(enumerate(defaults), source)
            else:
                trace.read(defaults, source)
        if function.__kwdefaults__:
            space = function.__kwdefaults__
            trace.outside[id(space)] = Outside(space, sources.Attribute(entry.source, "__kwdefaults__"))
            trace.read_all(trace.outside[id(space)])

    def read_defaults(self, items, source):
        """Defaults are as fixed as the tuple they are in; what is in a mutable one is read when it is asked for."""
        for key, value in items:
            if not is_constant(value) and id(value) not in self.trace.outside:
                self.trace.read(value, sources.Item(source, key))

    # Native code

    def call_native(self, callable, args, kwargs=None):
        trace = self.trace
        if trace.ended is not None:
            return self.unrecorded(callable, args, kwargs)
        kind = type(callable)
        try:
            handler = SPECIAL.get(callable)
        except TypeError:
            handler = None
        if handler is not None:
            return handler(self, callable, args, kwargs)
        reached = python_reached(unbound(callable) if kind in BOUND_NATIVE else callable, args, kwargs)
        if reached is not None and not self.in_our_code():
            self.sharp(
                callable, f"would run Python code of a {type(reached).__qualname__} unseen; a lookaside cures that"
            )
            return self.unrecorded(callable, args, kwargs)
        owner = getattr(callable, "__self__", None) if kind in BOUND_NATIVE or kind is MethodType else None
        if isinstance(owner, torch.Tensor) or self.is_torch(callable, kind):
            return self.call_torch(callable, args, kwargs)
        if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
            return call_whole(self, callable, args, kwargs)
        if owner is not None and kind is not MethodType and not isinstance(owner, types.ModuleType):
            descriptor = unbound(callable)
            if not isinstance(owner, type) or type(descriptor) is types.MethodDescriptorType:
                return self.call_method(descriptor, callable, owner, args, kwargs)
        if kind in NATIVE_METHODS and args:
            return self.call_method(callable, callable, None, args, kwargs)
        return self.call_function(callable, args, kwargs)

    def unrecorded(self, callable, args, kwargs):
        """After the end of the trace traced numbers are plain ones."""
        if any(type(value) in TRACED for value in args):
            args = tuple(map(plain, args))
        if kwargs and any(type(value) in TRACED for value in kwargs.values()):
            kwargs = {key: plain(value) for key, value in kwargs.items()}
        return super().call_native(callable, args, kwargs)

    def in_our_code(self) -> bool:
        """Whether it is a lookaside that calls, or another part of the machine: it knows what its target does."""
        code = self.frame.code
        return code is not None and is_ours(code.co_filename)

    def is_torch(self, callable, kind) -> bool:
        if kind is BuiltinFunctionType or kind in NATIVE_METHODS or kind is FunctionType or isinstance(callable, type):
            return callable in torch_calls.OVERRIDABLE or callable in self.torch_functions or (
                kind is BuiltinFunctionType and (callable.__module__ or "").startswith("torch"))
        if kind is MethodType:
            return callable.__func__ in torch_calls.WRITTEN_IN_PYTHON
        return kind in OPERATORS_OF_TORCH

    torch_functions = torch_calls.QUERIES | torch_calls.SWITCHES | torch_calls.BOOKKEEPING | torch_calls.CONSTRUCTORS

    def call_torch(self, callable, args, kwargs):
        """A function of torch. The mode records it as it comes by; what the mode does not see is in the tables, or ends
        the trace.
        """
        trace = self.trace
        self.note(native_key(callable), "torch")
        for value in args:
            if isinstance(value, CONTAINERS):
                self.guard_containers(value)
        if kwargs:
            for value in kwargs.values():
                if isinstance(value, CONTAINERS):
                    self.guard_containers(value)
        kind = type(callable)
        try:
            if callable in torch_calls.QUERIES or callable in torch_calls.BOOKKEEPING:
                return callable(*map(pin, args), **(kwargs or {}))
            if callable in torch_calls.SWITCHES or callable in torch_calls.CONSTRUCTORS:
                return operate(trace, callable, args, kwargs or {})
        except TypeError:
            pass
        seen = trace.seen
        trace.direct = unbound(callable) if kind in BOUND_NATIVE else callable
        try:
            result = callable(*args, **(kwargs or {}))
        except TypeError as error:
            if "Traced" not in str(error):
                raise
            wrong = True
        else:
            wrong = False
        if wrong:  # torch names the type of an argument: it is given a plain number, to say so in its own words
            plain_kwargs = {key: deeply_plain(value) for key, value in (kwargs or {}).items()}
            return callable(*map(deeply_plain, args), **plain_kwargs)
        trace.direct = None
        if trace.seen == seen and trace.ended is None and not self.harmless(callable, result):
            self.sharp(callable, "a function of torch that can't be recorded")
        return result

    def harmless(self, callable, result) -> bool:
        """A function of torch that the mode did not see, and need not: it only told something fixed."""
        return (
            isinstance(callable, type)
            or getattr(callable, "__module__", None) in ("torch._C", None)
            and is_constant(result)
            and torch_calls.plain_name(callable).startswith(("_is_", "_has_", "is_", "has_", "get_", "_get_"))
        )

    def guard_containers(self, value, depth=0):
        """Outside containers among the arguments of an operation: their items become its inputs. Traced numbers stay
        traced.
        """
        entry = self.trace.outside.get(id(value))
        if entry is not None:
            self.trace.read_all(entry)
        if depth < 8:
            for item in list(dict.values(value) if isinstance(value, dict) else value):
                if isinstance(item, CONTAINERS):
                    self.guard_containers(item, depth + 1)

    def sharp(self, callable, why: str):
        """Native code that could see or do what isn't recorded: the trace ends at the user's line."""
        self.ledger.sharp(native_key(callable), self.where())
        self.trace.end(f"{qualified_name(callable)}: {why}")

    def call_function(self, callable, args, kwargs):
        """A native function or class."""
        trace = self.trace
        if callable is print:
            return self.known_effect(callable, args, kwargs)
        if callable is type and len(args) == 1:
            return type(plain(args[0]))
        handler = SPECIAL_KINDS.get(type(callable))
        if handler is not None:
            return handler(self, callable, args, kwargs)
        known = effect(callable)
        kind = known.kind
        if kind == "opaque":
            kind = self.kind_of_unlisted(callable, args)
        if kind == "writes":
            return self.call_writer(callable, known, callable, args, kwargs)
        if callable is len and args and (entry := self.entry_of(args[0])) is not None:
            trace.read_length(entry)
            return super().call_native(callable, args, kwargs)
        if kind == "opaque":
            self.sharp(callable, "native code that isn't known to be pure")
            return self.unrecorded(callable, args, kwargs)
        args = tuple(map(plain if callable in ASKS_TYPE else self.see, args))
        if kwargs:
            kwargs = {key: self.see(value) for key, value in kwargs.items()}
        if callable in SHOWING:
            for value in args:
                self.pin_sizes(value)
        asked = ASKED.get(callable)
        if asked is not None:
            for value in args:
                self.note_compared(value, asked)
            if callable in (set, frozenset) and args:
                for item in list(args[0]) if isinstance(args[0], CONTAINERS) else ():
                    if not is_constant(item):
                        self.note_hashed(set(), item)
        if callable is next and args and id(args[0]) in trace.outside:
            self.sharp(callable, "steps an iterator that existed before the call")
        result = super().call_native(callable, args, kwargs)
        if len(args) >= 3 and isinstance(result, type):
            trace.made[id(result)] = result
        return result

    def kind_of_unlisted(self, callable, args) -> str:
        """What a native function or class does that no table lists."""
        if self.is_pure_here(callable) or is_new(callable) or self.in_our_code():
            return "reads"
        if isinstance(callable, type):
            if len(args) == 3 and issubclass(callable, type):
                return "opaque" if runs_hooks(args[2], args[1]) else "reads"
            if id(callable) in self.trace.made or callable.__flags__ & HEAP:
                return effect(native_base(callable)).kind
        return "opaque"

    def is_pure_here(self, callable) -> bool:
        try:
            return callable in PURE_HERE
        except TypeError:
            return False

    def known_effect(self, callable, args, kwargs):
        """print: done again, in its place, by every later call. What it shows of outside containers is guarded."""
        args = tuple(map(self.see, args))
        for value in args:
            self.pin_sizes(value)
        if shows_writes(self.trace, args):
            self.sharp(callable, "shows what the call has written before it")
            return self.unrecorded(callable, args, kwargs)
        if kwargs and set(kwargs) - {"sep", "end", "flush"}:
            self.sharp(callable, "writes to a file of its own")
            return self.unrecorded(callable, args, kwargs)
        with torch.overrides._pop_mode_temporarily():
            return operate(self.trace, callable, args, kwargs or {})

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
        if known.kind == "opaque" and not steps and not self.in_our_code():
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
            return self.object_attribute(obj, type(obj), rest[0])
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
        if type(obj) in DICTS and rest and is_constant(rest[0]):
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
        others = [self.see(value) for i, value in enumerate(args) if i != position]
        if kwargs:
            kwargs = {key: self.see(value) for key, value in kwargs.items()}
        if entry is None:
            if id(target) in trace.outside:
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

    def where(self):
        """The user's line that is being executed."""
        frame = self.frame
        while frame is not None and frame.code is None:
            frame = frame.back
        return Position(frame) if frame is not None else None


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


def is_new(callable) -> bool:
    """`__new__` of a native type, which makes an object from its arguments, or `__prepare__`, which makes the namespace
    of a class.
    """
    return (
        type(callable) is BuiltinFunctionType
        and callable.__name__ in ("__new__", "__prepare__")
        and isinstance(callable.__self__, type)
    )
