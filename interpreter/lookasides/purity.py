"""What a callable written in C does to the world, so that a recording knows what a native call means.

Four kinds:

* ``pure``: the result depends on the values of the arguments alone; nothing is written, nothing of the arguments is
  kept but in the result, and no hidden state (clock, random numbers, files, addresses) has a part in it;
* ``reads``: the same, but arguments may be containers (or objects) whose content is read, now or while the result is
  used;
* ``writes``: changes one of its arguments, and is otherwise as ``reads``. ``argument`` says which; ``needs_old``
  whether the result, an exception, or the course of the call depends on what that argument held before;
* ``opaque``: anything else, and everything that is not listed.

Python code that such a call runs (an element's ``__eq__``, a callback) is no part of its kind: what that does is seen
when it is interpreted.

The table is made by walking types and modules and applying the rules below to what is found, so a function that a new
Python version adds is ``opaque`` until a rule names it or its whole type.
"""
from __future__ import annotations

import _sre
import builtins
import collections
import functools
import itertools
import math
import operator
import re
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from interpreter.lookasides.registry import unbound


@dataclass(frozen=True, slots=True)
class Effect:
    """``kind``, the reason, and for writers the position of what is written and whether its old content matters."""

    kind: str
    why: str
    argument: int | None = None
    needs_old: bool = False


PURE = Effect("pure", "depends on its arguments' values alone")
READS = Effect("reads", "reads the content of its arguments")
OPAQUE = Effect("opaque", "not known to be pure")


def writes(why: str, argument: int = 0, *, needs_old: bool) -> Effect:
    return Effect("writes", why, argument, needs_old)


BLIND = writes("changes its first argument, whatever that held", needs_old=False)
SEEING = writes("changes its first argument, and depends on what that held", needs_old=True)
STEPS = writes("steps its iterator", needs_old=True)

# Values whose every method is pure: they hold no other objects and never change.
ATOMS = (int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice)

# Containers: a method that is in neither column only reads.
CONTAINERS: dict[type, tuple[str, str]] = {  # type: (writes blindly, writes and depends on the old content)
    list: ("append extend insert clear reverse __iadd__ __imul__ __init__", "pop remove sort __setitem__ __delitem__"),
    tuple: ("", ""),
    dict: ("clear update __ior__ __setitem__ __init__", "pop popitem setdefault __delitem__"),
    set: (("add clear discard update difference_update intersection_update symmetric_difference_update "
           "__iand__ __ior__ __isub__ __ixor__ __init__"), "pop remove"),
    frozenset: ("", ""),
    bytearray: ("append extend insert clear reverse __iadd__ __imul__ __init__", "pop remove __setitem__ __delitem__"),
    collections.deque: ("append appendleft extend extendleft clear reverse rotate __iadd__ __imul__ __init__",
                        "pop popleft remove insert __setitem__ __delitem__"),
    collections.defaultdict: ("__init__ __ior__", "__missing__"),
    collections.OrderedDict: ("clear update __ior__ __setitem__ __init__",
                              "pop popitem setdefault __delitem__ move_to_end"),
    types.MappingProxyType: ("", ""),
    types.SimpleNamespace: ("__init__", ""),
    types.GenericAlias: ("", ""),
    types.UnionType: ("", ""),
    types.MethodType: ("", ""),
    type({}.keys()): ("", ""),
    type({}.values()): ("", ""),
    type({}.items()): ("", ""),
    type(collections.OrderedDict().keys()): ("", ""),
    type(collections.OrderedDict().values()): ("", ""),
    type(collections.OrderedDict().items()): ("", ""),
    functools.partial: ("", ""),
    operator.itemgetter: ("", ""),
    operator.attrgetter: ("", ""),
    property: ("", "__set__ __delete__"),
    classmethod: ("", ""),
    staticmethod: ("", ""),
    re.Pattern: ("", ""),
    re.Match: ("", ""),
    weakref.ref: ("", ""),
}

# What methods of these names do, whatever the column that they are in.
EVERYWHERE = {
    "__setstate__": BLIND,
    "__class_getitem__": PURE,
    "__sizeof__": Effect("opaque", "tells memory, which depends on how the object came to be, not on what it holds"),
}

