"""How the language looks up attributes of types, without running any code of the user."""

import weakref
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)

from .values import NULL

HEAP_TYPE = 1 << 9
"""Type flag: a class made by Python code, to whose instances other such classes can be assigned."""
flags_of = type.__dict__["__flags__"].__get__
mro_of = type.__dict__["__mro__"].__get__
subtype_of = type.__dict__["__subclasscheck__"]
namespace_of = type.__dict__["__dict__"].__get__
dict_of = object.__getattribute__

NATIVE_DESCRIPTORS = frozenset(
    (
        BuiltinFunctionType,
        ClassMethodDescriptorType,
        GetSetDescriptorType,
        MemberDescriptorType,
        MethodDescriptorType,
        WrapperDescriptorType,
    )
)

_known: dict = {}
"""id of a type -> (weak reference, {name: verdict}); stale verdicts only make the machine run something natively."""


def lookup(kind, name):
    """What the classes of ``kind`` in order of resolution hold under ``name``, or NULL: no descriptor is asked."""
    for base in mro_of(kind) or ready(kind):
        space = namespace_of(base)
        if name in space:
            return space[name]
    return NULL


def ready(kind):
    """The order of resolution of a static type that nobody has asked for an attribute yet, which makes it complete."""
    getattr(kind, "__doc__", None)
    return mro_of(kind)


def derives(kind, base):
    """Is ``base`` in the order of resolution of ``kind``? No metaclass is asked.

    ``derives(type(obj), base)`` is how C asks for an object's type: unlike ``isinstance`` it reads no ``__class__``.
    Where ``base`` is a builtin class, ``issubclass`` is as good.
    """
    return subtype_of(base, kind)


def has(kind, name):
    """Do objects of this type have a special method? No metaclass is asked."""
    return lookup(kind, name) is not NULL


def verdicts(kind):
    """The memory of what is known about a type, dropped with the type."""
    key = id(kind)
    entry = _known.get(key)
    if entry is None:

        def forget(_, key=key):
            _known.pop(key, None)

        entry = _known[key] = (weakref.ref(kind, forget), {})
    return entry[1]


def special(kind, name):
    """The Python function that a type has as special method ``name``, or None where it is native or absent."""
    entry = _known.get(id(kind))
    if entry is not None and name in entry[1]:
        return None
    found = lookup(kind, name)
    if type(found) is FunctionType:
        return found
    verdicts(kind)[name] = False
    return None


def tells_own_class(kind):
    """Is the ``__class__`` of instances of ``kind`` nothing but their type?"""
    known = verdicts(kind)
    answer = known.get(OWN_CLASS)
    if answer is None:
        answer = known[OWN_CLASS] = lookup(kind, "__class__") is _class_slot
    return answer


OWN_CLASS = ("tells its own class",)
_class_slot = object.__dict__["__class__"]


class Host:
    """Base of our own classes whose objects native code handles: their special methods run natively, as if in C."""

    __slots__ = ()

    def __init_subclass__(cls):
        known = verdicts(cls)
        for base in mro_of(cls):
            known.update(dict.fromkeys(namespace_of(base), False))
