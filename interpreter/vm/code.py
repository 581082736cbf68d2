"""Decoding: a code object becomes, once, a list of ``(handler, operand)``.

Operands are resolved as far as they can be: constants, names, indices of jump targets in the list. Instructions that do
nothing (NOP, RESUME, CACHE ...) are left out of the list, yet counted: ``Plan.executed`` gives for each place in the
list how many real instructions lie before it.
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
_OWN = tuple(str(Path(__file__).parents[1] / name) for name in (f"vm{sep}", "interpret.py", "jit.py"))
"""A machine does not interpret machines: calls of these run natively, and start another one there."""
PACKAGE = str(Path(__file__).parents[1]) + sep


class Plan:
    """What the machine knows of a code object: its decoded instructions and how its arguments are laid out."""

    __slots__ = (
        "__weakref__", "argcount", "blank", "cells", "code", "count", "exceptions", "executed", "filename", "flags",
        "instructions", "kind", "kwonly", "lines", "name", "names", "offsets", "own", "plain", "positions", "posonly",
        "qualname", "shim", "silent", "size", "spots", "templates",
    )  # fmt: skip

    def __init__(self, code, handlers):
        self.name, self.qualname, self.filename = code.co_name, code.co_qualname, code.co_filename
        self.flags = code.co_flags
        self.silent = code.co_filename.startswith(PACKAGE)
        self.argcount, self.posonly, self.kwonly = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
        self.names = code.co_varnames + cells + code.co_freevars
        self.cells = frozenset(code.co_cellvars + code.co_freevars)
        self.size = len(self.names)
        self.own = self.silent and self.filename.startswith(_OWN)
        self.plain = not self.kwonly and not self.flags & (VARARGS | VARKEYWORDS) and not self.own
        self.blank = [NULL] * (self.size - self.argcount)
        self.kind = self.flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR)
        self.lines = self.shim = None
        self.templates = {}
        self.exceptions = exception_table(code.co_exceptiontable)
        Decoder(self, code).fill(handlers)

    def line(self, code, index):
        """The user's line of the instruction at ``index`` of the list, or None."""
        return self.line_at(code, self.offsets[index] if index >= 0 else -1)

    def line_at(self, code, offset):
        """The user's line of the instruction at a byte offset (negative: of the definition), or None."""
        if offset < 0:
            return code.co_firstlineno
        if self.lines is None:
            self.lines = {}
            for start, end, line in code.co_lines():
                for place in range(start, end, 2):
                    self.lines[place] = line
        return self.lines.get(offset)

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


class Part:
    """A decoded instruction and the ``entry`` of the list that it is in, which it ``leads`` or is the second of."""

    __slots__ = ("entry", "handler", "leads", "number", "offset", "operand")

    def __init__(self, entry, leads, handler, operand, row):
        self.entry, self.leads, self.handler, self.operand = entry, leads, handler, operand
        self.offset, self.number = row[0], row[-1]


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
        self.weights, names_ahead, reached, self.joints, self.parts = {}, None, False, set(), []
        self.entries = self.find_entries()
        for number, (offset, name, raw, op, start, after) in enumerate(rows):
            plan.spots[offset] = plan.spots[start] = len(kept)
            self.weights[offset] = self.weights[start] = number
            reached = reached or offset in self.entries or start in self.entries
            if name == "KW_NAMES":
                names_ahead = self.consts[raw]
                continue
            if name in SILENT and name not in handlers.told:
                continue
            if names_ahead is not None and name == "CALL":
                name, raw, names_ahead = "CALL_WITH_NAMES", (raw, names_ahead), None
            self.next_row = rows[number + 1] if number + 1 < len(rows) else None
            row = (offset, name, raw, op, after, self.next_row, number)
            last = kept[-1] if kept else None
            joined, reached = not reached, False
            if joined and last is not None and last[1] is None and self.fuses(handlers, last[0], row):
                kept[-1] = (last[0], row)
                plan.spots[offset] = plan.spots[start] = len(kept) - 1
                plan.offsets[-1] = offset
                continue
            if not joined:
                self.joints.add(len(kept))
            kept.append((row, None))
            plan.offsets.append(offset)
            plan.executed.append(number)
        plan.count = len(kept)
        plan.executed.append(len(rows))
        plan.instructions = []
        for self.index, pair in enumerate(kept):
            plan.instructions.append(self.decoded(handlers, *pair))
        handlers.finish(plan, self)

    def fuses(self, handlers, first, second):
        """Is there one handler for both of two neighbours?"""
        return (first[1], second[1]) in handlers.fused or (first[1], None) in handlers.fused

    def decoded(self, handlers, first, second):
        """The entry of the list for one instruction or for two that are fused."""
        one = self.resolve(handlers, *first)
        if second is None:
            if handlers.keeps_parts:
                self.parts.append([Part(self.index, True, *one, first)])
            return one
        pair = handlers.fused.get((first[1], second[1]))
        other = self.resolve(handlers, *second)
        if handlers.keeps_parts:
            self.parts.append([Part(self.index, True, *one, first), Part(self.index, False, *other, second)])
        if pair is not None:
            return pair, (one[1], other[1], first[0])
        return handlers.fused[first[1], None], (one[1], other, first[0])

    def find_entries(self):
        """Offsets that are reached other than from the instruction before them, or bound a stretch of a handler."""
        found = {edge for start, end, target, _, _ in self.plan.exceptions for edge in (start, end, target)}
        for _, name, raw, op, _, after in self.rows:
            if op in _RELATIVE:
                found.add(self.target(raw, after, name))
        return found

    def resolve(self, handlers, offset, name, raw, op, after, following, number):
        handler = handlers.get(name)
        if handler is None:
            handler, raw = handlers["UNKNOWN"], (name, raw)
            return handler, raw
        self.following, self.number = following, number
        self.row = raw, after, name
        if op in _RELATIVE and handler not in OPERANDS:
            return handler, self.jump(raw, after, name)
        operand = OPERANDS.get(handler) or OPERANDS.get(name)
        return handler, raw if operand is None else operand(self, raw)

    def jump(self, raw, after, name):
        """Operand of a jump: (index to go to, what the count of instructions gains by going there)."""
        target = self.target(raw, after, name)
        return self.plan.spots[target], self.passed - self.weights[target]

    def target(self, raw, after, name):
        """Offset of the target of a jump."""
        target = after - 2 * raw if "BACKWARD" in name else after + 2 * raw
        if name == "FOR_ITER" and VERSION >= (3, 12):
            # The END_FOR at the target (and from 3.13 the POP_TOP after it) is skipped when an iterator is exhausted.
            target += 2 if VERSION == (3, 12) else 4
        return target

    @property
    def passed(self):
        """How many instructions have been executed in a straight line when this one is done."""
        return self.number + 1


def plan_for(code, plans):
    """The plan of a code object for one table of handlers; forgotten when the code object is."""
    key = id(code)
    plan = plans[key] = Plan(code, plans.table)

    def forget(_):
        plans.pop(key, None)

    plan.code = weakref.ref(code, forget)
    return plan
