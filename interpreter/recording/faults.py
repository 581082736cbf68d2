"""Faults of ours, told apart from the user's exceptions.

While a call is interpreted, an exception that comes straight out of the bookkeeping (the trace, its guards and
templates) can't be the user's: it becomes an InterpreterError that names the user's line and the instruction, and no
`except` of the user's catches it. After the call its result is right whatever happens to the record, so a fault there
is a warning, and the call is not served from a program.
"""

from __future__ import annotations

import dis
import pathlib
import sys

from interpreter.vm.errors import InterpreterError

HERE = pathlib.Path(__file__).parent
OURS = str(HERE.parent)
BOOKKEEPING = {
    str(HERE / f"{name}.py")
    for name in (
        "trace",
        "reading",
        "guards",
        "sources",
        "operations",
        "results",
        "prologue",
        "program",
        "position",
        "leaving",
        "switches",
        "naming",
        "outside",
        "hidden",
        "shaping",
    )
}
KINDS = (AttributeError, NameError, AssertionError)
DOES_FOR_THE_USER = {"number", "ask_number", "next"}  # what is raised there was raised by what the user's code computes
ADVICE = (
    "Please report it with this text. Until then, call this function without jit, or keep what it does at this line "
    "out of the jitted call"
)


class Fault(RuntimeWarning):
    """The record of a call could not be made, by a fault of the interpreter; the call itself went well."""


def users_level() -> int:
    """The `stacklevel` at which the user's line stands, for who calls `warnings.warn`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        level, frame = level + 1, frame.f_back
    return level


def is_fault(error: BaseException) -> bool:
    """Whether an exception that reached the machine comes from its own bookkeeping."""
    if isinstance(error, InterpreterError):
        return True
    trace = error.__traceback__
    if trace is None or not isinstance(error, KINDS):
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return code.co_filename in BOOKKEEPING and code.co_name not in DOES_FOR_THE_USER


def users(error: BaseException) -> BaseException:
    """The exception of a user, with a traceback that has no frame of ours. A fault keeps them all."""
    if isinstance(error, InterpreterError):
        return error
    kept = []
    entry = error.__traceback__
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(OURS):
            kept.append(entry)
        entry = entry.tb_next
    for entry, following in zip(kept, [*kept[1:], None]):
        entry.tb_next = following
    return error.with_traceback(kept[0] if kept else None)


def fault_at(frame, error: BaseException) -> InterpreterError:
    """The InterpreterError for a fault at an interpreted frame."""
    if isinstance(error, InterpreterError):
        return error
    while frame is not None and frame.code is None:
        frame = frame.back
    if frame is None:
        return InterpreterError(f"recording failed with {told(error)}. {ADVICE}")
    name = dis.opname[frame.code.co_code[frame.offset]] if frame.offset >= 0 else "the call"
    return InterpreterError(f"{frame.where}: recording the instruction {name} failed with {told(error)}. {ADVICE}")


def told(error: BaseException) -> str:
    """An exception and where in the interpreter it was raised, in one line."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f" ({pathlib.Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"
