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
from interpreter.recording.outside import MISSING, SEQUENCES, Outside, hashed_in_python, is_constant
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.vm.lookups import HEAP_TYPE, special
from interpreter.vm.machine import Machine

CONTAINERS = (list, dict, tuple, set, frozenset, collections.deque, types.MappingProxyType)
DICTS = (dict, collections.OrderedDict)
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
        if entry is None or (kind.__flags__ & HEAP_TYPE and special(kind, "__getitem__") is not None):
            return super().get_item(obj, key)
        if kind in DICTS:
            value = self.item_of(entry, key)
            return missed(obj, key) if value is MISSING else value
        if isinstance(obj, dict) and (hook := special(kind, "__missing__")) is not None:
            self.lookup(kind, "__missing__")
            value = self.item_of(entry, key)
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
            value = self.item_of(entry, key)
            return missed(obj, key) if value is MISSING else value
        if (not kind.__flags__ & HEAP_TYPE or id(obj) in trace.unguarded) and not isinstance(obj, type):
            self.see(key)
            return trace.read(obj[key], sources.Item(entry.source, key))
        return super().get_item(obj, key)

    def note_hashed(self, container, key):
        """A dict or set is asked for, or given, a key that is no constant. Where it is told by identity the program
        depends on which outside objects are one, and where it is told by `__hash__` and `__eq__` in Python, also on
        what these read: native code is led into the machine for that."""
        trace = self.trace
        if trace.ended is not None or not isinstance(container, HASHED):
            return
        if type(key) is tuple:
            for part in key:
                if type(part) not in CONSTANT_KINDS:
                    self.note_hashed(container, part)
            return
        kind = type(key)
        entry = trace.outside.get(id(key))
        if entry is not None and not isinstance(entry.source, sources.Pinned):
            trace.asked_distinct[id(key)] = entry
        if hashed_in_python(key):
            self.note_special(kind, "__hash__", "__eq__")

    def item_of(self, entry, key):
        """What an outside dict has under a key, or MISSING."""
        if is_constant(key) and not self.has_hooked_keys(entry.value):
            return self.trace.read_key(entry, key)
        return self.keyed(entry, key)

    def keyed(self, entry, key):
        """An outside dict asked for a key that isn't a constant, or in which Python code compares the keys: found by
        identity or by hash, so the whole is guarded.
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
        value = self.item_of(entry, key)
        if value is not MISSING:
            return value
        factory = self.get_attribute(entry.value, "default_factory")
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
        if entry is None or kind.__flags__ & HEAP_TYPE and special(kind, "__setitem__") is not None:
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
            note_item(trace, entry, key, value)
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
        if entry is None or kind.__flags__ & HEAP_TYPE and special(kind, "__delitem__") is not None:
            return super().delete_item(obj, key)
        if isinstance(obj, dict) and is_constant(key):
            trace.read_key(entry, key)
        else:
            trace.read_all(entry)
        trace.before_write(entry)
        operator.delitem(obj, key)
        if isinstance(obj, dict):
            note_item(trace, entry, key, MISSING)
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
        if entry is not None and not (type(obj).__flags__ & HEAP_TYPE and special(type(obj), "__iter__") is not None):
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
        return not type(iterator).__flags__ & HEAP_TYPE

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

    def extend(self, target, iterable):
        kind = type(iterable)
        asks = kind.__flags__ & HEAP_TYPE and (special(kind, "__len__") or special(kind, "__length_hint__"))
        if asks and self.trace.ended is None and not isinstance(iterable, torch.Tensor):
            self.invoke(list.extend, target, iterable)
        else:
            super().extend(target, iterable)

    def unpack_mapping(self, mapping):
        entry = self.entry_of(mapping)
        if entry is not None:
            self.trace.read_all(entry)
        return super().unpack_mapping(mapping)


def note_item(trace, entry, key, value):
    """What an outside dict holds under a key from now on. A key that is told by its own `__hash__` is not asked again
    for that: all of the dict is noted as written."""
    if hashed_in_python(key):
        trace.read_all(entry)
        entry.known.clear()
        entry.written.add("whole")
        return
    entry.known[key] = value
    entry.written.add(key)


def missed(mapping, key):
    """The error of a mapping that has not the key. A dict is not asked for it again."""
    if isinstance(mapping, dict):
        raise KeyError(key)
    return mapping[key]
