"""Attributes, read and written by the language's rules, with every step of the search guarded.

The search goes through classes (the class attribute, or its absence in each class before the one that has it), the
instance's `__dict__`, and descriptors. What is found on the way in outside objects gets a source; a property's function
and the like hang on an object that is guarded by identity, so they are pinned.
"""

from __future__ import annotations

import threading
import types
import weakref
from types import FunctionType, MethodType, ModuleType

import torch

from interpreter.recording import guards, sources
from interpreter.recording.naming import short
from interpreter.recording.numbers import TRACED, pin
from interpreter.recording.outside import LIVE, MISSING, Outside, is_constant
from interpreter.recording.special import native_base
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.vm.frame import Frame
from interpreter.vm.hooks import Otherwise, hooked
from interpreter.vm.lookups import HEAP_TYPE
from interpreter.vm.machine import Machine
from interpreter.vm.values import NULL

SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
OUTSIDE_TENSOR_STATE = {"grad", "_grad", "_backward_hooks", "_post_accumulate_grad_hooks"}
OWN_ATTRIBUTES = {threading.local, weakref.ProxyType, weakref.CallableProxyType, types.GenericAlias}


class Attributes(Machine):
    """The part of the recording machine that reads and writes attributes."""

    # Classes

    def lookup(self, kind, name):
        """The attribute `name` of a class or one of its bases, not bound to anything; MISSING where none has it."""
        trace = self.trace
        key = kind, name
        found = trace.classes.get(key)
        if found is None:
            found = MISSING
            if (
                kind.__flags__ & HEAP_TYPE
                and kind not in self.class_spaces
                and id(kind) not in trace.made
                and trace.ended is None
            ):
                self.class_space(kind)
                bases = sources.Attribute(sources.Pinned(kind, kind.__qualname__), "__mro__")
                trace.guard(guards.Identity(bases, kind.__mro__))
            for base in kind.__mro__:
                if base.__flags__ & HEAP_TYPE and id(base) not in trace.made and trace.ended is None:
                    found = trace.read_key(self.class_space(base), name)
                else:
                    found = base.__dict__.get(name, MISSING)
                if found is not MISSING:
                    break
            trace.classes[key] = found
        return found

    def answers(self, kind, name) -> bool:
        """Whether a class has a special method; of one written in Python that is guarded."""
        return self.lookup(kind, name) is not MISSING if kind.__flags__ & HEAP_TYPE else hasattr(kind, name)

    def class_space(self, kind) -> Outside:
        """The entry of an outside class's `__dict__`."""
        space = self.class_spaces.get(kind)
        if space is None:
            source = sources.ClassDict(kind)
            space = self.class_spaces[kind] = Outside(source.value, source)
        return space

    # Reading

    def get_attribute(self, obj, name):
        trace = self.trace
        if trace.ended is not None:
            return super().get_attribute(obj, name)
        kind = type(obj)
        if kind in CONSTANT_KINDS:
            return getattr(obj, name)
        if kind is torch.Tensor or isinstance(obj, torch.Tensor):
            return self.tensor_attribute(obj, kind, name)
        if kind is ModuleType:
            return self.module_attribute(obj, name)
        if isinstance(obj, type):
            return self.class_attribute(obj, kind, name)
        if kind is super:
            return self.super_attribute(obj, name)
        if kind in TRACED:
            return getattr(pin(obj), name)
        hook = self.lookup(kind, "__getattribute__")
        if type(hook) is FunctionType:
            return super().get_attribute(obj, name)
        if (
            not kind.__flags__ & HEAP_TYPE
            and kind in OWN_ATTRIBUTES
            or kind.__flags__ & HEAP_TYPE
            and native_base(kind) in OWN_ATTRIBUTES
        ):
            self.own_attributes(obj, kind)
            return super().get_attribute(obj, name)
        if kind is MethodType and self.lookup(MethodType, name) is MISSING:
            return self.get_attribute(obj.__func__, name)
        return self.object_attribute(obj, kind, name)

    def get_method(self, obj, name):
        """(function, obj) where `obj.name` would be a bound method of a Python function and needs no object for
        that.
        """
        trace = self.trace
        kind = type(obj)
        if trace.ended is not None:
            return super().get_method(obj, name)
        if not kind.__flags__ & HEAP_TYPE or isinstance(obj, (torch.Tensor, type, ModuleType)) or kind in TRACED:
            return None
        if type(self.lookup(kind, "__getattribute__")) is FunctionType:
            return None
        found = self.lookup(kind, name)
        if type(found) is not FunctionType:
            return None
        if self.instance_value(obj, name) is not MISSING:
            return None
        return found, obj

    def instance_value(self, obj, name):
        """What an object's own `__dict__` has under a name, or MISSING."""
        trace = self.trace
        entry = trace.outside.get(id(obj))
        if entry is not None:
            space = trace.namespace(entry)
            return MISSING if space is None else trace.read_key(space, name)
        space = getattr(obj, "__dict__", None)
        if type(space) is not dict:
            return MISSING
        entry = trace.outside.get(id(space))
        if entry is not None:
            return trace.read_key(entry, name)
        return space.get(name, MISSING)

    def object_attribute(self, obj, kind, name):
        """`object.__getattribute__`, then `__getattr__` where the class has one."""
        error = None
        try:
            result = self.found_attribute(obj, kind, name)
        except AttributeError as raised:
            result, error = NULL, raised
        if type(result) is Frame:
            return hooked(result, Otherwise(AttributeError, lambda _: self.answer_missing(obj, kind, name)))
        if result is NULL:
            result = self.answer_missing(obj, kind, name)
        if result is not NULL:
            return result
        if error is not None:
            raise error
        return object.__getattribute__(obj, name)  # raises, in CPython's words

    def answer_missing(self, obj, kind, name):
        """What `__getattr__` gives; NULL where the class has none."""
        hook = self.lookup(kind, "__getattr__")
        return NULL if hook is MISSING else self.call(hook, (obj, name), None)

    def found_attribute(self, obj, kind, name):
        """What `object.__getattribute__` finds, or NULL."""
        found = self.lookup(kind, name)
        found_kind = type(found)
        if found is not MISSING and found_kind is not FunctionType and (
                self.answers(found_kind, "__set__") or self.answers(found_kind, "__delete__")):
            return self.describe(found, obj, kind, name)
        value = self.instance_value(obj, name)
        if value is not MISSING:
            return value
        if found is not MISSING:
            if found_kind is FunctionType:
                return MethodType(found, obj)
            if self.answers(found_kind, "__get__"):
                return self.describe(found, obj, kind, name)
            return found
        return NULL

    def describe(self, descriptor, obj, kind, name):
        """`descriptor.__get__(obj, kind)`."""
        trace = self.trace
        form = type(descriptor)
        if form is property:
            if descriptor.fget is None:
                return object.__getattribute__(obj, name)
            return self.call(self.pin_function(descriptor.fget), (obj,), None)
        if form in SLOTS:
            return self.slot(descriptor, obj, name)
        if form is classmethod:
            return MethodType(self.pin_function(descriptor.__func__), kind)
        if form is staticmethod:
            return self.pin_function(descriptor.__func__)
        get = self.lookup(form, "__get__")
        if type(get) is FunctionType:
            if id(descriptor) not in trace.made:
                trace.pinned(descriptor, name)
            return self.call(get, (descriptor, obj, kind), None)
        return descriptor.__get__(obj, kind)

    def pin_function(self, function):
        """A function that hangs on a pinned object (a property's fget) is pinned too."""
        if id(function) not in self.trace.made:
            self.trace.pinned(function, short(function))
        return function

    def slot(self, descriptor, obj, name):
        """A slot or another attribute that native code keeps."""
        trace = self.trace
        entry = trace.outside.get(id(obj))
        if name == "__dict__":
            if entry is not None:
                space = trace.namespace(entry)
                if space is not None:
                    return space.value
            return descriptor.__get__(obj)
        if entry is None or name == "__class__":
            return descriptor.__get__(obj)
        key = "slot", name
        if key in entry.known:
            value = entry.known[key]
            return descriptor.__get__(obj) if value is MISSING else value
        if isinstance(obj, torch.Tensor):
            return self.tensor_slot(entry, key, descriptor)
        try:
            value = descriptor.__get__(obj)
        except AttributeError:
            trace.guard(guards.NoAttribute(entry.source, name))
            entry.known[key] = MISSING
            raise
        value = entry.known[key] = trace.read(value, sources.Attribute(entry.source, name))
        return value

    def tensor_slot(self, entry, key, descriptor):
        """A tensor's gradient, or another slot that operations change: taken up, a call is told what it was before."""
        trace = self.trace
        value = trace.replay.tell(key[1]) if trace.replay is not None else LIVE
        if value is LIVE:
            value = descriptor.__get__(entry.value)
        source = sources.Attribute(entry.source, key[1])
        trace.told.append((key[1], source if isinstance(value, torch.Tensor) else value if value is None else LIVE))
        value = entry.known[key] = trace.read(value, source)
        return value

    def tensor_attribute(self, obj, kind, name):
        trace = self.trace
        entry = trace.outside.get(id(obj))
        if name == "__dict__":
            return obj.__dict__ if entry is None else trace.namespace(entry).value
        if entry is None:
            trace.direct = None
            return getattr(obj, name)
        if name in OUTSIDE_TENSOR_STATE and not (name in ("grad", "_grad") and trace.grads_moved):
            with torch._C.DisableTorchFunction():
                return (
                    self.slot(getattr(torch.Tensor, name), obj, name)
                    if name != "grad"
                    else self.slot(torch.Tensor.grad, obj, name)
                )
        if self.lookup(kind, name) is MISSING:
            space = trace.namespace(entry)
            value = trace.read_key(space, name)
            if value is not MISSING:
                return value
        return getattr(obj, name)

    def module_attribute(self, obj, name):
        trace = self.trace
        entry = trace.pinned(obj, obj.__name__)
        value = trace.read_key(trace.namespace(entry), name)
        if value is MISSING:
            value = getattr(obj, name)
            if not isinstance(value, (int, str, float, bool)):
                trace.pinned(value, f"{obj.__name__}.{name}")
        return value

    def class_attribute(self, obj, meta, name):
        """An attribute of a class: data descriptors of the metaclass, then the class and its bases, then the
        metaclass.
        """
        if meta is not type:
            hook = self.lookup(meta, "__getattribute__")
            if type(hook) is FunctionType:
                return super().get_attribute(obj, name)
        above = self.lookup(meta, name)
        if above is not MISSING and (
            self.answers(type(above), "__set__") or self.answers(type(above), "__delete__")
        ):
            if type(above) is property:
                return self.describe(above, obj, meta, name)
            if name == "__dict__" and obj.__flags__ & HEAP_TYPE and id(obj) not in self.trace.made:
                space = self.class_space(obj)
                self.trace.outside[id(space.value)] = space
                return space.value
            value = getattr(obj, name)
            if obj.__flags__ & HEAP_TYPE and id(obj) not in self.trace.made and is_constant(value):
                entry = self.trace.pinned(obj, obj.__qualname__)
                if ("slot", name) not in entry.known:
                    entry.known["slot", name] = self.trace.read(value, sources.Attribute(entry.source, name))
            return value
        found = self.lookup(obj, name)
        if found is not MISSING:
            form = type(found)
            if form is FunctionType:
                return found
            if form is classmethod:
                return MethodType(self.pin_function(found.__func__), obj)
            if form is staticmethod:
                return self.pin_function(found.__func__)
            if not self.answers(form, "__get__"):
                return found
            get = self.lookup(form, "__get__")
            if type(get) is FunctionType:
                if id(found) not in self.trace.made:
                    self.trace.pinned(found, name)
                return self.call(get, (found, None, obj), None)
            return getattr(obj, name)
        if above is not MISSING:
            if type(above) is FunctionType:
                return MethodType(above, obj)
            return getattr(obj, name)
        hook = self.lookup(meta, "__getattr__")
        if hook is MISSING:
            return getattr(obj, name)  # raises, in CPython's words
        return self.call(hook, (obj, name), None)

    def super_attribute(self, proxy, name):
        """`super().name`: the search goes on after the class that asked."""
        obj, start, after = proxy.__self__, proxy.__self_class__, proxy.__thisclass__
        if name == "__class__" or obj is None:
            return getattr(proxy, name)
        order = start.__mro__
        for base in order[order.index(after) + 1:]:
            if base.__flags__ & HEAP_TYPE and id(base) not in self.trace.made:
                found = self.trace.read_key(self.class_space(base), name)
            else:
                found = base.__dict__.get(name, MISSING)
            if found is MISSING:
                continue
            form = type(found)
            owner = None if obj is start else obj
            if form is FunctionType:
                return found if owner is None else MethodType(found, obj)
            if form is classmethod:
                return MethodType(self.pin_function(found.__func__), start)
            if form is staticmethod:
                return self.pin_function(found.__func__)
            if self.answers(form, "__get__"):
                return self.describe(found, owner, start, name) if owner is not None else found.__get__(None, start)
            return found
        return getattr(proxy, name)  # raises, in CPython's words
