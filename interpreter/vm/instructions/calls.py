"""Calls, returns and the making of functions."""

from ..frame import CellType, Frame
from ..generators import generator_returned
from ..lookups import has
from ..names import new_function
from ..pyframes import part_with
from ..registry import HANDLERS, VERSION, instruction
from ..values import NULL
from .operands import constant, passed
from .stack import UNKNOWN


def _call(frame, count, names):
    """Take callable and arguments off the stack and call."""
    stack = frame.stack
    base = len(stack) - count
    args = stack[base:]
    first, second = stack[base - 2 : base]
    del stack[base - 2 :]
    if VERSION < (3, 13):
        if first is NULL:
            function = second
        else:
            function = first
            args.insert(0, second)
    else:
        function = first
        if second is not NULL:
            args.insert(0, second)
    if names:
        split = len(args) - len(names)
        kwargs = dict(zip(names, args[split:]))
        del args[split:]
        result = frame.machine.call(function, args, kwargs)
    else:
        result = frame.machine.call(function, args, None)
    if type(result) is Frame:
        return result
    stack.append(result)
    return None


@instruction()
def CALL(frame, count):
    return _call(frame, count, None)


def CALL_WITH_NAMES(frame, operand):
    """KW_NAMES and CALL in one."""
    return _call(frame, *operand)


HANDLERS["CALL_WITH_NAMES"] = CALL_WITH_NAMES
HANDLERS["UNKNOWN"] = UNKNOWN


@instruction()
def CALL_KW(frame, count):
    return _call(frame, count, frame.stack.pop())


@instruction(until=(3, 13))
def CALL_FUNCTION_EX(frame, flags):
    stack, machine = frame.stack, frame.machine
    kwargs = stack.pop() if flags & 1 else None
    args = stack.pop()
    if VERSION < (3, 13):
        function = stack.pop()
        stack.pop()
    else:
        stack.pop()
        function = stack.pop()
    if type(args) is not tuple:
        if not has(type(args), "__iter__") and not has(type(args), "__getitem__"):
            raise TypeError(f"{called(function)} argument after * must be an iterable, not {type(args).__name__}")
        given, args = args, []
        machine.extend(args, given)
    result = machine.call(function, [*args], kwargs or None)
    if type(result) is Frame:
        return result
    stack.append(result)


def called(function):
    """How messages name a callable: ``module.qualname()``, without the module for builtins."""
    name = getattr(function, "__qualname__", None)
    if name is None:
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{name}()" if module is not None and module != "builtins" else f"{name}()"


@instruction(operand=passed)
def RETURN_VALUE(frame, passed):
    return give_back(frame, frame.stack.pop(), passed)


@instruction(operand=lambda decoder, raw: (constant(decoder, raw), decoder.passed))
def RETURN_CONST(frame, operand):
    return give_back(frame, *operand)


def give_back(frame, value, passed):
    """Return ``value`` to the caller.

    The variables are turned round, as lists let go of their items from the end on, and frames from the beginning.
    """
    machine, hook, back = frame.machine, frame.hook, frame.back
    machine.stats.instructions += frame.ticks + passed
    if frame.shown is not None:
        part_with(frame)
    else:
        frame.fast.reverse()
    if frame.plan.kind:
        return generator_returned(frame, value)
    if hook is None:
        back.stack.append(value)
        return back
    machine.frame = back
    try:
        value = hook.returned(back, value)
    except BaseException as caught:
        error = caught
    else:
        if type(value) is Frame or value is back:
            return value
        back.stack.append(value)
        return back
    return machine.raised(back, error)


@instruction(until=(3, 12))
def MAKE_FUNCTION(frame, flags):
    stack = frame.stack
    code = stack.pop()
    function = new_function(frame, code, closure=stack.pop() if flags & 8 else None)
    if flags & 4:
        annotate(function, stack.pop())
    if flags & 2:
        function.__kwdefaults__ = stack.pop()
    if flags & 1:
        function.__defaults__ = stack.pop()
    stack.append(function)


@instruction("MAKE_FUNCTION", since=(3, 13))
def MAKE_PLAIN_FUNCTION(frame, operand):
    stack = frame.stack
    code = stack.pop()
    closure = tuple(CellType() for _ in code.co_freevars) if code.co_freevars else None
    stack.append(new_function(frame, code, closure=closure))


@instruction()
def SET_FUNCTION_ATTRIBUTE(frame, flag):
    stack = frame.stack
    function = stack.pop()
    value = stack.pop()
    if flag == 8:
        made = new_function(frame, function.__code__, function.__name__, function.__defaults__, value)
        made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
        made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
        function = made
    elif flag == 16:  # from 3.14 on, written from its documentation and not run
        function.__annotate__ = value
    elif flag == 4:
        annotate(function, value)
    elif flag == 2:
        function.__kwdefaults__ = value
    elif flag == 1:
        function.__defaults__ = value
    stack.append(function)


def annotate(function, annotations):
    """Annotations come as a dict or as a tuple of names and values in turn."""
    if type(annotations) is tuple:
        annotations = dict(zip(annotations[::2], annotations[1::2]))
    function.__annotations__ = annotations
