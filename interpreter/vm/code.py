"""Decoding: a code object becomes, once, a list of ``(handler, operand)``.

Operands are resolved as far as they can be: constants, names, indices of jump targets in the list. Instructions that do
nothing (NOP, RESUME, CACHE ...) are left out of the list, yet counted: ``Plan.executed`` gives for each place in the list
how many real instructions lie before it.
"""

import opcode
import weakref
from dis import hasjrel
from os import sep
from pathlib import Path

from .frame import iterator_of
from .registry import OPERANDS, VERSION
from .values import NULL

SILENT = {"NOP", "RESUME", "PRECALL", "EXTENDED_ARG", "CACHE", "MAKE_CELL_", "NOT_TAKEN", "INTERPRETER_EXIT"}
GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
OPTIMIZED, VARARGS, VARKEYWORDS = 0x01, 0x04, 0x08
_RELATIVE = set(hasjrel)
_PACKAGE = str(Path(__file__).parents[1]) + sep


class Plan:
    """What the machine knows of a code object: its decoded instructions and how its arguments are laid out."""

    __slots__ = (
        "__weakref__", "argcount", "blank", "cells", "code", "count", "exceptions", "executed", "filename", "flags",
        "instructions", "kind", "kwonly", "lines", "name", "names", "offsets", "plain", "positions", "posonly",
        "qualname", "shim", "silent", "size", "spots", "templates",
    )  # fmt: skip

    def __init__(self, code, handlers):
        self.name, self.qualname, self.filename = code.co_name, code.co_qualname, code.co_filename
        self.flags = code.co_flags
        self.silent = code.co_filename.startswith(_PACKAGE)
        self.argcount, self.posonly, self.kwonly = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
        self.names = code.co_varnames + cells + code.co_freevars
        self.cells = frozenset(code.co_cellvars + code.co_freevars)
        self.size = len(self.names)
        self.plain = not self.kwonly and not self.flags & (VARARGS | VARKEYWORDS)
        self.blank = [NULL] * (self.size - self.argcount)
        self.kind = self.flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR)
        self.lines = self.shim = None
        self.templates = {}
        self.exceptions = exception_table(code.co_exceptiontable)
        Decoder(self, code).fill(handlers)

    def line(self, code, index):
        """The user's line of the instruction at ``index``, or None."""
        if self.lines is None:
            self.lines = {}
            for start, end, line in code.co_lines():
                for offset in range(start, end, 2):
                    self.lines[offset] = line
        return self.lines.get(self.offsets[index] if index >= 0 else 0)

    def handler_for(self, offset):
        """The innermost entry of the exception table for a byte offset: (target index, depth, keep lasti), or None."""
        for start, end, target, depth, lasti in self.exceptions:
            if start <= offset < end:
                return self.spots[target], depth, lasti
        return None


def exception_table(table):
    """Entries (start, end, target, depth, lasti) in byte offsets, from the packed form of ``co_exceptiontable``."""
    entries, data = [], iterator_of(table)

    def number(byte):
        value = byte & 63
        while byte & 64:
            byte = next(data)
            value = value << 6 | byte & 63
        return value

    for byte in data:
        start = number(byte) * 2
        length = number(next(data)) * 2
        target = number(next(data)) * 2
        depth = number(next(data))
        entries.append((start, start + length, target, depth >> 1, depth & 1))
    return entries


class Decoder:
    """One pass over the bytes of a code object."""

    def __init__(self, plan, code):
        self.plan, self.code = plan, code
        self.consts, self.names = code.co_consts, code.co_names
        self.rows = list(self.read())

    def read(self):
        """Rows (offset, name, operand, offset of the next instruction, opcode)."""
        raw, extended, pending = self.code.co_code, 0, None
        names = opcode.opname
        start = None
        for offset in range(0, len(raw), 2):
            op = raw[offset]
            if op == 0:
                continue
            if pending is not None:
                yield (*pending, offset)
                pending = None
            if names[op] == "EXTENDED_ARG":
                extended = (extended | raw[offset + 1]) << 8
                start = offset if start is None else start
                continue
            pending = (offset, names[op], extended | raw[offset + 1], op, offset if start is None else start)
            extended, start = 0, None
        if pending is not None:
            yield (*pending, len(raw))

    def fill(self, handlers):
        """Lay out the list, then resolve the operands, which may point forward in it."""
        plan, rows = self.plan, self.rows
        plan.spots, plan.offsets, plan.executed, kept = {}, [], [], []
        self.weights, names_ahead = {}, None
        for number, (offset, name, raw, op, start, after) in enumerate(rows):
            plan.spots[offset] = plan.spots[start] = len(kept)
            self.weights[offset] = self.weights[start] = number
            if name == "KW_NAMES":
                names_ahead = self.consts[raw]
                continue
            if name in SILENT:
                continue
            if names_ahead is not None and name == "CALL":
                name, raw, names_ahead = "CALL_WITH_NAMES", (raw, names_ahead), None
            self.next_row = rows[number + 1] if number + 1 < len(rows) else None
            kept.append((offset, name, raw, op, after, self.next_row))
            plan.offsets.append(offset)
            plan.executed.append(number)
        plan.count = len(kept)
        plan.instructions = [self.resolve(handlers, index, *row) for index, row in enumerate(kept)]

    def resolve(self, handlers, index, offset, name, raw, op, after, following):
        handler = handlers.get(name)
        if handler is None:
            handler, raw = handlers["UNKNOWN"], (name, raw)
            return handler, raw
        self.index, self.after, self.following, self.name = index, after, following, name
        if op in _RELATIVE:
            return handler, self.jump(raw, after, name)
        operand = OPERANDS.get(name)
        return handler, raw if operand is None else operand(self, raw)

    def jump(self, raw, after, name):
        """Operand of a jump: (index to go to, what the count of instructions gains by going there)."""
        target = after - 2 * raw if "BACKWARD" in name else after + 2 * raw
        if name == "FOR_ITER" and VERSION >= (3, 12):
            # The END_FOR at the target (and from 3.13 the POP_TOP after it) is skipped when an iterator is exhausted.
            target += 2 if VERSION == (3, 12) else 4
        return self.plan.spots[target], self.passed - self.weights[target]

    @property
    def passed(self):
        """How many instructions have been executed in a straight line when this one is done."""
        return self.plan.executed[self.index] + 1


def plan_for(code, handlers, plans):
    """The plan of a code object for one table of handlers; forgotten when the code object is."""
    key = id(code)
    plan = plans[key] = Plan(code, handlers)

    def forget(_):
        plans.pop(key, None)

    plan.code = weakref.ref(code, forget)
    return plan
