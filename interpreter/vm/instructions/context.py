"""``with`` statements."""

from ..frame import Frame
from ..lookups import lookup
from ..registry import instruction
from ..values import NULL


def bound_special(obj, name, wanted):
    """A special method, bound; TypeError as CPython words it where the object is no context manager."""
    kind = type(obj)
    found = lookup(kind, name)
    if found is NULL:
        raise TypeError(f"'{kind.__name__}' object does not support {wanted}")
    getter = getattr(type(found), "__get__", None)
    return found if getter is None else getter(found, obj, kind)


def enter_with(frame, enter, leave, protocol):
    """Push the bound exit method, then call the entry method."""
    stack, machine = frame.stack, frame.machine
    manager = stack.pop()
    entering = bound_special(manager, enter, f"the {protocol} protocol")
    try:
        leaving = bound_special(manager, leave, "")
    except TypeError:
        text = f"'{type(manager).__name__}' object does not support the {protocol} protocol (missed {leave} method)"
        raise TypeError(text) from None
    stack.append(leaving)
    result = machine.call(entering, [], None)
    if type(result) is Frame:
        return result
    stack.append(result)
    return None


@instruction()
def BEFORE_WITH(frame, operand):
    return enter_with(frame, "__enter__", "__exit__", "context manager")


@instruction()
def BEFORE_ASYNC_WITH(frame, operand):
    return enter_with(frame, "__aenter__", "__aexit__", "asynchronous context manager")


@instruction(until=(3, 13))
def WITH_EXCEPT_START(frame, operand):
    """The exit method lies below the exception, what was handled before it, and the place of the instruction."""
    stack = frame.stack
    error, leaving = stack[-1], stack[-4]
    result = frame.machine.call(leaving, [type(error), error, error.__traceback__], None)
    if type(result) is Frame:
        return result
    stack.append(result)
