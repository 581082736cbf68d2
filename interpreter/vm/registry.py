"""Which instruction is carried out by which function, in which versions of Python.

A handler is a function ``HANDLER(frame, arg)``. It returns None to go on in this frame or the Frame to go on in. The
decorator ``instruction`` notes it for the versions that it serves; ``HANDLERS`` holds those of the Python that runs.
"""

import opcode
import sys
from typing import ClassVar

VERSION = sys.version_info[:2]

ALL = []  # (instruction, first version, last version, handler): the table of versions
HANDLERS = {}  # instruction -> handler, for the running Python
SHORTCUTS = {}  # instruction -> (methods of the machine it leaves out, handler)
FUSED = {}  # (instruction, the next one) -> handler for both; None as the next one: any
QUICK_PAIRS = set()  # those of FUSED that take the place of a shortcut
OPERANDS = {}  # instruction or handler -> function(decoder, raw operand) -> operand the handler gets


def instruction(name=None, since=(3, 11), until=(3, 99), operand=None, instead_of=None):
    """Register a handler for the instruction called ``name`` (by default the function's own name).

    ``since`` and ``until`` are the first and last version it serves. ``operand`` turns the raw operand into what the
    handler wants. ``instead_of`` names the methods of the machine that this handler leaves out for speed: it is used
    only by machines that do not override them.
    """

    def register(handler):
        label = name or handler.__name__
        ALL.append((label, since, until, handler))
        if since <= VERSION <= until and label in opcode.opmap:
            if instead_of:
                SHORTCUTS[label] = (instead_of, handler)
                if operand:
                    OPERANDS[handler] = operand
            else:
                HANDLERS[label] = handler
                if operand:
                    OPERANDS[label] = operand
        return handler

    return register


def fused(first, second, quick=False):
    """Register a handler that carries out two instructions: its operand is (operand of each, offset of the first).

    ``quick`` says that the second operand is to be that of the second instruction's shortcut.

    Where the first one raises, it puts that offset into ``machine.restored``.
    """

    def register(handler):
        FUSED[first, second] = handler
        if quick:
            QUICK_PAIRS.add((first, second))
        return handler

    return register


class Table(dict):
    """Handlers by instruction for one type of machine; ``fused`` holds those for two instructions."""

    def __init__(self, machine_type, base):
        super().__init__(machine_type.handlers)
        for label, (methods, handler) in SHORTCUTS.items():
            plain = all(getattr(machine_type, method) is getattr(base, method) for method in methods)
            if plain and self.get(label) is HANDLERS.get(label):
                self[label] = handler
        self.fused = {
            pair: handler
            for pair, handler in FUSED.items()
            if all(label is None or self.is_plain(label) for label in pair)
            and (pair not in QUICK_PAIRS or self.get(pair[1]) is SHORTCUTS[pair[1]][1])
        }

    keeps_parts = False
    """Does ``finish`` want to see each instruction by itself?"""
    told: ClassVar[set] = set()
    """Instructions that do nothing, and are kept in plans nevertheless."""

    def finish(self, plan, decoder):
        """Have the last word on a plan that has just been decoded."""

    def is_plain(self, label):
        """Is an instruction carried out as the base machine does it?"""
        handler = self.get(label)
        return handler is not None and (handler is HANDLERS.get(label) or handler is SHORTCUTS.get(label, (0, 0))[1])


class Plans(dict):
    """Decoded code objects, by id, for one table of handlers."""

    __slots__ = ("table",)

    def __init__(self, table):
        super().__init__()
        self.table = table
