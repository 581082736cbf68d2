"""Items, iteration, membership and comparison, where a builtin container may be an outside one.

A read of an outside container guards what was asked (a key, a length) or, where native code may look at all of it, the
whole of it. Its items then have sources, so that they can go through any native code and still be known by their
identity. Writes are done at once and noted for the epilogue.
"""

from __future__ import annotations

import collections
import operator
import types

import torch

from interpreter.recording import guards, sources
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.recording.trace import MISSING, SEQUENCES, Outside, is_constant
from interpreter.vm.lookups import Host, derives, special
from interpreter.vm.machine import Machine
from interpreter.vm.operators import BINARY

CONTAINERS = (list, dict, tuple, set, frozenset, collections.deque, types.MappingProxyType)
DICTS = (dict, collections.OrderedDict)
IN_PLACE = {
    "+=": operator.iadd,
    "*=": operator.imul,
    "|=": operator.ior,
    "&=": operator.iand,
    "-=": operator.isub,
    "^=": operator.ixor,
}
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    **IN_PLACE,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}
COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
CONSUMING = {
    "extend",
    "extendleft",
    "update",
    "iadd",
    "ior",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
}
COMPARE_NAMES = {"==": ("__eq__",), "!=": ("__ne__", "__eq__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"),
                 ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__")}
UNARY_NAMES = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
HEAP = 1 << 9
HASHED = (dict, set, frozenset, types.MappingProxyType)
PLAIN = (int, float, bool, str, bytes, type(None))


class Containers(Machine):
    """The part of the recording machine that deals with containers and operators."""

    def entry_of(self, obj) -> Outside | None:
        """The entry of an outside builtin container, while recording."""
        trace = self.trace
        entry = trace.outside.get(id(obj))
        return entry if entry is not None and trace.ended is None and isinstance(obj, CONTAINERS) else None

    def see(self, value, depth: int = 0):
        """Native code is going to look at `value`: guard outside containers in it, pin traced numbers. Returns what to
        pass.
        """
        kind = type(value)
        if kind in CONSTANT_KINDS:
            return value
        if kind in TRACED:
            return pin(value)
        if isinstance(value, CONTAINERS):
            entry = self.trace.outside.get(id(value))
            if entry is not None:
                self.trace.read_all(entry)
            if depth < 8:
                items = dict.values(value) if isinstance(value, dict) else value
                for item in list(items):
                    if type(item) not in PLAIN and (isinstance(item, CONTAINERS) or type(item) in TRACED):
                        self.see(item, depth + 1)
        elif kind is slice:
            return slice(self.see(value.start), self.see(value.stop), self.see(value.step))
        elif self.trace.unguarded:
            self.trace.look(value)
        return value

    # Items

    def get_item(self, obj, key):
        trace = self.trace
        if trace.ended is not None:
            return super().get_item(obj, plain(key))
        kind = type(obj)
        if isinstance(obj, torch.Tensor):
            return obj[key]
        if kind is torch.Size:
            if type(key) in TRACED:
                key = pin(key)
            return obj[key]
        entry = trace.outside.get(id(obj))
        key = self.see(key) if type(key) is slice else pin(key)
        if type(key) not in CONSTANT_KINDS:
            self.note_hashed(obj, key)
        if entry is None or (kind.__flags__ & HEAP and special(kind, "__getitem__") is not None):
            return super().get_item(obj, key)
        if kind in DICTS:
            value = trace.read_key(entry, key) if is_constant(key) else self.keyed(entry, key)
            return obj[key] if value is MISSING else value
        if isinstance(obj, dict) and (hook := special(kind, "__missing__")) is not None:
            self.lookup(kind, "__missing__")
            value = trace.read_key(entry, key) if is_constant(key) else self.keyed(entry, key)
            return self.call(hook, (obj, key), None) if value is MISSING else value
        if isinstance(obj, collections.defaultdict):
            return self.default_item(entry, key)
        if kind is tuple or isinstance(obj, SEQUENCES):
            if type(key) is int and kind in (list, tuple):
                return trace.read_index(entry, key)
            trace.read_all(entry)
            if type(key) is not slice and kind in (list, tuple):
                key = operator.index(key) if hasattr(key, "__index__") and not isinstance(key, torch.Tensor) else key
            return obj[key]
        if isinstance(obj, (dict, types.MappingProxyType)):
            value = trace.read_key(entry, key) if is_constant(key) else self.keyed(entry, key)
            return obj[key] if value is MISSING else value
        if (not kind.__flags__ & HEAP or id(obj) in trace.unguarded) and not isinstance(obj, type):
            self.see(key)
            return trace.read(obj[key], sources.Item(entry.source, key))
        return super().get_item(obj, key)

    def note_hashed(self, container, key):
        """A dict or set is asked for, or given, a key that is no constant. Where it is told by identity the program
        depends on which outside objects are one; where it is told by `__hash__` and `__eq__` in Python, on what these
        read: they are interpreted for that."""
        trace = self.trace
        if trace.ended is not None or not isinstance(container, HASHED):
            return
        if type(key) is tuple:
            for part in key:
                if type(part) not in CONSTANT_KINDS:
                    self.note_hashed(container, part)
            return
        kind = type(key)
        hasher = special(kind, "__hash__") if kind.__flags__ & HEAP else None
        if hasher is None:
            entry = trace.outside.get(id(key))
            if entry is not None and not isinstance(entry.source, sources.Pinned):
                trace.asked_distinct[id(key)] = entry
            return
        self.note_special(kind, "__hash__", "__eq__")
        self.invoke(hasher, key)
        equal = special(kind, "__eq__")
        if equal is not None:
            for other in list(container):
                if other is not key and type(other) is kind and hash(other) == hash(key):
                    self.invoke(equal, other, key)

    def keyed(self, entry, key):
        """An outside dict asked for a key that isn't a constant: found by identity or by hash, so the whole is
        guarded.
        """
        trace = self.trace
        trace.read_all(entry)
        asked = trace.outside.get(id(key))
        if (
            asked is not None
            and not isinstance(asked.source, sources.Pinned)
            and special(type(key), "__hash__") is None
        ):
            trace.guard(guards.Identity(asked.source, key))
        return entry.value.get(key, MISSING)

    def default_item(self, entry, key):
        trace = self.trace
        value = trace.read_key(entry, key)
        if value is not MISSING:
            return value
        factory = trace.read(entry.value.default_factory, sources.Attribute(entry.source, "default_factory"))
        if factory is None:
            return entry.value[key]
        made = self.invoke(factory)
        self.write_item(entry, key, made)
        return made

    def set_item(self, obj, key, value):
        trace = self.trace
        if trace.ended is not None:
            return super().set_item(obj, plain(key), plain(value))
        if isinstance(obj, torch.Tensor):
            obj[key] = value
            return None
        entry = self.entry_of(obj)
        key = pin(key)
        if type(key) not in CONSTANT_KINDS:
            self.note_hashed(obj, key)
        kind = type(obj)
        if entry is None or kind.__flags__ & HEAP and special(kind, "__setitem__") is not None:
            return super().set_item(obj, key, value)
        return self.write_item(entry, key, value)

    def write_item(self, entry, key, value):
        trace = self.trace
        obj = entry.value
        if not isinstance(obj, dict):
            if type(key) is slice and hasattr(type(value), "__next__"):
                value = list(value)
            self.see(value if type(key) is slice else None)
            trace.read_all(entry)
        trace.before_write(entry)
        operator.setitem(obj, key, value)  # a traced number stays one until the call ends
        if isinstance(obj, dict):
            entry.known[key] = value
            entry.written.add(key)
            entry.known.pop(("present", key), None)
        else:
            entry.known.clear()
        trace.write(operator.setitem, (obj, key, value), f"{entry.source}[{key!r}] =")

    def delete_item(self, obj, key):
        trace = self.trace
        entry = self.entry_of(obj)
        key = pin(key)
        if type(key) not in CONSTANT_KINDS:
            self.note_hashed(obj, key)
        kind = type(obj)
        if entry is None or kind.__flags__ & HEAP and special(kind, "__delitem__") is not None:
            return super().delete_item(obj, key)
        if isinstance(obj, dict) and is_constant(key):
            trace.read_key(entry, key)
        else:
            trace.read_all(entry)
        trace.before_write(entry)
        operator.delitem(obj, key)
        if isinstance(obj, dict):
            entry.known[key] = MISSING
            entry.written.add(key)
            entry.known.pop(("present", key), None)
        else:
            entry.known.clear()
        trace.write(operator.delitem, (obj, key), f"del {entry.source}[{key!r}]")
        return None

    # Iteration

    def iterate(self, obj):
        trace = self.trace
        if trace.ended is not None:
            return super().iterate(obj)
        if isinstance(obj, torch.Tensor):
            return iter(obj)
        entry = trace.outside.get(id(obj))
        if entry is not None and not (type(obj).__flags__ & HEAP and special(type(obj), "__iter__") is not None):
            if isinstance(obj, CONTAINERS):
                trace.read_all(entry)
            elif not isinstance(obj, type) and self.steps_natively(obj):
                trace.end(f"{entry.source} is an iterator that existed before the call ({type(obj).__name__})")
        return super().iterate(obj)

    def advance(self, iterator):
        trace = self.trace
        if trace.ended is None and id(iterator) in trace.outside and self.steps_natively(iterator):
            trace.end(
                f"{trace.outside[id(iterator)].source} is an iterator that existed before the call "
                f"({type(iterator).__name__})"
            )
        return super().advance(iterator)

    def steps_natively(self, iterator) -> bool:
        return not type(iterator).__flags__ & (1 << 9)

    def unpack(self, iterable):
        trace = self.trace
        if trace.ended is None:
            if isinstance(iterable, torch.Tensor):
                return [*iterable]
            entry = trace.outside.get(id(iterable))
            if entry is not None and type(iterable) in (list, tuple) and not entry.touched:
                trace.read_length(entry)
                return [trace.read_index(entry, i) for i in range(len(iterable))]
            if entry is not None and isinstance(iterable, CONTAINERS):
                trace.read_all(entry)
            self.note_special(type(iterable), "__iter__", "__getitem__")
        return super().unpack(iterable)

    def unpack_mapping(self, mapping):
        entry = self.entry_of(mapping)
        if entry is not None:
            self.trace.read_all(entry)
        return super().unpack_mapping(mapping)

    # Questions

    def contains(self, item, container):
        trace = self.trace
        entry = self.entry_of(container)
        if trace.ended is None and type(item) not in CONSTANT_KINDS:
            self.note_hashed(container, pin(item) if isinstance(container, HASHED) else item)
        if (
            entry is not None
            and type(container).__flags__ & HEAP
            and special(type(container), "__contains__") is not None
        ):
            return super().contains(item, container)
        if entry is not None:
            if isinstance(container, HASHED) and is_constant(item):
                return trace.read_present(entry, item)
            trace.read_all(entry)
            self.ask_identities(item, container)
            asked = trace.outside.get(id(item))
            if (
                asked is not None
                and isinstance(container, HASHED)
                and not isinstance(asked.source, sources.Pinned)
                and special(type(item), "__hash__") is None
            ):
                trace.guard(guards.Identity(asked.source, item))
            if type(item) in TRACED:
                item = pin(item)
        elif trace.ended is None and isinstance(container, CONTAINERS):
            self.ask_identities(item, container)
        return super().contains(item, container)

    def ask_identities(self, item, container):
        """Membership of an outside object that is told by identity depends on which outside objects are one."""
        trace = self.trace
        entry = trace.outside.get(id(item))
        if entry is None:
            return
        for other in list(container):
            if other is not item:
                found = trace.outside.get(id(other))
                if found is not None:
                    trace.different(entry, found)

    def identical(self, a, b):
        if a is b:
            return True
        trace = self.trace
        if a is None or b is None or trace.ended is not None:
            return False
        if type(a) in TRACED or type(b) in TRACED:
            return pin(a) is pin(b)  # small ints are one object
        first = trace.outside.get(id(a))
        second = trace.outside.get(id(b))
        if first is not None and second is not None:
            trace.different(first, second)
        return False

    def truth(self, value):
        trace = self.trace
        if isinstance(value, torch.Tensor):
            return bool(value)
        entry = self.entry_of(value)
        if entry is not None and not (
            type(value).__flags__ & HEAP and (special(type(value), "__bool__") or special(type(value), "__len__"))
        ):
            trace.read_truth(entry)
            return bool(value)
        if type(value) in TRACED:
            return bool(value)
        return super().truth(value)

    # Operators

    def binary(self, symbol, a, b):
        trace = self.trace
        first, second = type(a), type(b)
        if first in PLAIN and second in PLAIN:
            return OPERATORS[symbol](a, b)
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            return OPERATORS[symbol](a, b)
        if first in TRACED or second in TRACED:
            if isinstance(a, (int, float)) and isinstance(b, (int, float)):
                return OPERATORS[symbol](a, b)
            return super().binary(symbol, pin(a), pin(b))
        if trace.ended is None:
            if first in (str, bytes) and symbol in ("%", "%="):
                self.see(b)
                self.pin_sizes(b)
            if (first.__flags__ | second.__flags__) & HEAP:
                names = [name for name in BINARY[symbol][1] if name is not None]
                self.note_special(first, *names)
                self.note_special(second, *names)
            entry = self.entry_of(a)
            if entry is not None and symbol in IN_PLACE and hasattr(first, BINARY[symbol][1][0]) and not (
                    first.__flags__ & HEAP and special(first, BINARY[symbol][1][0])):
                self.see(b)
                return self.write_whole(entry, IN_PLACE[symbol], b)
            if entry is not None:
                trace.read_all(entry)
            entry = self.entry_of(b)
            if entry is not None:
                trace.read_all(entry)
        return super().binary(symbol, a, b)

    def write_whole(self, entry, function, *arguments):
        """A native function that writes an outside container, whatever of it."""
        trace = self.trace
        trace.before_write(entry)
        name = getattr(function, "__name__", str(function))
        if name.strip("_") in CONSUMING and any(map(stepped, arguments)):
            return self.write_consumed(entry, function, *arguments)
        result = function(entry.value, *arguments)
        if entry.known and not entry.whole:
            trace.read_all(entry)
        entry.known.clear()
        entry.written.add("whole")
        written = function, (entry.value, *arguments)
        if name == "sort" and any(map(callable, arguments)):  # by a key of this very call: what it came to is written
            written = operator.setitem, (entry.value, slice(None), list(entry.value))
        trace.write(*written, f"{entry.source}.{name}()")
        return result

    def write_consumed(self, entry, function, *arguments):
        """A write from iterators: what they give is written; what they raise after some items comes after these are
        written.
        """
        lists, error = [], None
        for value in arguments:
            if not stepped(value):
                lists.append(value)
                continue
            lists.append([])
            try:
                lists[-1].extend(((key, value[key]) for key in value.keys()) if hasattr(value, "keys") else value)  # noqa: SIM118
            except Exception as raised:
                error = raised
                break
        result = self.write_whole(entry, function, *lists)
        if error is not None:
            raise error
        return result

    def compare(self, symbol, a, b):
        trace = self.trace
        if type(a) in PLAIN and type(b) in PLAIN:
            return COMPARE[symbol](a, b)
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor) or type(a) in TRACED or type(b) in TRACED:
            if trace.ended is None:
                for side in (a, b):
                    if isinstance(side, CONTAINERS):
                        self.see(side)
            return COMPARE[symbol](a, b)
        if trace.ended is None:
            for side in (a, b):
                if isinstance(side, CONTAINERS):
                    self.see(side)
            self.note_compared(a, COMPARE_NAMES[symbol])
            self.note_compared(b, COMPARE_NAMES[symbol])
            if (
                a is not b
                and (first := trace.outside.get(id(a))) is not None
                and (second := trace.outside.get(id(b))) is not None
                and not (isinstance(a, CONTAINERS) or isinstance(b, CONTAINERS))
            ):
                trace.different(first, second)
        return super().compare(symbol, a, b)

    def note_compared(self, value, names, depth=0):
        """Native code is going to ask a value, or the items of a container, for special methods: these, or their
        absence, are guarded.
        """
        kind = type(value)
        if kind.__flags__ & HEAP and not isinstance(value, torch.Tensor):
            self.note_special(kind, *names)
        elif depth < 3 and isinstance(value, CONTAINERS):
            for item in list(value.values() if kind is dict else value):
                if type(item) not in PLAIN:
                    self.note_compared(item, names, depth + 1)

    def unary(self, symbol, a):
        if isinstance(a, torch.Tensor) or type(a) in TRACED:
            if symbol in UNARY:
                return UNARY[symbol](a)
            return not self.truth(a)
        if symbol in UNARY_NAMES:
            self.note_special(type(a), UNARY_NAMES[symbol])
        return super().unary(symbol, a)

    def pin_sizes(self, value):
        """Native code is going to show a value: the sizes in it are fixed."""
        if isinstance(value, tuple):
            for item in tuple.__iter__(value):
                pin(item) if type(item) in TRACED else self.pin_sizes(item)

    def format_value(self, value, *rest):
        trace = self.trace
        if trace.ended is None:
            value = self.see(value)
            self.pin_sizes(value)
            self.note_compared(value, ("__format__", "__str__", "__repr__"))
        return super().format_value(plain(value), *rest)


def stepped(value) -> bool:
    """Something that gives items once, or steps a user's iterable in the machine: only what it gave can be written
    again.
    """
    return hasattr(type(value), "__next__") or derives(type(value), Host)
