"""Real frame objects for interpreted frames, for tracebacks and for code that looks at frames.

A frame object cannot be made from Python, but a generator has one before it starts. So the code object is copied with its
first instruction replaced by RETURN_GENERATOR; calling it gives a generator, and its frame has the right name, file,
lines and globals. The variables which are bound become the copy's arguments, so calling it with their values fills them in.
"""

import ctypes
import opcode
import sys
from os import sep
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType

from .frame import Frame, Root

_RETURN_GENERATOR = bytes([opcode.opmap["RETURN_GENERATOR"], 0])
_CALL_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
_OPTIMIZED = 0x01 | 0x02
_BACK = 2 * ctypes.sizeof(ctypes.c_void_p)
_incref = ctypes.pythonapi.Py_IncRef
_decref = ctypes.pythonapi.Py_DecRef
_incref.argtypes = _decref.argtypes = [ctypes.py_object]


def _template(code: CodeType, names: tuple, flags: int) -> CodeType:
    return code.replace(
        co_code=_RETURN_GENERATOR + code.co_code[2:], co_flags=flags, co_exceptiontable=b"", co_varnames=names, co_cellvars=(),
        co_freevars=(), co_nlocals=len(names), co_argcount=len(names), co_posonlyargcount=0, co_kwonlyargcount=0,
    )  # fmt: skip


def _line_table(code: CodeType, line: int) -> bytes:
    """A table of positions which gives one line for the whole code: entries of kind 13 (a line, no columns)."""
    units, table, delta = len(code.co_code) // 2, bytearray(), line - code.co_firstlineno
    while units > 0:
        length = min(units, 8)
        table.append(0x80 | 13 << 3 | length - 1)
        number = delta << 1 if delta >= 0 else (-delta << 1) | 1
        while number >= 64:
            table.append(0x40 | number & 63)
            number >>= 6
        table.append(number)
        units, delta = units - length, 0
    return bytes(table)


def frame_object(frame: Frame, line: int | None = None) -> FrameType:
    """A new frame object showing ``frame`` as it is now; with ``line``, its ``f_lineno`` is that line."""
    code, plan = frame.code, frame.plan
    flags = (code.co_flags & ~_CALL_FLAGS) | 0x20
    if frame.namespace is not None:
        key = (None, line)
        template = plan.templates.get(key)
        if template is None:
            template = _template(code, (), flags & ~_OPTIMIZED)
            if line is not None:
                template = template.replace(co_linetable=_line_table(code, line))
            plan.templates[key] = template
        return eval(template, frame.globals, frame.namespace).gi_frame
    bound = frame.bound()
    names = tuple(bound)
    key = (names, line)
    template = plan.templates.get(key)
    if template is None:
        template = _template(code, names, flags | _OPTIMIZED)
        if line is not None:
            template = template.replace(co_linetable=_line_table(code, line))
        plan.templates[key] = template
    return FunctionType(template, frame.globals)(*bound.values()).gi_frame


def link_back(shown: FrameType, back: FrameType | None) -> None:
    """Set ``f_back``, which has no setter: the field follows the header of the object."""
    field = ctypes.c_void_p.from_address(id(shown) + _BACK)
    old = shown.f_back
    if back is old:
        return
    if back is not None:
        _incref(back)
    field.value = None if back is None else id(back)
    if old is not None:
        _decref(old)


def live_frame(frame) -> FrameType | None:
    """The frame object of a running interpreted frame, with its line and its callers, as ``sys._getframe`` gives it."""
    while type(frame) is Root or (frame is not None and frame.plan.silent):
        if frame.back is None:
            return outer_frame(frame)
        frame = frame.back
    if frame is None:
        return None
    shown = frame_object(frame, frame.line)
    link_back(shown, live_frame(frame.back) if frame.back is not None else None)
    return shown


def outer_frame(root: Root) -> FrameType | None:
    """The native frame that entered the machine."""
    found = sys._getframe(1)
    while found is not None and ours(found.f_code):
        found = found.f_back
    return found


_HERE = str(Path(__file__).parents[1]) + sep


def ours(code: CodeType) -> bool:
    """Does a code object belong to the machine or to a lookaside?"""
    return code.co_filename.startswith(_HERE) or code in SHIMS


SHIMS: set = set()
"""Code objects of the shims that stand for interpreted generators: they bear the user's names."""


def user_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an exception that was just caught, without the machine's own frames at its head."""
    traceback = error.__traceback__
    while traceback is not None and ours(traceback.tb_frame.f_code):
        traceback = traceback.tb_next
    return traceback


def traceback_entry(error: BaseException, frame: Frame) -> None:
    """Put the line that ``frame`` is at in front of the exception's traceback."""
    if frame.plan.silent:
        return
    index = frame.index
    offset = frame.plan.offsets[index] if index >= 0 else 0
    line = frame.plan.line(frame.code, index) or frame.code.co_firstlineno
    error.__traceback__ = TracebackType(error.__traceback__, frame_object(frame), offset, line)
