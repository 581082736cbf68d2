"""The user's line in a traceback: which frame to name in a row."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)
ROOT = str(Path(HERE).parent)
STDLIB = sysconfig.get_paths()["stdlib"]


#: Libraries whose frames are nobody's but their own. LitGPT is none: its models are what is measured.
LIBRARIES = ("torch", "thunder", "numpy", "lightning")


def foreign(filename: str) -> bool:
    """Code that is neither the user's nor the model's: ours, torch's, another jit's, Python's own, generated."""
    if not filename.endswith(".py"):
        return True
    name = os.path.realpath(filename)
    parts = name.split(os.sep)
    if name.startswith((HERE + os.sep, interpreter_folder() + os.sep)):
        return True
    for library in LIBRARIES:
        package = sys.modules.get(library)
        if package and name.startswith(os.path.dirname(os.path.realpath(package.__file__ or "")) + os.sep):
            return True
    return name.startswith(STDLIB) and "site-packages" not in parts


def interpreter_folder() -> str:
    """Where the interpreter that is in use lies: that of another revision, in a comparison of revisions."""
    package = sys.modules.get("interpreter")
    return os.path.realpath(package.__path__[0]) if package else os.path.join(ROOT, "interpreter")


def users_line(error: BaseException) -> str | None:
    """"file:line" of the innermost frame of the traceback that is the user's; None where all of it is foreign."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if not foreign(frame.filename):
            return f"{short(frame.filename)}:{frame.lineno}"
    return None


def short(filename: str) -> str:
    """A file as people know it: below site-packages, else relative to the working directory, else as it is."""
    path = Path(filename)
    if "site-packages" in path.parts:
        return str(Path(*path.parts[path.parts.index("site-packages") + 1:]))
    return shortened(os.path.realpath(filename))


def shortened(text: str) -> str:
    """A text with the files in it as people know them: the same wherever the checkout and its environment are."""
    text = re.sub(r"/[^\s'\"(]*?/site-packages/", "", text)
    for folder in (STDLIB, os.path.dirname(interpreter_folder()), ROOT, os.getcwd()):
        text = text.replace(f"{folder}/", "")
    return text


def described(error: BaseException) -> str:
    """One line for a row: type, the first line of the message, the user's line."""
    message = str(error).strip().splitlines()
    text = type(error).__name__ + (f": {message[0][:300]}" if message else "")
    line = users_line(error)
    return f"{text} ({line})" if line else text


def stack_line(text: str) -> str | None:
    """The user's innermost line in what faulthandler wrote: `File "x.py", line 3 in f`, innermost first."""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith('File "') and '", line ' in line:
            filename, _, rest = line[6:].partition('", line ')
            if not foreign(filename):
                return f"{short(filename)}:{rest.split(' ')[0]}"
    return None


def out_of_memory(error: BaseException) -> bool:
    """An allocation that was refused, in any of the ways in which torch and Python say so."""
    torch = sys.modules.get("torch")
    if isinstance(error, MemoryError) or (torch and isinstance(error, torch.OutOfMemoryError)):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and any(sign in text for sign in (
        "can't allocate memory", "not enough memory", "out of memory", "bad_alloc", "Cannot allocate memory"))
