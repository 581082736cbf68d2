"""Objects that existed before the call, and how they are told from each other."""

from __future__ import annotations

import collections
import enum
import types

from interpreter.recording import sources
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.vm.lookups import HEAP_TYPE, special

MISSING = type("Missing", (), {"__repr__": lambda self: "missing"})()
LIVE = type("Live", (), {"__repr__": lambda self: "asked again"})()
BY_IDENTITY = (
    types.FunctionType,
    types.BuiltinFunctionType,
    type,
    types.ModuleType,
    enum.Enum,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    property,
    staticmethod,
    classmethod,
    types.CodeType,
    types.ClassMethodDescriptorType,
)
SEQUENCES = (list, collections.deque)
SETS = (set, frozenset)


class Outside:
    """An object that existed before the call.

    `asked` holds what else is guarded of a container as it was: its length, its keys, whether it is empty or has a key.

    `known` maps a key (of a dict), or the name of a slot, to the value a read gives now; `written` holds those of them
    that this call has written; `original` is what a container held when it was first written; `whole` is set when all
    of it has been guarded.
    """

    __slots__ = ("asked", "known", "namespace", "original", "source", "value", "whole", "written")

    def __init__(self, value, source):
        self.value = value
        self.source = source
        self.known: dict = {}
        self.asked: dict = {}
        self.written: set = set()
        self.original = None
        self.whole = False
        self.namespace = None

    @property
    def touched(self):
        return self.original is not None or bool(self.written)


def all_constants(code):
    """The tuples among the constants of a code object, and of the code inside it."""
    for value in code.co_consts:
        if type(value) is tuple:
            yield value
        elif type(value) is types.CodeType:
            yield from all_constants(value)


def given(source) -> bool:
    """Whether a source starts at an argument."""
    while source.parent is not None:
        source = source.parent
    return isinstance(source, sources.Argument)


def is_constant(value) -> bool:
    """Whether a value is told by type and equality alone."""
    kind = type(value)
    return kind in CONSTANT_KINDS or (kind is tuple and all(map(is_constant, value)))


def hashed_in_python(key) -> bool:
    """Whether a dict that is asked for this key comes to a `__hash__` written in Python."""
    kind = type(key)
    if kind in CONSTANT_KINDS:
        return False
    if issubclass(kind, (tuple, frozenset)):
        return any(map(hashed_in_python, kind.__iter__(key)))
    return bool(kind.__flags__ & HEAP_TYPE) and special(kind, "__hash__") is not None


def snapshot(value):
    """A shallow copy of a builtin container, as a plain one. No key is asked for its hash."""
    if isinstance(value, collections.OrderedDict) and not any(map(hashed_in_python, dict.keys(value))):
        return dict(collections.OrderedDict.items(value))
    if isinstance(value, dict):
        return dict.copy(value)
    if isinstance(value, set):
        return list(value)
    return list(value)
