"""What is written down while a call runs: reads become guards, computations operations, writes the epilogue.

A `Trace` knows which objects are *outside* (they existed before the call) by a table from identity to `Outside`, which
holds the object's source and what of it has been read and written so far. The recording machine asks it to read
(`reading.py`) and to write; the torch function mode gives it operations. When something can't be recorded the trace
*ends*: what happens after that leaves no record, and the program will say why.
"""

from __future__ import annotations

import operator
import weakref

import torch

from interpreter.recording.numbers import TRACED, TracedFloat, TracedInt, plain
from interpreter.recording.operations import Build, Check, Operation, Ref, Write
from interpreter.recording.outside import all_constants
from interpreter.recording.reading import Reads
from interpreter.recording.torch_calls import CONSTANT_KINDS


class Trace(Reads):
    """The record of one call. `dynamic` names what is not to be guarded by value: texts of sources, and (text,
    dimension).
    """

    def __init__(self, dynamic=frozenset(), replay=None, machine=None):
        super().__init__(dynamic, machine)
        self.replay = replay
        self.steps: list[Operation | Check] = []
        self.writes: list[Write] = []
        self.hits: list[Write] = []  # of caches: they change what nothing but the cache sees
        self.count = 0
        self.keep: list = []
        self.classes: dict = {}
        self.made: dict[int, object] = {}
        self.direct = None
        self.objects: dict[int, tuple] = {}
        self.seen = 0
        self.grads_moved = False
        self.hooks_write = False  # a special method that native code called has written something outside
        self.told: list = []
        self.literal: set[int] | None = None
        self.operating = 0.0
        self.attempt = -1  # the last operation that may raise
        self.raised = False  # whether an operation did

    # Writing

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
