"""Native code that looks at its caller: it is called from a function which bears the caller's globals, file and line.

What makes classes and type variables notes the module that its caller belongs to, iterators are reduced to a call of
what the caller's builtins have as ``iter``, and a warning is of the line that the caller is at.
"""

import builtins
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType

from .lookups import namespace_of
from .pyframes import note_shim

STANDARD = builtins.__dict__
DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType)
LOOKING = frozenset(
    ("__reduce__", "__reduce_ex__", "breakpointhook", "fork", "forkpty", "utcfromtimestamp", "utcnow")
)  # fmt: skip
"""Names of functions that do, besides those of ``type`` and ``_abc``; the later ones warn that they are deprecated."""


def looks(function):
    """Does a native callable look at its caller? Those of ``_abc`` call ``__subclasshook__``, which may."""
    kind = type(function)
    if issubclass(kind, type):
        return issubclass(function, type) or namespace_of(function).get("__module__") == "typing"
    if kind in DESCRIPTORS:
        return function.__name__ in LOOKING
    return kind is BuiltinFunctionType and (
        function.__self__ is type or function.__module__ == "_abc" or function.__name__ in LOOKING
    )


def _call(function, args, kwargs):
    return function(*args, **kwargs)


def one_line(raw):
    """A line table for code of these bytes, all of it on its first line."""
    # Each stretch of 8 units of code gets that line (kind 13: a line, no columns; the line moves by 0).
    return bytes([0x80 | 13 << 3 | 7, 0]) * (len(raw) // 16 + 1)


def code_at(frame):
    """The code of a function that stands where ``frame`` is."""
    plan, line = frame.plan, frame.line
    code = plan.templates.get(("caller", line))
    if code is None:
        model = _call.__code__
        code = plan.templates["caller", line] = model.replace(
            co_name=plan.name, co_qualname=plan.qualname, co_filename=plan.filename, co_firstlineno=line,
            co_linetable=one_line(model.co_code),
        )  # fmt: skip
        note_shim(code, plan)
    return code


def call_for_user(machine, function, args):
    """Call a native callable that may warn, as if the innermost frame of the program did."""
    frame = machine.frame
    while frame is not None and (frame.code is None or frame.plan.silent):
        frame = frame.back
    return function(*args) if frame is None else call_from(frame, function, args)


def call_from(frame, function, args, kwargs=None):
    """Call a native callable as if ``frame`` did."""
    space = frame.globals
    odd = frame.builtins is not STANDARD and not frame.plan.silent
    if odd or not dict.__contains__(space, "__builtins__"):
        space = {**space, "__builtins__": frame.builtins}
    return FunctionType(code_at(frame), space)(function, args, kwargs or {})
