"""What a call reads of the objects that were there before it: each read is a guard, made once.

The table `outside` knows these objects by identity. An entry (`Outside`) holds the object's source and what of it has
been read so far; what is known already is not asked again.
"""

from __future__ import annotations

import collections
import types

import torch

from interpreter.recording import guards, sources
from interpreter.recording.hidden import read_hidden
from interpreter.recording.naming import label, short
from interpreter.recording.numbers import TracedFloat, TracedInt, pin
from interpreter.recording.operations import Input
from interpreter.recording.outside import (
    BY_IDENTITY,
    MISSING,
    SETS,
    Outside,
    given,
    hashed_in_python,
    is_constant,
    snapshot,
)
from interpreter.recording.torch_calls import CONSTANT_KINDS, PLAIN_CLASSES


class Reads:
    """Of one call. `dynamic` names what is not to be guarded by value: texts of sources, and (text, dimension)."""

    def __init__(self, dynamic=frozenset(), machine=None):
        self.dynamic = dynamic
        self.machine = machine
        self.outside: dict[int, Outside] = {}
        self.guards: list[guards.Guard] = [guards.GlobalState()]
        self.tensors: dict[int, tuple] = {}  # (weak reference or None for one outside, template, tainted)
        self.unguarded: dict[int, object] = {}
        self.asked_distinct: dict[int, Outside] = {}
        self.ended: str | None = None
        self.ended_where = None
        self.numbered = False  # whether there are traced numbers
        self.hooks_again = False  # a later call would run special methods once more, natively

    # Ending

    def end(self, reason: str):
        """Recording stops here: the program will say `reason` and the user's line."""
        if self.ended is None:
            self.ended = reason
            self.ended_where = self.where()
            if self.numbered and self.machine is not None:
                self.machine.forget_numbers()

    def where(self):
        return self.machine.where() if self.machine is not None else None

    # Reading

    def guard(self, guard):
        self.guards.append(guard)

    def pinned(self, value, name: str) -> Outside:
        """An object that the program may hold on to, as nothing that is guarded by identity can come to mean
        another.
        """
        entry = self.outside.get(id(value))
        if entry is None:
            entry = self.outside[id(value)] = Outside(value, sources.Pinned(value, name))
        return entry

    def read(self, value, source, fixed=False):
        """Note that `value` was read at `source`; returns what the call goes on with (a traced number, perhaps, but not
        if `fixed`).
        """
        kind = type(value)
        if kind in CONSTANT_KINDS:
            if self.dynamic and not fixed and kind in (int, float) and str(source) in self.dynamic:
                self.guard(guards.Type(source, kind))
                self.numbered = True
                return (TracedInt if kind is int else TracedFloat)(value, self, Input(source))
            self.guard(guards.Constant(source, value))
            return value
        entry = self.outside.get(id(value))
        if isinstance(value, BY_IDENTITY):
            if kind is types.FunctionType and entry is None and "<" in value.__qualname__ and given(source):
                return self.read_function(value, source)
            if entry is not None and entry.source is not source and not isinstance(entry.source, sources.Pinned):
                self.guard(guards.Same(source, entry.source))
                return value
            self.guard(guards.Identity(source, value))
            if entry is None:
                self.outside[id(value)] = Outside(value, sources.Pinned(value, short(value)))
            return value
        if entry is not None:
            if entry.source is not source:
                self.guard(guards.Same(source, entry.source))
            return value
        entry = self.outside[id(value)] = Outside(value, source)
        if isinstance(value, torch.Tensor):
            self.read_tensor(entry)
            return value
        self.guard(guards.Type(source, kind))
        read_hidden(self, value, kind, source)
        if isinstance(value, tuple):
            self.guard(guards.Length(source, len(value)))
            entry.whole = True
            for i, item in enumerate(tuple.__iter__(value)):
                entry.known[i] = self.read(item, sources.item(value, source, i), fixed)
        elif kind is types.MethodType:
            self.read(value.__func__, sources.Attribute(source, "__func__"))
            self.read(value.__self__, sources.Attribute(source, "__self__"))
        elif kind is frozenset:
            self.guard(guards.Keys(source, value))
            entry.whole = True
        return value

    def look(self, value):
        """Native code is going to look into a value: if nothing guards what it holds, the recording ends."""
        if id(value) in self.unguarded:
            source = self.outside[id(value)].source
            self.end(
                f"{source} is a {type(value).__module__}.{type(value).__qualname__}, "
                "of which nothing tells whether it has changed"
            )

    def read_function(self, value, source):
        """A lambda or a local function that was given: another one with the same code serves as well; its cells and
        defaults are guarded when it is called."""
        self.outside[id(value)] = Outside(value, source)
        self.guard(guards.Type(source, types.FunctionType))
        self.guard(guards.Identity(sources.Attribute(source, "__code__"), value.__code__))
        self.guard(guards.Identity(sources.Attribute(source, "__globals__"), value.__globals__))
        return value

    def read_tensor(self, entry: Outside):
        value = entry.value
        if type(value) not in PLAIN_CLASSES:
            self.end(
                f"{entry.source} is a {type(value).__qualname__}: operations on subclasses of Tensor aren't recorded"
            )
            self.guard(guards.Type(entry.source, type(value)))
            return
        with torch._C.DisableTorchFunction():  # what the record asks for itself is nothing that Python was told
            text = str(entry.source)
            dynamic = (
                frozenset(i for i in range(value.dim()) if (text, i) in self.dynamic) if self.dynamic else frozenset()
            )
            self.guard(guards.Tensor(entry.source, value, dynamic))
        self.tensors[id(value)] = (None, Input(entry.source), bool(dynamic))

    def find(self, value) -> Outside | None:
        return self.outside.get(id(value))

    def namespace(self, entry: Outside) -> Outside | None:
        """The entry of an outside object's `__dict__`, or None where it has none."""
        if entry.namespace is None:
            space = getattr(entry.value, "__dict__", None)
            if type(space) is not dict:
                return None
            entry.namespace = self.outside.get(id(space))
            if entry.namespace is None:
                entry.namespace = self.outside[id(space)] = Outside(space, sources.Dict(entry.source))
        return entry.namespace

    def read_key(self, entry: Outside, key):
        """What `entry.value[key]` of an outside dict is now, or MISSING."""
        known = entry.known
        if key in known:
            return known[key]
        space = entry.value
        if "whole" in entry.written:
            self.read_all(entry)
        if entry.whole:
            return space.get(key, MISSING)
        before = space if entry.original is None else entry.original
        if key in before:
            held = dict.__getitem__(before, key) if isinstance(before, dict) else before[key]
            value = self.read(held, sources.item(space, entry.source, key))
        else:
            self.guard(guards.Absent(entry.source, key))
            value = MISSING
        known[key] = value
        return value

    def read_present(self, entry: Outside, key) -> bool:
        """Whether an outside dict or set has a key now."""
        if entry.whole or entry.touched or key in entry.known:
            if not entry.whole and key not in entry.known:
                self.read_all(entry)
            return key in entry.value
        present = key in entry.value
        mark = ("present", key)
        if mark not in entry.asked:
            entry.asked[mark] = present
            self.guard((guards.Present if present else guards.Absent)(entry.source, key))
        return present

    def read_length(self, entry: Outside):
        """Guard how many items an outside container has."""
        if entry.whole:
            return
        if entry.touched:
            self.read_all(entry)
        elif "length" not in entry.asked:
            entry.asked["length"] = True
            self.guard(guards.Length(entry.source, len(entry.value)))

    def read_names(self, entry: Outside):
        """Guard which keys an outside dict has, and not what is under them."""
        if entry.touched:
            self.read_all(entry)
        elif not entry.whole and "names" not in entry.asked:
            entry.asked["names"] = True
            self.guard(guards.Keys(entry.source, entry.value))

    def read_truth(self, entry: Outside):
        if entry.whole or "length" in entry.asked or "truth" in entry.asked:
            return
        if entry.touched:
            self.read_all(entry)
            return
        entry.asked["truth"] = True
        self.guard(guards.Truth(entry.source, bool(entry.value)))

    def read_index(self, entry: Outside, index: int):
        """What `entry.value[index]` of an outside list or tuple is; guards the length, so that the index stays in
        range.
        """
        if entry.touched and not entry.whole:
            self.read_all(entry)
        value = entry.value
        if entry.whole:
            if entry.original is None:
                return entry.known.get(index if index >= 0 else index + len(value), value[index])
            return value[index]
        self.read_length(entry)
        place = index + len(value) if index < 0 else index
        if place not in entry.known and 0 <= place < len(value):
            entry.known[place] = self.read(value[index], sources.item(value, entry.source, place))
        return entry.known[place] if 0 <= place < len(value) else value[index]

    def read_all(self, entry: Outside):
        """Guard the whole of a builtin container, as it was before this call wrote to it: its length, keys, order and
        items.
        """
        for value in entry.known.values():
            pin(value)
        if entry.whole:
            return
        entry.whole = True
        now = entry.value
        before = now if entry.original is None else entry.original
        source = entry.source
        if isinstance(now, (dict, types.MappingProxyType)):
            items = tuple(dict.items(before) if isinstance(before, dict) else before.items())
            if isinstance(now, collections.OrderedDict) and entry.original is None and not any(
                    hashed_in_python(key) for key, _ in items):
                items = tuple(collections.OrderedDict.items(now))
            self.guard(guards.Keys(source, [key for key, _ in items]))
            for index, (key, value) in enumerate(items):
                if not is_constant(key):
                    self.pinned(key, label(key))
                if hashed_in_python(key):
                    self.hooks_again |= isinstance(now, collections.OrderedDict)  # iterating it asks for hashes
                    self.read(value, sources.ValueAt(source, index, label(key)), fixed=True)
                elif key not in entry.known:
                    self.read(value, sources.item(now, source, key), fixed=True)
            if isinstance(now, collections.defaultdict) and ("slot", "default_factory") not in entry.known:
                self.read(now.default_factory, sources.Attribute(source, "default_factory"))
        elif isinstance(now, SETS):
            self.guard(guards.Keys(source, before))
            for item in before:
                if not is_constant(item):
                    self.pinned(item, label(item))
        else:
            if "length" not in entry.asked:
                self.guard(guards.Length(source, len(before)))
            if isinstance(now, collections.deque):
                self.read(now.maxlen, sources.Attribute(source, "maxlen"))
            for i, item in enumerate(before):
                if i not in entry.known:
                    self.read(item, sources.item(now, source, i), fixed=True)

    def different(self, a: Outside, b: Outside):
        """Python saw that two outside objects are not one."""
        if isinstance(a.source, sources.Pinned) and isinstance(b.source, sources.Pinned):
            return
        self.asked_distinct[id(a.value)] = a
        self.asked_distinct[id(b.value)] = b

    def before_write(self, entry: Outside):
        """Keep what a container held before its first write."""
        if entry.original is None and isinstance(entry.value, (dict, list, set, collections.deque)):
            entry.original = snapshot(entry.value)

    def fixed_sizes(self, tensor):
        """The dimensions of a tensor that can't be others in a later call."""
        entry = self.outside.get(id(tensor))
        if entry is None:
            return ()
        text = str(entry.source)
        return [i for i in range(tensor.dim()) if (text, i) not in self.dynamic]
