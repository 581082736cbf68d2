"""Real frame objects for interpreted frames, for tracebacks and for code that looks at frames.

A frame object cannot be made from Python, but a generator has one before it starts. So the code object is copied with
its first instruction replaced by RETURN_GENERATOR; calling it gives a generator, and its frame has the right name,
file, lines and globals. All variables are plain locals of the copy; those given as arguments are bound in the frame
object.

Each interpreted frame has at most one frame object, ``Frame.shown``. It holds no locals while the frame runs, so as not
to keep them alive: they are filled in when they are asked for, and when the frame is left and the object is still in
use.
"""

import ctypes
import opcode
import sys
import weakref
from os import sep
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType

from .frame import Frame, Root
from .names import seen_builtins
from .registry import VERSION

_RETURN_GENERATOR = bytes([opcode.opmap["RETURN_GENERATOR"], 0])
_CALL_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
_OPTIMIZED = 0x01 | 0x02
# The header of an object is followed by f_back, f_frame, f_trace (pointers) and f_lineno (an int).
_BACK = 2 * ctypes.sizeof(ctypes.c_void_p)
_LINE = _BACK + 3 * ctypes.sizeof(ctypes.c_void_p)
incref = ctypes.pythonapi.Py_IncRef
decref = ctypes.pythonapi.Py_DecRef
incref.argtypes = decref.argtypes = [ctypes.py_object]
_to_fast = ctypes.pythonapi.PyFrame_LocalsToFast
_to_fast.argtypes, _to_fast.restype = [ctypes.py_object, ctypes.c_int], None

_shown: dict = {}
"""id of a frame object -> weak reference to the interpreted frame it stands for."""
_originals: dict = {}
"""id of a copied code object -> weak reference to the plan which keeps it."""

_HERE = str(Path(__file__).parents[1]) + sep
_shims: dict = {}
"""id of the code of a shim, which bears the user's names -> weak reference to the plan which keeps it."""


class _Watch(weakref.ref):
    __slots__ = ("key", "table")


def _forget(watch):
    if watch.table.get(watch.key) is watch:
        del watch.table[watch.key]


def _watch(table, key, thing):
    watch = table[key] = _Watch(thing, _forget)
    watch.key, watch.table = key, table


def ours(code: CodeType) -> bool:
    """Does a code object belong to the machine or to a lookaside?"""
    return id(code) in _shims or code.co_filename.startswith(_HERE)


def _template(frame: Frame, names: tuple, bound: int) -> CodeType:
    """The copy of a frame's code whose locals are ``names``, the first ``bound`` of them arguments."""
    plan, key = frame.plan, (names, bound)
    template = plan.templates.get(key)
    if template is None:
        code = frame.code
        flags = (code.co_flags & ~_CALL_FLAGS) | 0x20
        flags = flags & ~_OPTIMIZED if frame.namespace is not None else flags | _OPTIMIZED
        template = plan.templates[key] = code.replace(
            co_code=_RETURN_GENERATOR + code.co_code[2:], co_flags=flags, co_exceptiontable=b"", co_varnames=names,
            co_cellvars=(), co_freevars=(), co_nlocals=len(names), co_argcount=bound, co_posonlyargcount=0,
            co_kwonlyargcount=0,
        )  # fmt: skip
        stands_for(template, plan)
    return template


def stands_for(copy: CodeType, plan) -> None:
    """Note whose code a copy was made of."""
    _watch(_originals, id(copy), plan)


def note_shim(code: CodeType, plan) -> None:
    """Note that a code object is that of a shim: tracebacks leave it out."""
    stands_for(code, plan)
    _watch(_shims, id(code), plan)


def interpreted_before(traceback: TracebackType | None) -> bool:
    """Has an exception with this traceback come through interpreted frames?"""
    while traceback is not None:
        if id(traceback.tb_frame.f_code) in _originals:
            return True
        traceback = traceback.tb_next
    return False


