"""``eval`` and ``exec``: what they compile or are given runs in the machine."""

import builtins
import sys
from types import CodeType

from .frame import CellType, Frame
from .looking import local_names
from .lookups import has
from .names import builtins_of
from .natives import native, user_frame
from .values import NULL


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
