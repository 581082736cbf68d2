"""How the language looks up attributes of types, without running any code of the user.

What is found out about a type is remembered until the type changes: until it has another version, which CPython counts
for its own memory of what types hold.
"""

import weakref
from ctypes import c_uint, c_void_p, sizeof
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
type_get = type.__getattribute__
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

UNCHANGING = 1 << 8
"""Type flag: no attribute of the class can be set."""
_TAG = object.__basicsize__ + 46 * sizeof(c_void_p)
"""Where ``tp_version_tag`` lies in a type; it is 0 from a change of the type, or of a base, to the next look-up."""
_known: dict = {}
"""id of a type -> Known."""


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


class Fixed:
    """The version of what never changes."""

    value = 0


class Known:
    """What is known about a type, by name, as long as ``tag`` is its version."""

    __slots__ = ("kind", "tag", "verdicts", "version")

    def __init__(self, kind, version):
        key = id(kind)
        self.kind = weakref.ref(kind, lambda _: _known.pop(key, None))
        self.version, self.tag, self.verdicts = version, version.value, {}

    def renew(self, kind):
        """Forget it all, as of another version. A type that has none is never known."""
        type_get(kind, "__subclasses__")  # a look-up, which gives it a version
        self.verdicts, self.tag = {}, self.version.value or None


def version_of(kind):
    """The version of a type: an object with a ``value``, for as long as the type is there."""
    return Fixed if flags_of(kind) & UNCHANGING else c_uint.from_address(id(kind) + _TAG)


def verdicts(kind):
    """The memory of what is known about a type, dropped when the type changes."""
    entry = _known.get(id(kind))
    if entry is None:
        entry = _known[id(kind)] = Known(kind, version_of(kind))
        if entry.version is Fixed:
            return entry.verdicts
    elif entry.version.value == entry.tag:
        return entry.verdicts
    entry.renew(kind)
    return entry.verdicts


def as_known(kind):
    """(version of a type, its value): what is found out of the type now holds as long as they agree."""
    verdicts(kind)
    entry = _known[id(kind)]
    return entry.version, entry.tag


def special(kind, name):
    """The Python function that a type has as special method ``name``, or None where it is native or absent."""
    entry = _known.get(id(kind))
    if entry is not None and name in entry.verdicts and entry.version.value == entry.tag:
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
        known = _known[id(cls)] = Known(cls, Fixed)
        for base in mro_of(cls):
            known.verdicts.update(dict.fromkeys(namespace_of(base), False))
