"""Can native code that handles these values come back into Python code?

Cheap questions for ``needed`` predicates. They ask no value anything that Python code could answer: types are read
through ``type``'s own descriptors, and told apart by identity.
"""
from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

from interpreter.lookasides.purity import effect_of
from interpreter.vm.lookups import HEAP_TYPE, Host, derives, flags_of, mro_of, ready, verdicts
from interpreter.vm.lookups import namespace_of as members_of

ATOMS = (int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range)
ATOM_IDS = frozenset(map(id, ATOMS))
CONTAINER_IDS = frozenset(map(id, (list, tuple, set, frozenset, collections.deque)))
MAPPING_IDS = frozenset(map(id, (dict, collections.OrderedDict)))
VIEW_IDS = frozenset(map(id, (type({}.keys()), type({}.values()))))
NATIVE_CALLABLES = frozenset(map(id, (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType)))
NATIVE_MEMBERS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
                  types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, type(None))
# Builtin containers and their own iterators, and iterators that go through others, which may be written in Python.
ITERABLE_IDS = ATOM_IDS | CONTAINER_IDS | MAPPING_IDS | VIEW_IDS | frozenset(map(id, (
    bytearray, type({}.items()), *(type(iter(each)) for each in (
        [], (), {}, {}.values(), {}.items(), set(), "", "\xe9", b"", bytearray(), range(0), collections.deque())))))
WRAPPER_IDS = frozenset(map(id, (
    types.GeneratorType, zip, map, filter, enumerate, reversed, type(iter(int, 1)), itertools._grouper,
    type(iter(type("", (), {"__getitem__": None})())), type(itertools.tee([])[0]),
    *(each for each in vars(itertools).values() if isinstance(each, type)))))
ITERATION = ("__iter__", "__next__", "__getitem__", "__len__", "__length_hint__")
HOLDERS = (list, tuple, dict, set, frozenset, collections.deque)
HOLDER_IDS = CONTAINER_IDS | MAPPING_IDS | VIEW_IDS
SETTLED_IDS = ATOM_IDS | CONTAINER_IDS | MAPPING_IDS
HOOKS = "?"  # the key under which answers of in_python are remembered with a type
EVERY = tuple(f"__{name}__" for name in (
    "eq ne lt le gt ge hash bool len iter next getitem contains add radd mul rmul sub rsub index int float str repr "
    "format abs round call getattr getattribute").split())


MISSING = object()


def find_special(kind: type, name: str) -> Any:
    """The member that the language finds for a special method: on the type, not the object; MISSING if there is none.

    None is a find: it says that the class can't be asked this.
    """
    for each in mro_of(kind) or ready(kind):
        members = members_of(each)
        if name in members:
            return members[name]
    return MISSING


def in_python(kind: type, name: str) -> bool:
    """Is this special method of the type written in Python (or a descriptor that may run Python)?

    What is found is remembered with the type. Our own classes count as native: the machine is not to look into itself.
    """
    if id(kind) in SETTLED_IDS:
        return False
    known = verdicts(kind)
    answers = known.get(HOOKS)
    if answers is None:
        answers = known[HOOKS] = {}
    answer = answers.get(name)
    if answer is None:
        member = find_special(kind, name)
        python = member is not MISSING and not issubclass(type(member), NATIVE_MEMBERS)
        answer = answers[name] = python and not ours(kind)
    return answer


def ours(kind: type) -> bool:
    """A class of the interpreter's own."""
    module = members_of(kind).get("__module__", "")
    return derives(kind, Host) or (isinstance(module, str) and module.startswith("interpreter."))


def has_hook(value: Any, *names: str) -> bool:
    """Is one of these special methods of a value written in Python?"""
    kind = type(value)
    if id(kind) in SETTLED_IDS:
        return False
    for name in names:
        if in_python(kind, name):
            return True
    return False


def atom(value: Any) -> bool:
    """An immutable builtin value that holds no other object."""
    return id(type(value)) in ATOM_IDS


def atoms(values: Any) -> bool:
    """Is this a builtin container of nothing but atoms, or a string or range?"""
    kind = id(type(values))
    if kind in CONTAINER_IDS or kind in VIEW_IDS:
        return ATOM_IDS.issuperset(map(id, map(type, values)))
    if kind in MAPPING_IDS:
        return ATOM_IDS.issuperset(map(id, map(type, (*dict.__iter__(values), *dict.values(values)))))
    return kind in ATOM_IDS


