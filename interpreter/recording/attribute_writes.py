"""Attributes set and deleted: done at once, and noted for the epilogue where the object is an outside one."""

from __future__ import annotations

from types import FunctionType

import torch

from interpreter.recording.attributes import OWN_ATTRIBUTES, SLOTS
from interpreter.recording.numbers import TRACED, plain
from interpreter.recording.outside import MISSING
from interpreter.recording.special import native_base
from interpreter.vm.attributes import discarding
from interpreter.vm.machine import Machine

PLAIN_SETATTR = object.__setattr__
PLAIN_DELATTR = object.__delattr__


class AttributeWrites(Machine):
    """The part of the recording machine that writes attributes."""

    def set_attribute(self, obj, name, value):
        trace = self.trace
        if trace.ended is not None:
            return super().set_attribute(obj, name, plain(value))
        kind = type(obj)
        if kind in TRACED:
            return setattr(plain(obj), name, value)  # raises, in CPython's words
        if isinstance(obj, torch.Tensor):
            return self.set_tensor_attribute(obj, name, value)
        if isinstance(obj, type):
            return self.set_class_attribute(obj, name, value)
        hook = self.lookup(kind, "__setattr__")
        if type(hook) is FunctionType:
            return discarding(self.call(hook, (obj, name, value), None))
        if native_base(kind) in OWN_ATTRIBUTES:
            self.own_attributes(obj, kind)
            return super().set_attribute(obj, name, plain(value))
        return self.set_object_attribute(obj, kind, name, value)

    def own_attributes(self, obj, kind):
        """An object whose attributes native code keeps in a way of its own."""
        entry = self.trace.outside.get(id(obj))
        if entry is not None:
            self.trace.end(f"{entry.source} is a {kind.__qualname__}, whose attributes can't be guarded")

    def set_object_attribute(self, obj, kind, name, value):
        """`object.__setattr__`."""
        trace = self.trace
        found = self.lookup(kind, name)
        entry = trace.outside.get(id(obj))
        form = type(found)
        if found is not MISSING and self.answers(form, "__set__"):
            if form is property:
                if found.fset is not None:
                    return discarding(self.call(self.pin_function(found.fset), (obj, value), None))
            elif form in SLOTS:
                if entry is not None:
                    return self.write_slot(entry, name, value)
            elif type(self.lookup(form, "__set__")) is FunctionType:
                trace.pinned(found, name)
                return discarding(self.call(self.lookup(form, "__set__"), (found, obj, value), None))
            return PLAIN_SETATTR(obj, name, value)
        if entry is None:
            space = getattr(obj, "__dict__", None)
            entry = trace.outside.get(id(space)) if space is not None else None
            if entry is None:
                return PLAIN_SETATTR(obj, name, value)
            space = entry
        else:
            space = trace.namespace(entry)
        if space is None:
            return PLAIN_SETATTR(obj, name, plain(value))  # raises, in CPython's words
        trace.before_write(space)
        PLAIN_SETATTR(obj, name, value)
        space.known[name] = value
        space.written.add(name)
        trace.write(
            PLAIN_SETATTR,
            (obj, name, value),
            f"{space.source}.{name} =" if entry is space else f"{entry.source}.{name} =",
        )

    def write_slot(self, entry, name, value):
        if name == "__dict__":
            entry.namespace = None
        PLAIN_SETATTR(entry.value, name, plain(value))
        entry.known["slot", name] = value
        entry.written.add(("slot", name))
        self.trace.write(PLAIN_SETATTR, (entry.value, name, value), f"{entry.source}.{name} =")

    def set_tensor_attribute(self, obj, name, value):
        trace = self.trace
        entry = trace.outside.get(id(obj))
        if self.lookup(type(obj), name) is not MISSING:
            setattr(obj, name, value)
            if entry is not None:
                entry.known["slot", name] = value
            return
        if entry is None:
            setattr(obj, name, plain(value))
            if id(obj) in trace.tensors:
                trace.write(setattr, (obj, name, value), f"a tensor's {name} =")
            return
        space = trace.namespace(entry)
        trace.before_write(space)
        setattr(obj, name, plain(value))
        space.known[name] = value
        space.written.add(name)
        trace.write(setattr, (obj, name, value), f"{entry.source}.{name} =")

    def set_class_attribute(self, obj, name, value):
        trace = self.trace
        hook = self.lookup(type(obj), "__setattr__")
        if type(hook) is FunctionType:
            return discarding(self.call(hook, (obj, name, value), None))
        self.before_class_write(obj)
        type.__setattr__(obj, name, plain(value))
        if id(obj) not in trace.made:
            self.class_written(obj, name, value)
            trace.write(setattr, (obj, name, value), f"{obj.__qualname__}.{name} =")
        trace.classes.clear()

    def before_class_write(self, kind):
        """Keep what a class had before its first write."""
        space = self.class_space(kind)
        if space.original is None:
            space.original = dict(space.value)

    def class_written(self, kind, name, value):
        space = self.class_space(kind)
        space.known[name] = value
        space.written.add(name)

    def delete_attribute(self, obj, name):
        trace = self.trace
        if trace.ended is not None:
            return super().delete_attribute(obj, name)
        kind = type(obj)
        if isinstance(obj, type):
            self.before_class_write(obj)
            type.__delattr__(obj, name)
            if id(obj) not in trace.made:
                self.class_written(obj, name, MISSING)
                trace.write(delattr, (obj, name), f"del {obj.__qualname__}.{name}")
            trace.classes.clear()
            return None
        if isinstance(obj, torch.Tensor) and trace.outside.get(id(obj)) is None:
            delattr(obj, name)
            return trace.write(delattr, (obj, name), f"del a tensor's {name}")
        hook = self.lookup(kind, "__delattr__")
        if type(hook) is FunctionType:
            return discarding(self.call(hook, (obj, name), None))
        if native_base(kind) in OWN_ATTRIBUTES:
            self.own_attributes(obj, kind)
            return super().delete_attribute(obj, name)
        return self.delete_object_attribute(obj, kind, name)

    def delete_object_attribute(self, obj, kind, name):
        trace = self.trace
        found = self.lookup(kind, name)
        entry = trace.outside.get(id(obj))
        form = type(found)
        if found is not MISSING and form is property and found.fdel is not None:
            return discarding(self.call(self.pin_function(found.fdel), (obj,), None))
        if found is not MISSING and type(self.lookup(form, "__delete__")) is FunctionType:
            trace.pinned(found, name)
            return discarding(self.call(self.lookup(form, "__delete__"), (found, obj), None))
        if entry is None:
            return PLAIN_DELATTR(obj, name)
        if form in SLOTS:
            self.slot(found, obj, name)
            PLAIN_DELATTR(obj, name)
            entry.known["slot", name] = MISSING
        else:
            space = trace.namespace(entry)
            if space is not None:
                trace.read_key(space, name)
                trace.before_write(space)
            PLAIN_DELATTR(obj, name)
            if space is not None:
                space.known[name] = MISSING
                space.written.add(name)
        trace.write(PLAIN_DELATTR, (obj, name), f"del {entry.source}.{name}")
        return None
