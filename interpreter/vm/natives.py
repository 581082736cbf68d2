"""Native callables that look at frames: the machine answers for them; other files add those that steer and evaluate.

``NATIVES`` maps the callable to its handler, called as ``handler(machine, *args, **kwargs)``.
"""

import builtins
import sys
import warnings
from types import FrameType, FunctionType

from .classes import build_class
from .current import is_interpreting
from .frame import CellType, Root
from .limits import set_user_limit, user_limit
from .looking import clear, local_names
from .names import seen_builtins
from .pyframes import live_frame
from .values import NULL

NATIVES: dict = {}


class Native:
    """A handler, in the form in which lookasides are kept too."""

    __slots__ = ("counted", "function", "native")

    def __init__(self, function, counted=True):
        self.function, self.counted, self.native = function, counted, True

    def needed(self, args, kwargs):
        """The machine always answers."""
        return True


def native(*targets, counted=True):
    """Register a handler for native callables."""

    def register(handler):
        for target in targets:
            NATIVES[target] = Native(handler, counted)
        return handler

    return register


def user_frame(machine):
    """The innermost interpreted frame, or None."""
    frame = machine.frame
    while type(frame) is Root:
        frame = frame.back
    return frame


@native(is_interpreting, counted=False)
def is_interpreting_(machine):
    return True


@native(builtins.locals)
def locals_(machine):
    frame = user_frame(machine)
    return builtins.locals() if frame is None else local_names(frame)


@native(builtins.globals)
def globals_(machine):
    frame = user_frame(machine)
    return builtins.globals() if frame is None else frame.globals


@native(builtins.vars)
def vars_(machine, *args):
    return machine.call_native(vars, args) if args else locals_(machine)


@native(builtins.dir)
def dir_(machine, *args):
    if not args:
        return sorted_names(machine, locals_(machine))
    return machine.call_native(dir, args)


def sorted_names(machine, space):
    """The names of a local namespace, sorted, as ``dir()`` gives them."""
    if type(space) is dict:
        return sorted(space)
    names = machine.invoke(space.keys)
    if not issubclass(type(names), list):
        raise TypeError(f"dir(): expected keys() of locals to be a list, not '{type(names).__name__}'")
    machine.invoke(names.sort)
    return names


@native(builtins.__build_class__)
def build_class_(machine, *args, **kwargs):
    return build_class(machine, args, kwargs)


@native(FunctionType)
def function_(machine, *args, **kwargs):
    """A new function sees the builtins of the frame that makes it, unless its globals name others."""
    frame = user_frame(machine)
    names = args[1] if len(args) > 1 else kwargs.get("globals")
    if not issubclass(type(names), dict):
        return FunctionType(*args, **kwargs)
    with seen_builtins(names, builtins.__dict__ if frame is None else frame.builtins):
        return FunctionType(*args, **kwargs)


@native(builtins.super)
def super_(machine, *args, **kwargs):
    if args or kwargs:
        return super(*args, **kwargs)
    return zero_argument_super(user_frame(machine))


def zero_argument_super(frame):
    """``super()``: from the frame's first argument and its ``__class__`` cell."""
    if frame is None:
        raise RuntimeError("super(): no current frame")
    plan = frame.plan
    if not plan.argcount and not plan.flags & 4:
        raise RuntimeError("super(): no arguments")
    first = frame.fast[0] if plan.argcount else NULL
    if type(first) is CellType and plan.names[0] in plan.cells:
        first = first.cell_contents if first != CellType() else NULL
    if first is NULL:
        raise RuntimeError("super(): arg[0] deleted" if plan.argcount else "super(): no arguments")
    if "__class__" not in frame.code.co_freevars:
        raise RuntimeError("super(): __class__ cell not found")
    cell = frame.fast[plan.names.index("__class__", len(plan.names) - len(frame.code.co_freevars))]
    try:
        cls = cell.cell_contents
    except ValueError:
        raise RuntimeError("super(): empty __class__ cell") from None
    return super(cls, first)


@native(sys._getframe)
def getframe_(machine, depth=0, /):
    depth = max(depth, 0)
    frame = machine.frame
    for _ in range(depth):
        while type(frame) is Root and frame.back is not None:
            frame = frame.back
        if type(frame) is Root:
            break
        frame = frame.back
        depth -= 1
    shown = live_frame(frame)
    while type(frame) is Root and depth and shown is not None:
        shown, depth = shown.f_back, depth - 1
    if shown is None:
        raise ValueError("call stack is not deep enough")
    return shown


@native(FrameType.clear, counted=False)
def clear_(machine, shown):
    return clear(shown)


@native(sys.exc_info)
def exc_info_(machine):
    error = machine.handled(machine.frame)
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


if hasattr(sys, "exception"):

    @native(sys.exception)
    def exception_(machine):
        return machine.handled(machine.frame)


if hasattr(sys, "_getframemodulename"):

    @native(sys._getframemodulename)
    def getframemodulename_(machine, depth=0):
        try:
            return getframe_(machine, depth).f_globals.get("__name__")
        except ValueError:
            return None


@native(sys.getrecursionlimit)
def getrecursionlimit_(machine):
    return user_limit()


@native(sys.setrecursionlimit)
def setrecursionlimit_(machine, limit, /):
    if not issubclass(type(limit), int) or limit < 1:
        return sys.setrecursionlimit(limit)
    depth = machine.frame.depth
    if limit <= depth:
        raise RecursionError(
            f"cannot set the recursion limit to {limit} at the recursion depth {depth}: the limit is too low"
        )
    set_user_limit(limit)
    machine.limit = limit
    return None


@native(warnings.warn)
def warn_(machine, message, category=None, stacklevel=1, source=None, **kwargs):
    """``warnings.warn``, whose level counts the user's frames."""
    frame = user_frame(machine)
    if frame is None or kwargs or not issubclass(type(stacklevel), int):
        return warnings.warn(message, category, stacklevel, source, **kwargs)
    if issubclass(type(message), Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    if not (issubclass(type(category), type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    shown = live_frame(frame)
    internal = is_internal(shown)
    for _ in range(stacklevel - 1):
        if shown is None:
            break
        shown = shown.f_back
        while not internal and shown is not None and is_internal(shown):
            shown = shown.f_back
    if shown is None:
        space = sys.__dict__
        filename, line = ("sys", 1) if sys.version_info < (3, 13) else ("<sys>", 0)
    else:
        space, filename, line = shown.f_globals, shown.f_code.co_filename, shown.f_lineno
    registry = space.setdefault("__warningregistry__", {})
    module = space.get("__name__") or "<string>"
    return warnings.warn_explicit(message, category, filename, line, module, registry, None, source)


def is_internal(frame):
    """Frames of the import system do not count."""
    return "importlib" in frame.f_code.co_filename and "_bootstrap" in frame.f_code.co_filename
