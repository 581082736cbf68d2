"""Attributes by the language's rules: Python code among the descriptors and hooks is interpreted, the rest is
native."""

from types import FrameType, FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType

from .frame import Frame
from .hooks import DISCARD, Missing, Otherwise, hooked
from .looking import LIVE_KINDS, OPCODES, live_attribute
from .lookups import NATIVE_DESCRIPTORS, lookup, special, verdicts
from .pyframes import interpreted
from .values import NULL

_plain_get = object.__getattribute__
_type_get = type.__getattribute__
_generic = object.__dict__["__getattribute__"]
METHOD_KINDS = frozenset((FunctionType, MethodDescriptorType, WrapperDescriptorType))
NATIVE, FALLBACK, PYTHON = "native", "fallback", "python"


def read_verdict(kind, name):
    """How an attribute ``name`` of instances of ``kind`` is read: see Attributes.get_attribute."""
    if special(kind, "__getattribute__") is not None:
        return PYTHON
    found = lookup(kind, name)
    if type(found) is property:
        return PYTHON
    plain = found is NULL or type(found) is FunctionType or type(found) in NATIVE_DESCRIPTORS
    if not plain and special(type(found), "__get__") is not None:
        return PYTHON
    if special(kind, "__getattr__") is not None:
        return FALLBACK
    return NATIVE


def is_plain_property(kind, name):
    """Is an attribute of instances of ``kind`` a property written in Python, with nothing else in Python beside it?"""
    found = lookup(kind, name)
    return (
        type(found) is property
        and type(found.fget) is FunctionType
        and lookup(kind, "__getattribute__") is _generic
        and special(kind, "__getattr__") is None
    )


def has_plain_methods(kind, name):
    """Are methods of a type found by the plain rules, with no Python code that could interfere?"""
    if read_verdict(kind, name) is not NATIVE or issubclass(kind, (type, ModuleType)):
        return False
    return lookup(kind, "__getattribute__") is _generic and type(lookup(kind, name)) in METHOD_KINDS


class Attributes:
    """The part of the machine that deals with attributes."""

    def get_attribute(self, obj, name):
        """``obj.name``: the value, or a Frame that will give it."""
        kind = type(obj)
        known = verdicts(kind)
        verdict = known.get((name,))
        if verdict is None:
            verdict = known[(name,)] = read_verdict(kind, name)
        if verdict is NATIVE:
            if kind is ModuleType:
                return self.get_module_attribute(obj, name)
            if kind in LIVE_KINDS and (found := live_attribute(obj, kind, name)) is not NULL:
                return found
            return getattr(obj, name)
        if verdict is FALLBACK:
            try:
                return generic_getter(kind)(obj, name)
            except AttributeError as caught:
                error = caught
            return self.missing_attribute(obj, kind, name, error)
        return self.get_python_attribute(obj, kind, name)

    def get_python_attribute(self, obj, kind, name):
        """The slow way: there is Python code to run."""
        getter = special(kind, "__getattribute__")
        if getter is not None:
            result = self.call(getter, [obj, name])
        else:
            found = lookup(kind, name)
            if type(found) is property and type(found.fget) is FunctionType:
                result = self.call(found.fget, [obj])
            elif (
                found is not NULL
                and (get := special(type(found), "__get__")) is not None
                and (is_data(found) or not in_instance(obj, name))
            ):
                result = self.call(get, [found, obj, kind])
            else:
                try:
                    return generic_getter(kind)(obj, name)
                except AttributeError as caught:
                    error = caught
                return self.missing_attribute(obj, kind, name, error)
        if type(result) is Frame:
            answer = special(kind, "__getattr__")
            if answer is not None:
                return hooked(result, Otherwise(AttributeError, lambda _: self.call(answer, [obj, name])))
            return hooked(result, Missing(obj, name))
        return result

    def missing_attribute(self, obj, kind, name, error):
        """Nothing was found: ask ``__getattr__``."""
        answer = special(kind, "__getattr__")
        if answer is None:
            raise error
        result = self.call(answer, [obj, name])
        return hooked(result, Missing(obj, name)) if type(result) is Frame else result

    def get_module_attribute(self, module, name):
        """An attribute of a module, which may have a ``__getattr__`` of its own."""
        try:
            return _module_get(module, name)
        except AttributeError:
            hook = module.__dict__.get("__getattr__", NULL)
            if hook is NULL:
                raise
        return self.call(hook, [name])

    def get_method(self, obj, name):
        """(function, self) for a call ``obj.name(...)`` which needs no bound method; else None."""
        kind = type(obj)
        known = verdicts(kind)
        found = known.get((name, "method"))
        if found is None:
            found = known[name, "method"] = has_plain_methods(kind, name)
        if not found:
            return None
        found = lookup(kind, name)
        if type(found) in METHOD_KINDS and not in_instance(obj, name):
            return found, obj
        return None

    def set_attribute(self, obj, name, value):
        """``obj.name = value``: None, or a Frame whose value is dropped."""
        kind = type(obj)
        setter = special(kind, "__setattr__")
        if setter is not None:
            return discarding(self.call(setter, [obj, name, value]))
        found = lookup(kind, name)
        if found is not NULL:
            if type(found) is property and type(found.fset) is FunctionType:
                return discarding(self.call(found.fset, [obj, value]))
            put = special(type(found), "__set__")
            if put is not None and not issubclass(kind, type):
                return discarding(self.call(put, [found, obj, value]))
        if kind is FrameType and name in ("f_trace", "f_trace_opcodes"):
            return self.set_trace_attribute(obj, name, value)
        setattr(obj, name, value)
        return None

    def set_trace_attribute(self, shown, name, value):
        """``f_trace`` and the like of a frame object, which say what is told of the interpreted frame."""
        frame = interpreted(shown)
        if frame is None or name == "f_trace":
            setattr(shown, name, value)
        elif value:
            OPCODES.add(frame)
        else:
            OPCODES.discard(frame)
        if frame is None or self.traces is None:
            return None
        return self.traces.convert_running(("STORE_ATTR",))

    def delete_attribute(self, obj, name):
        """``del obj.name``: None, or a Frame whose value is dropped."""
        kind = type(obj)
        deleter = special(kind, "__delattr__")
        if deleter is not None:
            return discarding(self.call(deleter, [obj, name]))
        found = lookup(kind, name)
        if found is not NULL:
            if type(found) is property and type(found.fdel) is FunctionType:
                return discarding(self.call(found.fdel, [obj]))
            drop = special(type(found), "__delete__")
            if drop is not None and not issubclass(kind, type):
                return discarding(self.call(drop, [found, obj]))
        delattr(obj, name)
        return None


_module_get = ModuleType.__getattribute__


def generic_getter(kind):
    """The native ``__getattribute__`` of a type, which does not look at ``__getattr__``."""
    found = lookup(kind, "__getattribute__")
    return _plain_get if found is NULL else found


def is_data(descriptor):
    """Does a descriptor come before the instance's own dict?"""
    kind = type(descriptor)
    return lookup(kind, "__set__") is not NULL or lookup(kind, "__delete__") is not NULL


def in_instance(obj, name):
    """Does the instance's own dict hold ``name``?"""
    try:
        space = _plain_get(obj, "__dict__")
    except AttributeError:
        return False
    return type(space) is dict and name in space


def discarding(result):
    """Make a Frame's value be dropped; a value is dropped at once."""
    if type(result) is Frame:
        return hooked(result, DISCARD)
    return None
