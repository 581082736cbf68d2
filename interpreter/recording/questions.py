"""What Python asks of values, and what its operators make of them: membership, identity, truth, comparison, arithmetic.

Tensors and traced numbers answer for themselves (the answer is an operation or a check). Of an outside container that
native code is going to look through, the whole is guarded; an operator that writes its left side writes it whole.
"""

from __future__ import annotations

import operator

import torch

from interpreter.recording import guards, sources
from interpreter.recording.arithmetic import ANSWER_FIRST, NUMBERS, computed
from interpreter.recording.containers import CONTAINERS, HASHED, PLAIN
from interpreter.recording.numbers import TRACED, pin, plain
from interpreter.recording.outside import MISSING, SEQUENCES, is_constant
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.vm.lookups import HEAP_TYPE, Host, derives, special
from interpreter.vm.machine import Machine
from interpreter.vm.operators import BINARY

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
    "count_elements",
    "iadd",
    "ior",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
}
COMPARE_NAMES = {"==": ("__eq__",), "!=": ("__ne__", "__eq__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"),
                 ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__")}
UNARY_NAMES = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


class Questions(Machine):
    """The part of the recording machine that asks and computes."""

    def contains(self, item, container):
        trace = self.trace
        entry = self.entry_of(container)
        if trace.ended is None and type(item) not in CONSTANT_KINDS:
            self.note_hashed(container, pin(item) if isinstance(container, HASHED) else item)
        if (
            entry is not None
            and type(container).__flags__ & HEAP_TYPE
            and special(type(container), "__contains__") is not None
        ):
            return super().contains(item, container)
        if entry is not None:
            if isinstance(container, HASHED) and is_constant(item) and not self.has_hooked_keys(container):
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
        elif type(item) in TRACED and isinstance(container, (tuple, *SEQUENCES)) and not (
            ANSWER_FIRST.isdisjoint(map(type, container))
        ):
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
            type(value).__flags__ & HEAP_TYPE and (special(type(value), "__bool__") or special(type(value), "__len__"))
        ):
            trace.read_truth(entry)
            return bool(value)
        if type(value) in TRACED:
            return bool(value)
        return super().truth(value)

    def binary(self, symbol, a, b):
        trace = self.trace
        first, second = type(a), type(b)
        if first in PLAIN and second in PLAIN:
            return OPERATORS[symbol](a, b)
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            return OPERATORS[symbol](a, b)
        if first in TRACED or second in TRACED:
            number = computed(trace, OPERATORS[symbol], (a, b), None)
            if number is not MISSING:
                return number
            return super().binary(symbol, pin(a), pin(b))
        if trace.ended is None:
            if first in (str, bytes) and symbol in ("%", "%="):
                self.see(b)
                self.pin_sizes(b)
            if (first.__flags__ | second.__flags__) & HEAP_TYPE:
                names = [name for name in BINARY[symbol][1] if name is not None]
                self.note_special(first, *names)
                self.note_special(second, *names)
            entry = self.entry_of(a)
            if entry is not None and symbol in IN_PLACE and hasattr(first, BINARY[symbol][1][0]) and not (
                    first.__flags__ & HEAP_TYPE and special(first, BINARY[symbol][1][0])):
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
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return trace.ask_number(COMPARE[symbol], a, b)
        if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
            if trace.ended is None:
                for side in (a, b):
                    if isinstance(side, CONTAINERS):
                        self.see(side)
            return COMPARE[symbol](a, b)
        if type(a) in TRACED or type(b) in TRACED:
            if symbol in ("==", "!=") and (type(a) in PLAIN or type(b) in PLAIN):
                return COMPARE[symbol](plain(a), plain(b))  # with None or a text: whatever the number is
            a, b = pin(a), pin(b)
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
        if kind.__flags__ & HEAP_TYPE and not isinstance(value, torch.Tensor):
            self.note_special(kind, *names)
        elif depth < 3 and isinstance(value, CONTAINERS):
            for item in list(value.values() if kind is dict else value):
                if type(item) not in PLAIN:
                    self.note_compared(item, names, depth + 1)

    def unary(self, symbol, a):
        if isinstance(a, torch.Tensor):
            return UNARY[symbol](a) if symbol in UNARY else not self.truth(a)
        if type(a) in TRACED:
            return self.trace.number(UNARY[symbol], (a,)) if symbol in UNARY else not self.truth(a)
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
