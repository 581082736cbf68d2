"""The recording machine: a virtual machine that writes down what it reads, computes and writes.

It runs the call on the real objects, so what it gives is what an eager call gives; every hook below first lets the
trace note the step and then does it. When the trace has ended the hooks only do it.
"""

from __future__ import annotations

import sys
import types

from interpreter.recording import caches, guards, modules, sources
from interpreter.recording.attribute_writes import AttributeWrites
from interpreter.recording.attributes import Attributes
from interpreter.recording.calls import Calls
from interpreter.recording.containers import Containers
from interpreter.recording.effects import ROUTES
from interpreter.recording.faults import fault_at, is_fault
from interpreter.recording.leaving import make_plain
from interpreter.recording.methods import MethodCalls
from interpreter.recording.native import NativeCalls
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.outside import MISSING
from interpreter.recording.questions import Questions
from interpreter.recording.special import SPECIAL_KINDS, is_ours
from interpreter.recording.trace import Trace
from interpreter.recording.watching import HASHING, WatchedCalls, WatchedSteps, watched
from interpreter.vm.errors import InterpreterError
from interpreter.vm.lookups import HEAP_TYPE
from interpreter.vm.machine import Machine

SPECIAL_KINDS.update(caches.KINDS)


NAMING_TYPES = (
    "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "UNPACK_SEQUENCE", "UNPACK_EX", "BEFORE_WITH", "GET_ITER")


def noting(handler):
    """The handler, and then what it left on the stack is noted as made inside the call."""

    def noted(frame, operand):
        following = handler(frame, operand)
        made = frame.stack[-1]
        frame.machine.trace.made[id(made)] = made
        return following

    return noted


def pinning(handler):
    """The handler, given a plain number where a traced one was on top of the stack."""

    def pinned(frame, operand):
        frame.stack[-1] = pin(frame.stack[-1])
        return handler(frame, operand)

    return pinned


def recording_handlers():
    """The machine's handlers, with those that make functions noting them, those that hash objects watched, and what
    tells the type of a value given plain numbers."""
    handlers = dict(Machine.handlers)
    wrapped = (("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE"), noting), (HASHING, watched), (NAMING_TYPES, pinning)
    for names, wrap in wrapped:
        handlers.update({name: wrap(handlers[name]) for name in names if name in handlers})
    return handlers


class RecordingMachine(
    WatchedSteps,
    Calls,
    NativeCalls,
    MethodCalls,
    Containers,
    Questions,
    Attributes,
    AttributeWrites,
    WatchedCalls,
    Machine,
):
    """A machine with a trace."""

    handlers = recording_handlers()

    def __init__(self, trace: Trace, lookasides, ledger):
        super().__init__(lookasides, ledger)
        self.routes.update(modules.HANDLERS)
        self.routes.update(ROUTES)
        self.trace = trace
        trace.machine = self
        self.admitted: set[int] = set()
        self.class_spaces: dict = {}

    def successor(self):
        return Machine(self.lookasides, self.ledger, self.stats)

    def note_special(self, kind, *names):
        """Special methods are looked up in the class: what is found, or not, is guarded."""
        if kind.__flags__ & HEAP_TYPE and self.trace.ended is None:
            for name in names:
                self.lookup(kind, name)

    def raised(self, frame, error):
        if is_fault(error):
            fault = fault_at(frame, error)
            raise fault from (error if fault is not error else None)
        return super().raised(frame, error)

    def fault(self, frame, error, fault):
        if isinstance(fault, InterpreterError):  # it names the line and the instruction already
            return InterpreterError(str(fault))
        return super().fault(frame, error, fault)

    def forget_numbers(self):
        """The trace has ended: the numbers in the frames are plain ones from here on."""
        frame = self.frame
        while frame is not None:
            for place in (frame.stack, getattr(frame, "fast", ())):
                if place:
                    place[:] = make_plain(list(place), self.trace)
            frame = frame.back

    # Names

    def load_global(self, frame, name):
        trace = self.trace
        if trace.ended is not None:
            return super().load_global(frame, name)
        space = frame.globals
        value = trace.read_key(self.space(space), name)
        if value is MISSING:
            value = trace.read_key(self.space(frame.builtins), name)
            if value is MISSING:
                return super().load_global(frame, name)
        return value

    def space(self, names):
        entry = self.trace.outside.get(id(names))
        if entry is None:
            entry = self.trace.pinned(names, names.get("__name__", "globals"))
            entry.whole = is_ours(names.get("__file__") or "")
        return entry

    def store_global(self, frame, name, value):
        trace = self.trace
        if trace.ended is not None:
            return super().store_global(frame, name, plain(value))
        return self.write_item(self.space(frame.globals), name, value)

    def delete_global(self, frame, name):
        trace = self.trace
        if trace.ended is None:
            trace.read_key(self.space(frame.globals), name)
        super().delete_global(frame, name)
        if trace.ended is None:
            entry = self.space(frame.globals)
            trace.before_write(entry)
            entry.known[name] = MISSING
            entry.written.add(name)
            trace.write(dict.pop, (frame.globals, name, None), f"del {entry.source}.{name}")

    def load_cell(self, frame, cell, name):
        trace = self.trace
        entry = trace.outside.get(id(cell))
        if entry is None or trace.ended is not None:
            return super().load_cell(frame, cell, name)
        if "contents" in entry.known:
            value = entry.known["contents"]
            return super().load_cell(frame, cell, name) if value is MISSING else value
        try:
            value = cell.cell_contents
        except ValueError:
            trace.guard(guards.NoAttribute(entry.source, "cell_contents"))
            entry.known["contents"] = MISSING
            return super().load_cell(frame, cell, name)
        value = entry.known["contents"] = trace.read(value, sources.Attribute(entry.source, "cell_contents"))
        return value

    def store_cell(self, frame, cell, value):
        trace = self.trace
        entry = trace.outside.get(id(cell))
        super().store_cell(frame, cell, plain(value) if entry is not None or trace.ended is not None else value)
        if entry is not None and trace.ended is None:
            entry.known["contents"] = value
            entry.written.add("contents")
            trace.write(set_cell, (cell, value), f"{entry.source} =")

    def delete_cell(self, frame, cell, name):
        trace = self.trace
        entry = trace.outside.get(id(cell))
        if entry is not None and trace.ended is None:
            self.load_cell(frame, cell, name)
        super().delete_cell(frame, cell, name)
        if entry is not None and trace.ended is None:
            entry.known["contents"] = MISSING
            entry.written.add("contents")
            trace.write(delete_cell, (cell,), f"del {entry.source}")

    def import_name(self, frame, name, fromlist, level):
        module = super().import_name(frame, name, fromlist, level)
        trace = self.trace
        if trace.ended is None and isinstance(module, types.ModuleType):
            modules = trace.pinned(sys.modules, "sys.modules")
            for key in (name, module.__name__):
                if key in sys.modules and not (level and key == name):
                    trace.read_key(modules, key)
            trace.pinned(module, module.__name__)
        return module

    def import_from(self, module, name):
        if self.trace.ended is None and isinstance(module, types.ModuleType) and name in module.__dict__:
            return self.module_attribute(module, name)
        return super().import_from(module, name)

    # Special methods of user's classes

    def get_item(self, obj, key):
        obj = pin(obj)
        self.note_special(type(obj), "__getitem__")
        return super().get_item(obj, key)

    def set_item(self, obj, key, value):
        obj = pin(obj)
        self.note_special(type(obj), "__setitem__")
        return super().set_item(obj, key, value)

    def delete_item(self, obj, key):
        obj = pin(obj)
        self.note_special(type(obj), "__delitem__")
        return super().delete_item(obj, key)

    def contains(self, item, container):
        container = pin(container)
        self.trace.look(container)
        self.note_special(type(container), "__contains__", "__iter__")
        return super().contains(item, container)

    def truth(self, value):
        if value is True or value is False or value is None:
            return value is True
        self.trace.look(value)
        self.note_special(type(value), "__bool__", "__len__")
        return super().truth(value)

    def call_object(self, function, kind, args, kwargs):
        if kind in TRACED:
            function = pin(function)
            kind = type(function)
        self.note_special(kind, "__call__")
        return super().call_object(function, kind, args, kwargs)

    def construct(self, cls, args, kwargs):
        self.note_special(cls, "__init__", "__new__")
        return super().construct(cls, args, kwargs)

    def iterate(self, obj):
        obj = pin(obj)
        self.trace.look(obj)
        self.note_special(type(obj), "__iter__", "__getitem__")
        return super().iterate(obj)

    # Objects of native types that nothing guards

    def entered(self, iterable):
        return super().entered(self.see(iterable))

    def unpack(self, iterable):
        iterable = pin(iterable)
        self.trace.look(iterable)
        return super().unpack(iterable)

    def unpack_mapping(self, mapping):
        mapping = pin(mapping)
        self.trace.look(mapping)
        return super().unpack_mapping(mapping)

    def binary(self, symbol, a, b):
        if self.trace.unguarded:
            self.trace.look(a)
            self.trace.look(b)
        return super().binary(symbol, a, b)

    def compare(self, symbol, a, b):
        if self.trace.unguarded:
            self.trace.look(a)
            self.trace.look(b)
        return super().compare(symbol, a, b)

    def format_value(self, value, *rest):
        self.trace.look(value)
        return super().format_value(value, *rest)


def set_cell(cell, value):
    cell.cell_contents = value


def delete_cell(cell):
    del cell.cell_contents
