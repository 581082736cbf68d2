"""Which instruction is carried out by which function, in which versions of Python.

A handler is a function ``HANDLER(frame, arg)``. It returns None to go on in this frame or the Frame to go on in. The
decorator ``instruction`` notes it for the versions that it serves; ``HANDLERS`` holds those of the Python that runs.
"""

import opcode
import sys

VERSION = sys.version_info[:2]

ALL = []  # (instruction, first version, last version, handler): the table of versions
HANDLERS = {}  # instruction -> handler, for the running Python
SHORTCUTS = {}  # instruction -> (method of the machine it leaves out, handler)
OPERANDS = {}  # instruction -> function(code being decoded, raw operand) -> operand the handler gets


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
            else:
                HANDLERS[label] = handler
            if operand:
                OPERANDS[label] = operand
        return handler

    return register


def handlers_for(machine_type, base):
    """The table of handlers for a type of machine: its own, with shortcuts where it overrides nothing they leave out."""
    table = dict(machine_type.handlers)
    for label, (methods, handler) in SHORTCUTS.items():
        plain = all(getattr(machine_type, method) is getattr(base, method) for method in methods)
        if plain and table.get(label) is HANDLERS.get(label):
            table[label] = handler
    return table
