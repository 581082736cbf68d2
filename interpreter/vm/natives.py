"""Native callables that look at frames or steer generators: the machine answers for them.

``NATIVES`` maps the callable to its handler, called as ``handler(machine, *args, **kwargs)``.
"""

import builtins
import importlib
import os
import sys
import warnings
from types import CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, TracebackType

from . import tracing
from .classes import build_class
from .current import is_interpreting
from .frame import CellType, Frame, Root
from .generators import frame_of
from .limits import set_user_limit, user_limit
from .looking import clear, local_names
from .lookups import derives, has
from .names import builtins_of, seen_builtins
from .pyframes import live_frame, user_traceback
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


def _run_code(machine, code, global_names, local_space, closure=None):
    """A Frame for a code object of a module, class body or expression."""
    if "__builtins__" not in global_names:
        global_names["__builtins__"] = user_builtins(machine)
    plan = machine.plan(code)
    slots = [NULL] * plan.size
    if closure:
        slots[plan.size - len(closure) :] = closure
    namespace = None if code.co_flags & 1 else local_space
    frame = Frame(machine, code, plan, None, global_names, builtins_of(global_names), slots, namespace)
    if closure:
        frame.function = _Closure(closure)
    return frame


class _Closure:
    """What stands for the function of a frame that ``exec`` gave a closure."""

    __name__ = __qualname__ = "<module>"

    def __init__(self, closure):
        self.__closure__ = tuple(closure)


def user_builtins(machine):
    """What new globals get as ``__builtins__``."""
    frame = user_frame(machine)
    return builtins.__dict__ if frame is None else frame.builtins


def _spaces(machine, global_names, local_space):
    frame = user_frame(machine)
    if global_names is None:
        global_names = frame.globals
        if local_space is None:
            local_space = local_names(frame)
    return global_names, global_names if local_space is None else local_space


def evaluated(machine, args, kwargs):
    """(source, globals, locals) as ``eval`` and ``exec`` are given them; None where CPython will refuse the call."""
    if kwargs and (sys.version_info < (3, 13) or set(kwargs) - {"globals", "locals"}):
        return None
    spaces = dict(zip(("globals", "locals"), args[1:]))
    if not 1 <= len(args) <= 3 or set(spaces) & set(kwargs) or user_frame(machine) is None:
        return None
    spaces.update(kwargs)
    names, local_space = spaces.get("globals"), spaces.get("locals")
    if names is not None and not issubclass(type(names), dict):
        return None
    if local_space is not None and not has(type(local_space), "__getitem__"):
        return None
    return args[0], names, local_space


def run_natively(function, args, kwargs):
    """Where there is no user's frame, or nothing that could be run: globals get the builtins of everybody."""
    names = args[1] if len(args) > 1 else kwargs.get("globals")
    if type(names) is dict:
        names.setdefault("__builtins__", builtins.__dict__)
    return function(*args, **kwargs)


@native(builtins.eval)
def eval_(machine, *args, **kwargs):
    given = evaluated(machine, args, kwargs)
    if given is None:
        return run_natively(eval, args, kwargs)
    source, globals, locals = given
    space, names = _spaces(machine, globals, locals)
    if type(source) is CodeType:
        if source.co_freevars:
            return eval(*args, **kwargs)
        sys.audit("exec", source)
        return _run_code(machine, source, space, names)
    return _run_code(machine, compile_source(machine, source, "eval"), space, names)


def compile_source(machine, source, mode):
    """Compile text as ``eval`` and ``exec`` do: with the ``__future__`` flags of the caller."""
    if mode == "eval" and issubclass(type(source), (str, bytes, bytearray)):
        source = source.lstrip(" \t" if issubclass(type(source), str) else b" \t")
    frame = user_frame(machine)
    flags = frame.code.co_flags & 0x1FF0000 if frame is not None else 0
    return compile(source, "<string>", mode, flags, True)


@native(builtins.exec)
def exec_(machine, *args, **kwargs):
    closure = kwargs.get("closure")
    given = evaluated(machine, args, {name: value for name, value in kwargs.items() if name != "closure"})
    if given is None:
        return run_natively(exec, args, kwargs)
    source, globals, locals = given
    space, names = _spaces(machine, globals, locals)
    if type(source) is CodeType:
        free = len(source.co_freevars)
        good = closure is None or (
            type(closure) is tuple and len(closure) == free and all(type(c) is CellType for c in closure)
        )
        if not good or (free and closure is None) or (closure is not None and not free):
            return exec(*args, **kwargs)
        sys.audit("exec", source)
    elif closure is not None:
        return exec(*args, **kwargs)
    else:
        source = compile_source(machine, source, "exec")
    return _run_code(machine, source, space, names, closure)


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


