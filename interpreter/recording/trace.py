"""What is written down while a call runs: reads become guards, computations operations, writes the epilogue.

A `Trace` knows which objects are *outside* (they existed before the call) by a table from identity to `Outside`, which
holds the object's source and what of it has been read and written so far. The recording machine asks it to read and to
write; the torch function mode gives it operations. When something can't be recorded the trace *ends*: what happens
after that leaves no record, and the program will say why.
"""

from __future__ import annotations

import collections
import operator
import types
import weakref

import torch

from interpreter.recording import guards, sources
from interpreter.recording.hidden import read_hidden
from interpreter.recording.naming import label, short
from interpreter.recording.numbers import TRACED, TracedFloat, TracedInt, plain
from interpreter.recording.operations import Build, Check, Input, Operation, Ref, Write
from interpreter.recording.outside import (
    BY_IDENTITY,
    MISSING,
    SETS,
    Outside,
    all_constants,
    given,
    hashed_in_python,
    is_constant,
    snapshot,
)
from interpreter.recording.torch_calls import CONSTANT_KINDS, PLAIN_CLASSES


class Trace:
    """The record of one call. `dynamic` names what is not to be guarded by value: texts of sources, and (text,
    dimension).
    """

    def __init__(self, dynamic=frozenset(), replay=None, machine=None):
        self.dynamic = dynamic
        self.replay = replay
        self.machine = machine
        self.outside: dict[int, Outside] = {}
        self.guards: list[guards.Guard] = [guards.GlobalState()]
        self.steps: list[Operation | Check] = []
        self.writes: list[Write] = []
        self.hits: list[Write] = []  # of caches: they change what nothing but the cache sees
        self.count = 0
        self.tensors: dict[int, tuple] = {}
        self.keep: list = []
        self.classes: dict = {}
        self.made: dict[int, object] = {}
        self.ended: str | None = None
        self.ended_where = None
        self.direct = None
        self.asked_distinct: dict[int, Outside] = {}
        self.objects: dict[int, tuple] = {}
        self.unguarded: dict[int, object] = {}
        self.seen = 0
        self.grads_moved = False
        self.hooks_write = False  # a special method that native code called has written something outside
        self.hooks_again = False  # a later call would run such methods once more, natively
        self.numbered = False
        self.told: list = []
        self.literal: set[int] | None = None
        self.operating = 0.0
        self.attempt = -1  # the last operation that may raise
        self.raised = False  # whether an operation did

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
            if type(value) in TRACED:
                self.pin(value)
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

    # Writing

    def before_write(self, entry: Outside):
        """Keep what a container held before its first write."""
        if entry.original is None and isinstance(entry.value, (dict, list, set, collections.deque)):
            entry.original = snapshot(entry.value)

    def write(self, function, args, text: str):
        """`function(*args)` was done on an outside object; it belongs to the epilogue."""
        self.writes.append(Write(function, args, text))

    # Operations

    def template(self, value):
        """The template of an operation's argument."""
        kind = type(value)
        if kind in CONSTANT_KINDS and kind is not torch.Size:
            return value
        if isinstance(value, torch.Tensor):
            return self.tensor_template(value)
        if kind in TRACED:
            return value.template
        if kind is list or kind is tuple or kind is torch.Size:
            return Build(kind, tuple(map(self.template, value)))
        if kind is slice:
            return Build(slice, tuple(map(self.template, (value.start, value.stop, value.step))))
        if kind is dict:
            return Build(dict, tuple(Build(tuple, (key, self.template(item))) for key, item in value.items()))
        from interpreter.recording.results import Builder
        return Builder(self).template(value)

    def tensor_template(self, value):
        known = self.tensors.get(id(value))
        if known is not None and (known[0] is None or known[0]() is value):
            return known[1]
        raise Unknown(f"a {type(value).__name__} of unknown origin (made by code that was not recorded)")

    def literals(self) -> set[int]:
        """The identities of the tuples that are constants in the code of the functions that ran: they are one object in
        every call.
        """
        if self.literal is None:
            self.literal = {id(value) for function in self.keep for value in all_constants(function.__code__)}
        return self.literal

    def tainted(self, value) -> bool:
        """Whether a tensor's shape may be another in a later call."""
        known = self.tensors.get(id(value))
        return known is not None and known[2]

    def add_tensor(self, value, template, tainted=False):
        self.tensors[id(value)] = (weakref.ref(value), template, tainted)

    def add(self, function, args, kwargs, **flags) -> Operation:
        operation = Operation(function, args, kwargs, self.count, self.where(), **flags)
        self.count += 1
        self.steps.append(operation)
        return operation

    def add_result(self, result, operation: Operation, tainted=False):
        """Give the tensors in an operation's result their Refs; parts of a tuple become elements."""
        if isinstance(result, torch.Tensor):
            self.add_tensor(result, Ref(operation.index), tainted)
        elif isinstance(result, (tuple, list)):
            for i, item in enumerate(result):
                if isinstance(item, (torch.Tensor, tuple, list)):
                    part = self.add(operator.getitem, (Ref(operation.index), i), {}, element=True)
                    self.add_result(item, part, tainted)
        elif isinstance(result, dict):
            for key, item in result.items():
                if isinstance(item, (torch.Tensor, tuple, list)):
                    part = self.add(operator.getitem, (Ref(operation.index), key), {}, element=True)
                    self.add_result(item, part, tainted)

    def note_object(self, value, operation: Operation):
        """An operation gave an object that is no tensor (a handle, a generator): it is known as that operation's
        result.
        """
        self.objects[id(value)] = (value, Ref(operation.index))

    def seen_outside(self, args, kwargs) -> bool:
        """Whether what an operation changes can be seen outside of the call: an outside tensor, or memory shared with
        one.
        """
        target = kwargs.get("out", args[0] if args else None)
        if not isinstance(target, torch.Tensor):
            return True
        known = self.tensors.get(id(target))
        if known is None or known[0] is None:
            return True
        memory = storage_of(target)
        return memory is None or any(
            storage_of(entry.value) == memory
            for entry in self.outside.values()
            if isinstance(entry.value, torch.Tensor)
        )

    def fixed_sizes(self, tensor):
        """The dimensions of a tensor that can't be others in a later call."""
        entry = self.outside.get(id(tensor))
        if entry is None:
            return ()
        text = str(entry.source)
        return [i for i in range(tensor.dim()) if (text, i) not in self.dynamic]

    # Checks and traced numbers

    def check(self, template, answer, question: str):
        if not isinstance(template, Ref):
            template = Ref(self.add(same, (template,), {}, number=True).index)
        self.steps.append(Check(template, answer, question, self.where(), len(self.told)))

    def number(self, function, args):
        """Arithmetic on traced numbers: the operation is recorded, the result is traced."""
        try:
            result = function(*map(plain, args))
        except Exception:
            for value in args:  # other numbers may give a result
                if type(value) in TRACED:
                    self.pin(value)
            raise
        if self.ended is not None:
            return result
        if type(result) not in (int, float):  # a complex number, of a root
            for value in args:
                if type(value) in TRACED:
                    self.pin(value)
            return result
        operation = self.add(function, tuple(map(self.template, args)), {}, number=True)
        return self.traced(result, Ref(operation.index))

    def traced(self, value, template):
        self.numbered = True
        if type(value) is int:
            return TracedInt(value, self, template)
        if type(value) is float:
            return TracedFloat(value, self, template)
        return value

    def ask_number(self, function, *args) -> bool:
        """A comparison of traced numbers: Python gets a plain bool, and a check is recorded."""
        answer = function(*map(plain, args))
        if self.ended is None:
            operation = self.add(function, tuple(map(self.template, args)), {}, number=True)
            asked = f" {function.__name__} ".join(str(plain(value)) for value in args)
            self.check(Ref(operation.index), answer, asked if len(args) > 1 else f"{function.__name__} {asked}")
        return answer

    def pin(self, number):
        if self.ended is None:
            self.check(number.template, plain(number), "the number")


class Unknown(Exception):
    """A value can't be given a template: the message says why."""


def same(value):
    """The operation that gives an input as it is, for a check of it."""
    return value


def storage_of(tensor):
    """The address of a tensor's memory, None where it has none."""
    try:
        with torch._C.DisableTorchFunction():
            return tensor.untyped_storage().data_ptr() or None
    except (RuntimeError, NotImplementedError):
        return None
