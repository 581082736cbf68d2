"""Native code that is called while recording: what it may see, and what of that is written down.

A function of torch is an operation, which the torch function mode records when it is called. Other native code is
harmless when it is known to be pure, or to read or write only its arguments: then outside containers among them are
guarded first, and a write to an outside one is noted. Anything else ends the trace.
"""

from __future__ import annotations

import os
import types
import weakref
from types import BuiltinFunctionType, FunctionType, MethodType

import torch

from interpreter.lookasides.mappings import filled
from interpreter.lookasides.purity import effect
from interpreter.lookasides.registry import find, qualified_name
from interpreter.recording import torch_calls
from interpreter.recording.arithmetic import computed, listed
from interpreter.recording.asked import ASKED
from interpreter.recording.callbacks import python_reached
from interpreter.recording.containers import CONTAINERS
from interpreter.recording.effects import shows_writes
from interpreter.recording.methods import ASKS_TYPE, BOUND_NATIVE, NATIVE_METHODS, refused, unbound
from interpreter.recording.mode import deeply_plain, holds_traced, operate
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.outside import MISSING, is_constant
from interpreter.recording.special import (
    SPECIAL,
    SPECIAL_KINDS,
    is_ours,
    native_base,
    runs_hooks,
)
from interpreter.recording.whole import call_whole
from interpreter.vm.calls import native_key
from interpreter.vm.lookups import HEAP_TYPE, has
from interpreter.vm.machine import Machine

SHOWING = {str, repr, format, ascii}
OPERATORS_OF_TORCH = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
PURE_HERE = {
    id,
    torch.jit.is_scripting,
    types.MethodType,
    types.FunctionType,
    torch.finfo,
    torch.iinfo,
    torch.device,
    torch.Size,
    torch.Size.numel,
    os.fspath,
    weakref.ref,
}


class NativeCalls(Machine):
    """The part of the recording machine that calls native code."""

    torch_functions = torch_calls.QUERIES | torch_calls.SWITCHES | torch_calls.BOOKKEEPING | torch_calls.CONSTRUCTORS

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
        if trace.numbered:
            args = listed(trace, callable, args)
            number = computed(trace, callable, args, kwargs)
            if number is not MISSING:
                return number
        reached = python_reached(unbound(callable) if kind in BOUND_NATIVE else callable, args, kwargs)
        if reached is not None and not self.in_our_code() and not refused(callable, args, kwargs):
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
        except TypeError:
            if not holds_traced((*args, *(kwargs or {}).values())):
                raise
            wrong = True
        else:
            wrong = False
        if wrong:  # what torch does not take of a traced number it takes of the plain one, or refuses in its own words
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
        if type(callable) is BuiltinFunctionType and fills(callable, args, kwargs):
            self.note(native_key(callable), "lookaside")
            frame = self.enter(filled, [callable.__self__, *args], noted=True)
            frame.plan.silent = True
            return frame
        handler = SPECIAL_KINDS.get(type(callable))
        if handler is not None:
            return handler(self, callable, args, kwargs)
        known = effect(callable)
        kind = known.kind
        if kind == "opaque":
            kind = "reads" if refused(callable, args, kwargs) else self.kind_of_unlisted(callable, args)
        if kind == "writes":
            return self.call_writer(callable, known, callable, args, kwargs)
        if callable is len and args and (entry := self.entry_of(args[0])) is not None:
            trace.read_length(entry)
            return super().call_native(callable, args, kwargs)
        if kind == "opaque":
            if has(type(callable), "__call__"):  # else it complains that it can't be called
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
            if issubclass(callable, type) and (len(args) == 3 or callable is type):
                makes = len(args) == 3 and all(map(isinstance, args, (str, tuple, dict)))  # or complains
                return "opaque" if makes and runs_hooks(args[2], args[1]) else "reads"
            if id(callable) in self.trace.made or callable.__flags__ & HEAP_TYPE:
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


def fills(callable, args, kwargs) -> bool:
    """`fromkeys` of a class derived from dict: it makes an instance and sets its items, perhaps by Python code."""
    owner = callable.__self__
    return (
        callable.__name__ == "fromkeys"
        and isinstance(owner, type)
        and issubclass(owner, dict)
        and 1 <= len(args) <= 2
        and not kwargs
        and find(callable) is None
    )


def is_new(callable) -> bool:
    """`__new__` of a native type, which makes an object from its arguments, or `__prepare__`, which makes the namespace
    of a class.
    """
    return (
        type(callable) is BuiltinFunctionType
        and callable.__name__ in ("__new__", "__prepare__")
        and isinstance(callable.__self__, type)
    )