def holder(kind: type) -> type | None:
    """The builtin container that a type is or is derived from, or None."""
    if id(kind) in HOLDER_IDS:
        return kind
    for base in HOLDERS:
        if derives(kind, base):
            return base
    return None


def quiet(value: Any, names: tuple[str, ...], depth: int = 4) -> bool:
    """Has neither the value nor, where it is a container, anything in it one of these special methods in Python?"""
    kind = type(value)
    if id(kind) in ATOM_IDS or (id(kind) in CONTAINER_IDS and ATOM_IDS.issuperset(map(id, map(type, value)))):
        return True
    base = holder(kind)
    if base is None:
        return not any(in_python(kind, name) for name in names)
    if kind is not base and any(in_python(kind, name) for name in names):
        return False
    if issubclass(base, dict):  # an OrderedDict would look each key up, and ask it for its hash
        items = [*dict.__iter__(value), *dict.values(value)]
    else:
        items = [*base.__iter__(value)]
    kinds = {id(each): each for each in map(type, items)}
    if ATOM_IDS.issuperset(kinds):
        return True
    if all(holder(each) is None for each in kinds.values()):
        return not any(in_python(each, name) for each in kinds.values() for name in names)
    return depth > 0 and all(quiet(each, names, depth - 1) for each in items)


def plain(value: Any) -> bool:
    """An atom, or a builtin container of plain values: no special method of any of them is written in Python."""
    return id(type(value)) in ATOM_IDS or (holder(type(value)) is not None and quiet(value, EVERY))


def native(function: Any) -> bool:
    """A callable written in C that may be called out of sight: a builtin function, method or class that writes nothing,
    and reads nothing but its arguments. None counts as one."""
    kind = type(function)
    if function is None:
        return True
    if id(kind) in NATIVE_CALLABLES:
        owner = getattr(function, "__self__", None)
        if owner is not None and not atom(owner) and type(owner) not in (types.ModuleType, type):
            return False
    elif kind is not type or flags_of(function) & HEAP_TYPE:
        return False
    return effect_of(function) in ("pure", "reads")


def not_plain(args: Sequence, kwargs: dict | None) -> bool:
    """``needed`` of what looks into its arguments with their own special methods."""
    for each in args:
        if id(type(each)) not in ATOM_IDS and not plain(each):
            return True
    return any(not plain(each) for each in kwargs.values()) if kwargs else False


def any_hooked(*names: str) -> Callable[[Sequence, dict | None], bool]:
    """``needed`` of what asks any argument for these special methods."""

    def needed(args: Sequence, kwargs: dict | None) -> bool:
        for each in args:
            if id(type(each)) not in ATOM_IDS and has_hook(each, *names):
                return True
        return any(has_hook(each, *names) for each in kwargs.values()) if kwargs else False

    return needed


def iterated_natively(value: Any) -> bool:
    """Does going through this value, or asking its length, run no Python code? True too for what can't be iterated."""
    kind = type(value)
    if id(kind) in ITERABLE_IDS:
        return True
    if id(kind) in WRAPPER_IDS:
        return False
    return not any(in_python(kind, name) for name in ITERATION)


def elements_hooked(*names: str) -> Callable[[Sequence, dict | None], bool]:
    """``needed`` of what goes through its arguments and asks their elements for these special methods."""

    def hooked(value: Any) -> bool:
        kind = id(type(value))
        return kind not in ATOM_IDS and not (kind in HOLDER_IDS and quiet(value, names))

    def needed(args: Sequence, kwargs: dict | None) -> bool:
        for each in args:
            if hooked(each):
                return True
        return bool(kwargs) and any(map(hooked, kwargs.values()))

    return needed


def values_hooked(*names: str) -> Callable[[Sequence, dict | None], bool]:
    """``needed`` of what asks its arguments, and what builtin containers among them hold, for these special methods."""

    def needed(args: Sequence, kwargs: dict | None) -> bool:
        for each in args:
            if not quiet(each, names):
                return True
        return bool(kwargs) and not all(quiet(each, names) for each in kwargs.values())

    return needed