def frame_object(frame: Frame, filled: bool = False) -> FrameType:
    """The frame object of an interpreted frame; ``filled`` puts its locals in."""
    shown = frame.shown
    if shown is not None:
        if filled:
            fill(shown, frame)
        return shown
    if frame.namespace is not None:
        names = tuple(dict.fromkeys(frame.plan.names))
        with seen_builtins(frame.globals, frame.builtins):
            shown = eval(_template(frame, names, 0), frame.globals, frame.namespace).gi_frame
    elif filled:
        bound = frame.bound()
        rest = [name for name in frame.plan.names if name not in bound]
        shown = FunctionType(_template(frame, (*bound, *rest), len(bound)), frame.globals)(*bound.values()).gi_frame
    else:
        shown = FunctionType(_template(frame, tuple(dict.fromkeys(frame.plan.names)), 0), frame.globals)().gi_frame
    frame.shown = shown
    _watch(_shown, id(shown), frame)
    return shown


def fill(shown: FrameType, frame: Frame) -> None:
    """Bring the locals of a frame object up to date."""
    if frame.namespace is not None:
        return
    space, bound = shown.f_locals, frame.bound()
    if VERSION >= (3, 13):
        space.update(bound)
        return
    space.clear()
    space.update(bound)
    _to_fast(shown, 1)
    space.clear()


def part_with(frame: Frame) -> None:
    """A frame is left: its frame object, if anybody else has it, keeps the locals."""
    shown = frame.shown
    if sys.getrefcount(shown) > 3:
        set_line(shown, shown_line(frame))
        if frame.fast:
            fill(shown, frame)
    frame.shown = None
    _shown.pop(id(shown), None)


def interpreted(shown: FrameType) -> Frame | None:
    """The interpreted frame that a frame object stands for, while it lives."""
    watch = _shown.get(id(shown))
    return None if watch is None else watch()


def original(code: CodeType) -> CodeType:
    """The user's code object for the code of a frame object."""
    watch = _originals.get(id(code))
    plan = None if watch is None else watch()
    found = None if plan is None else plan.code()
    return code if found is None else found


def shown_line(frame: Frame) -> int:
    """What ``f_lineno`` of a frame object is to be set to; -1 makes it None, where the code tells no line."""
    line = frame.plan.line_at(frame.code, frame.offset)
    return -1 if line is None else line


def set_line(shown: FrameType, line: int) -> None:
    """Set ``f_lineno``, which a program may only set while it traces."""
    ctypes.c_int.from_address(id(shown) + _LINE).value = line


def link_back(shown: FrameType, back: FrameType | None) -> None:
    """Set ``f_back``, which has no setter.

    What the getter gives need not be in the frame: of a running frame it is worked out, and not for us to let go of.
    """
    old = shown.f_back
    if back is old:
        return
    field = ctypes.c_void_p.from_address(id(shown) + _BACK)
    kept = field.value is not None
    if back is not None:
        incref(back)
    field.value = None if back is None else id(back)
    if kept:
        decref(old)


def live_frame(frame) -> FrameType | None:
    """The frame object of a running interpreted frame, with its line and its callers, as ``sys._getframe`` gives it."""
    first = above = None
    while frame is not None:
        if type(frame) is Root:
            if frame.back is None:
                outer = None if frame.machine.alone else outer_frame(frame)
                if above is None:
                    return outer
                link_back(above, outer)
        elif not frame.plan.silent:
            shown = frame_object(frame)
            set_line(shown, shown_line(frame))
            if above is None:
                first = shown
            else:
                link_back(above, shown)
            above = shown
        frame = frame.back
    return first


def outer_frame(root: Root) -> FrameType | None:
    """The native frame that entered the machine."""
    found = sys._getframe(1)
    while found is not None and ours(found.f_code):
        found = found.f_back
    return found


def user_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an exception that was just caught, without the machine's own frames at its head."""
    traceback = error.__traceback__
    while traceback is not None and ours(traceback.tb_frame.f_code):
        traceback = traceback.tb_next
    if traceback is not None:
        back = traceback.tb_frame.f_back
        if back is not None and ours(back.f_code):
            link_back(traceback.tb_frame, None)
    return traceback


def traceback_entry(error: BaseException, frame: Frame, left: bool) -> None:
    """Put the line that ``frame`` is at in front of the exception's traceback; ``left``: the frame is left by it."""
    if frame.plan.silent:
        return
    offset = frame.offset
    line = frame.plan.line_at(frame.code, offset)
    offset = max(offset, 0)
    shown = frame_object(frame, left)
    following = error.__traceback__
    if following is not None and following.tb_frame.f_back is None and following.tb_frame is not shown:
        link_back(following.tb_frame, shown)
    error.__traceback__ = TracebackType(following, shown, offset, -1 if line is None else line)
