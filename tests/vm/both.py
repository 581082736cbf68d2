"""The oracle of these tests is CPython: a program is run natively and in the machine, and all that can be told is
compared.

An outcome is the value, what was printed, and the exception: type, message, notes, cause and context down the chain,
and the functions and lines of its traceback.
"""

import contextlib
import io
import re
import traceback

from interpreter.interpret import interpret

ADDRESS = re.compile(r"0x[0-9a-f]+")


def shown(value):
    """The text of a value, without addresses."""
    return ADDRESS.sub("0x", repr(value))


def described(error, depth=6):
    """An exception as plain data, down to ``depth`` links of its chain."""
    if error is None or not depth:
        return None
    lines = [
        (entry.name, entry.lineno)
        for entry in traceback.extract_tb(error.__traceback__)
        if "tests/vm/both" not in entry.filename
    ]
    return {
        "type": type(error).__name__,
        "message": ADDRESS.sub("0x", str(error)),
        "notes": getattr(error, "__notes__", None),
        "cause": described(error.__cause__, depth - 1),
        "context": described(error.__context__, depth - 1),
        "suppressed": error.__suppress_context__,
        "parts": [described(part, depth - 1) for part in getattr(error, "exceptions", ())],
        "lines": lines,
    }


def outcome(function, *args):
    """What calling ``function`` gives."""
    printed = io.StringIO()
    value = error = None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            value = shown(function(*args))
        except BaseException as caught:
            error = described(caught)
    return {"value": value, "printed": printed.getvalue(), "error": error}


def agree(program, *args):
    """Fail unless the machine gives what CPython gives; gives that outcome."""
    wanted = outcome(program, *args)
    run = interpret(program)
    found = outcome(run, *args)
    assert run.stats.instructions > 0, "nothing was interpreted"
    different = [f"{key}: {found[key]}\n  natively: {wanted[key]}" for key in wanted if found[key] != wanted[key]]
    assert not different, "\n".join(different)
    return wanted
