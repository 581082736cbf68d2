"""Calls: which route a callable takes while a call is recorded.

A Python function is interpreted; one with a lookaside is replaced; what is left is native code (`native.py`,
`methods.py`). What stands for something else (a partial, a jitted or a compiled callable) is seen through.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, MethodType

import torch

from interpreter.recording import guards, sources, torch_calls
from interpreter.recording.methods import NATIVE_METHODS
from interpreter.recording.naming import short
from interpreter.recording.native import OPERATORS_OF_TORCH
from interpreter.recording.outside import Outside, is_constant
from interpreter.recording.position import Position
from interpreter.recording.special import (
    SPECIAL,
    is_library,
    is_ours,
)
from interpreter.recording.whole import call_whole, transforms
from interpreter.vm.machine import Machine


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
        if self.watch is not None:
            return self.enter_at_rest(function, args, kwargs, noted)
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
        entry = trace.pinned(function, short(function))
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

    def where(self):
        """The user's line that is being executed."""
        frame = self.frame
        while frame is not None and frame.code is None:
            frame = frame.back
        return Position(frame) if frame is not None else None