def _tracers(name, setter, getter):
    """Handlers for ``sys.settrace`` and ``sys.gettrace``, or those of profile functions."""

    @native(setter)
    def set_(machine, function, /):
        if not machine.can_trace:
            return machine.original(setter, [function])
        return tracing.begin(machine, name, None if function is getter() else function)

    @native(getter)
    def get_(machine):
        if not machine.can_trace:
            return machine.original(getter, [])
        found = getattr(machine.traces, name, None)
        return getter() if found is None else found


_tracers("tracer", sys.settrace, sys.gettrace)
_tracers("profiler", sys.setprofile, sys.getprofile)


@native(builtins.breakpoint)
def breakpoint_(machine, *args, **kwargs):
    hook = getattr(sys, "breakpointhook", NULL)
    if not machine.can_trace or hook is NULL:
        return machine.original(breakpoint, args, kwargs)
    sys.audit("builtins.breakpoint", hook)
    return machine.call(hook, list(args), kwargs)


@native(sys.breakpointhook)
def breakpointhook_(machine, *args, **kwargs):
    """The hook that the environment names, by default ``pdb.set_trace``; the original says what is wrong with it."""
    path = os.environ.get("PYTHONBREAKPOINT") or "pdb.set_trace"
    module, dot, name = path.rpartition(".")
    if path == "0" or not machine.can_trace or not module and dot:
        return machine.original(sys.__breakpointhook__, args, kwargs)
    try:
        hook = getattr(importlib.import_module(module or "builtins"), name)
    except Exception:
        return machine.original(sys.__breakpointhook__, args, kwargs)
    return machine.call(hook, list(args), kwargs)


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


def _thrown(machine, args):
    """The exception that ``throw(type, value, traceback)`` means."""
    kind, value, traceback = (*args, None, None)[:3]
    if traceback is not None and type(traceback) is not TracebackType:
        raise TypeError("throw() third argument must be a traceback object")
    if issubclass(type(kind), type) and issubclass(kind, BaseException):
        error = value if derives(type(value), kind) else _instance(machine, kind, value)
    elif issubclass(type(kind), BaseException):
        if value is not None:
            raise TypeError("instance exception may not have a separate value")
        error = kind
        if traceback is None:
            traceback = error.__traceback__
    else:
        text = f"exceptions must be classes or instances deriving from BaseException, not {type(kind).__name__}"
        raise TypeError(text)
    error.__traceback__ = traceback
    return error


def _instance(machine, kind, value):
    """An exception of a class; what goes wrong in making it is raised in the generator in its stead."""
    try:
        parts = () if value is None else value if issubclass(type(value), tuple) else (value,)
        error = machine.invoke(kind, *parts)
    except BaseException as caught:
        return caught
    if issubclass(type(error), BaseException):
        return error
    return TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(error)!r}")


def _steps(kind):
    """Handlers for ``send``, ``throw``, ``close`` and ``__next__`` of generators or coroutines."""

    @native(kind.send, counted=False)
    def send(machine, generator, *args, **kwargs):
        frame = frame_of(generator)
        if frame is None or len(args) != 1 or kwargs:
            return machine.call_native(kind.send, [generator, *args], kwargs)
        return machine.step(generator, frame, args[0], None)

    @native(kind.throw, counted=False)
    def throw(machine, generator, *args, **kwargs):
        frame = frame_of(generator)
        if frame is None or not 1 <= len(args) <= 3 or kwargs:
            return machine.call_native(kind.throw, [generator, *args], kwargs)
        if len(args) > 1 and sys.version_info >= (3, 12):
            text = "the (type, exc, tb) signature of throw() is deprecated, use the single-arg signature instead."
            warn_(machine, text, DeprecationWarning)
        error = _thrown(machine, args)
        error.__traceback__ = error.__traceback__ and user_traceback(error)
        return machine.inject(generator, frame, error)

    return send, throw


_steps(GeneratorType)
_steps(CoroutineType)


@native(GeneratorType.__next__, counted=False)
def generator_next(machine, generator, *args):
    frame = frame_of(generator)
    if frame is None or args:
        return machine.call_native(GeneratorType.__next__, [generator, *args])
    return machine.step(generator, frame, None, None)