PURE_BUILTINS = "abs bin callable chr divmod hex oct ord pow round"
READING_BUILTINS = ("all any ascii compile dir format getattr hasattr hash isinstance issubclass iter len max min repr "
                    "reversed sorted sum")
PURE_CLASSES = "bool complex float int object range slice"
READING_CLASSES = ("bytearray bytes dict enumerate filter frozenset list map memoryview property classmethod "
                   "staticmethod reversed set str super tuple zip")
WRITING_BUILTINS = {
    "setattr": BLIND, "delattr": SEEING, "next": STEPS, "aiter": READS, "anext": STEPS,
}
OPAQUE_BUILTINS = {
    "__build_class__": "runs a class body",
    "__import__": "runs modules and fills sys.modules",
    "breakpoint": "starts a debugger",
    "eval": "runs code", "exec": "runs code",
    "globals": "looks at the caller's frame", "locals": "looks at the caller's frame",
    "vars": "may look at the caller's frame",
    "id": "an address",
    "input": "reads standard input", "open": "opens a file", "print": "writes to a file",
    "type": "may make a class, which runs hooks of its bases and metaclass",
}

OPERATOR_WRITERS = {"setitem": SEEING, "delitem": SEEING} | dict.fromkeys(
    "iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor".split(),
    writes("changes its first argument where that is mutable", needs_old=True))
OPERATOR_OPAQUE = {"call": "calls its argument"}
MATH_READERS = "dist fsum gcd hypot lcm prod sumprod"
FUNCTOOLS = {"reduce": READS, "cmp_to_key": PURE, "partial": READS}


def iterator_types() -> list[type]:
    """The types of the iterators that builtin containers, views and itertools give."""
    ordered = collections.OrderedDict()
    both_ways: list[Any] = [[], (), {}, {}.keys(), {}.values(), {}.items(), collections.deque(),
                            ordered, ordered.keys(), ordered.values(), ordered.items()]
    forward: list[Any] = [set(), frozenset(), "", "é", b"", bytearray(), range(0), range(1 << 70)]
    found = [type(iter(each)) for each in both_ways + forward] + [type(reversed(each)) for each in both_ways]
    found += [zip, map, filter, enumerate, reversed, type(iter(int, 1)), type(itertools.tee([])[0]),
              type(iter(type("", (), {"__getitem__": None})())),
              itertools._grouper, type(re.finditer("", ""))]  # type: ignore[attr-defined]
    found += [each for each in vars(itertools).values() if isinstance(each, type)]
    return list(dict.fromkeys(found))


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """(name, callable) of the methods in a class's own dictionary: descriptors, class and static methods."""
    for name, member in list(vars(kind).items()):
        if isinstance(member, types.MethodDescriptorType | types.WrapperDescriptorType | types.BuiltinFunctionType):
            yield name, member
        elif isinstance(member, types.ClassMethodDescriptorType | staticmethod):
            yield name, member
            yield name, getattr(kind, name)


def container_effects() -> Iterator[tuple[Any, Effect]]:
    for kind, (blind, seeing) in CONTAINERS.items():
        columns = dict.fromkeys(blind.split(), BLIND) | dict.fromkeys(seeing.split(), SEEING)
        for name, method in methods(kind):
            yield method, EVERYWHERE.get(name) or columns.get(name, READS)


def atom_effects() -> Iterator[tuple[Any, Effect]]:
    for kind in ATOMS:
        for name, method in methods(kind):
            yield method, EVERYWHERE.get(name, READS if name == "join" else PURE)


def iterator_effects() -> Iterator[tuple[Any, Effect]]:
    for kind in iterator_types():
        for name, method in methods(kind):
            yield method, STEPS if name == "__next__" else EVERYWHERE.get(name, READS)


OBJECT = {
    "__reduce__": "reports how to make any object again, through copyreg and the class",
    "__reduce_ex__": "reports how to make any object again, through copyreg and the class",
    "__sizeof__": "tells memory",
}


def object_effects() -> Iterator[tuple[Any, Effect]]:
    """What every class inherits from object and type, and exceptions from BaseException."""
    reading = "__getattribute__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __str__ __format__ __dir__ __subclasshook__"
    for name, method in methods(object):
        if name in reading.split():
            yield method, READS
        elif name in ("__setattr__", "__delattr__"):
            yield method, BLIND if name == "__setattr__" else SEEING
        elif name in ("__init__", "__new__", "__init_subclass__"):
            yield method, PURE
        else:
            yield method, Effect("opaque", OBJECT.get(name, "depends on an address"))
    for name in "__getattribute__ __instancecheck__ __subclasscheck__ mro __dir__ __or__ __ror__ __repr__".split():
        yield vars(type)[name], READS
    yield type.__setattr__, BLIND
    yield type.__delattr__, SEEING
    for kind in vars(builtins).values():
        if isinstance(kind, type) and issubclass(kind, BaseException):
            yield kind, READS
            for name, method in methods(kind):
                writer = name in ("__init__", "add_note", "with_traceback", "__setattr__", "__delattr__")
                yield method, EVERYWHERE.get(name) or (BLIND if writer else READS)


def named(module: Any, names: str | Iterable[str], effect: Effect) -> Iterator[tuple[Any, Effect]]:
    """The effect for each of the names that this Python version has."""
    for name in names.split() if isinstance(names, str) else names:
        if hasattr(module, name):
            yield getattr(module, name), effect


NO_INSTANCES = 1 << 7  # Py_TPFLAGS_DISALLOW_INSTANTIATION
SINGLETONS = (type(None), type(...), type(NotImplemented))


def function_effects() -> Iterator[tuple[Any, Effect]]:
    for name, member in vars(operator).items():
        if isinstance(member, types.BuiltinFunctionType):
            special = {name: Effect("opaque", why) for name, why in OPERATOR_OPAQUE.items()} | OPERATOR_WRITERS
            yield member, special.get(name.strip("_"), READS)
    yield from named(builtins, PURE_BUILTINS + " " + PURE_CLASSES, PURE)
    yield from named(builtins, READING_BUILTINS + " " + READING_CLASSES, READS)
    for table in (WRITING_BUILTINS, {name: Effect("opaque", why) for name, why in OPAQUE_BUILTINS.items()}):
        for name, effect in table.items():
            yield from named(builtins, [name], effect)
    for name, member in vars(math).items():
        if isinstance(member, types.BuiltinFunctionType):
            yield member, READS if name in MATH_READERS.split() else PURE
    for kind in (operator.itemgetter, operator.attrgetter, operator.methodcaller):
        yield kind, READS
    yield operator.methodcaller.__call__, Effect("opaque", "calls a method")  # type: ignore[operator]
    yield functools.partial.__call__, Effect("opaque", "calls its function")  # type: ignore[operator]
    yield sys.intern, PURE
    yield _sre.compile, READS  # what re.compile comes to
    for name, effect in FUNCTOOLS.items():
        yield getattr(functools, name), effect
    for name, member in vars(itertools).items():
        if callable(member) and not name.startswith("_"):
            yield member, PURE if name in ("count", "repeat") else READS
    yield from named(collections, "deque defaultdict OrderedDict _tuplegetter", READS)
    yield collections._count_elements, SEEING  # type: ignore[attr-defined]
    yield from named(types, "MappingProxyType SimpleNamespace GenericAlias MethodType ModuleType FunctionType CodeType "
                            "CellType TracebackType", READS)
    for kind in (*vars(types).values(), type(None), type(...), type(NotImplemented)):
        if isinstance(kind, type) and kind.__flags__ & NO_INSTANCES or kind in SINGLETONS:
            yield kind, PURE  # calling it raises TypeError, or gives the one instance


@functools.cache
def table() -> dict[Any, Effect]:
    """``{callable: Effect}`` for everything that is known; what is yielded later is the more special rule."""
    found: dict[Any, Effect] = {}
    for part in (atom_effects, container_effects, iterator_effects, object_effects, function_effects):
        found.update(part())
    return found


def effect(target: Any) -> Effect:
    """The Effect of a callable; of a bound method of a C type, its descriptor's. ``opaque`` for what is not known."""
    try:
        return table().get(unbound(target), OPAQUE)
    except TypeError:  # can't be hashed
        return OPAQUE


def effect_of(target: Any) -> str:
    """``"pure"``, ``"reads"``, ``"writes"`` or ``"opaque"``."""
    return effect(target).kind


def is_pure(target: Any) -> bool:
    """True where the result depends on the arguments' values alone and nothing is written (``pure`` or ``reads``)."""
    return effect_of(target) in ("pure", "reads")
