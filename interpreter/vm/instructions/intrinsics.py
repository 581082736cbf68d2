"""Intrinsic functions, by which 3.12 and later do what had been instructions of their own."""

import typing

from ..frame import Frame
from ..generators import Wrapped
from ..registry import instruction
from ..values import NULL
from .exceptions import prepare_reraise_star


def import_star(frame, module):
    """``from module import *``."""
    space = module.__dict__ if hasattr(module, "__dict__") else None
    names = getattr(module, "__all__", NULL)
    listed = names is not NULL
    if not listed:
        if space is None:
            raise ImportError("from-import-* object has no __dict__ and no __all__")
        names = list(space)
    target = frame.namespace if frame.namespace is not None else frame.globals
    for name in names:
        if not issubclass(type(name), str):
            where = f"Item in {module.__name__}.__all__" if listed else f"Key in {module.__name__}.__dict__"
            raise TypeError(f"{where} must be str, not {type(name).__name__}")
        if not listed and name.startswith("_"):
            continue
        value = frame.machine.get_attribute(module, name)
        target[name] = frame.machine.finish(value) if type(value) is Frame else value


def _print(frame, value):
    """Show the value of an expression statement, in interactive mode."""
    import sys

    frame.machine.invoke(sys.displayhook, value)


def _import_star(frame, module):
    import_star(frame, module)


def _stop_iteration_error(frame, error):
    """A StopIteration that leaves a generator becomes a RuntimeError."""
    what = {0x20: "generator", 0x80: "coroutine", 0x200: "async generator"}[frame.plan.kind]
    name = None
    if issubclass(type(error), StopIteration):
        name = "StopIteration"
    elif frame.plan.kind == 0x200 and issubclass(type(error), StopAsyncIteration):
        name = "StopAsyncIteration"
    if name is None:
        return error
    wrapped = RuntimeError(f"{what} raised {name}")
    wrapped.__cause__ = wrapped.__context__ = error
    return wrapped


def _wrap(frame, value):
    return Wrapped(value)


def _positive(frame, value):
    result = frame.machine.unary("+", value)
    return frame.machine.finish(result) if type(result) is Frame else result


def _subscript_generic(frame, parameters):
    return typing.Generic[tuple(parameters) if isinstance(parameters, (list, tuple)) else parameters]


def _list_to_tuple(frame, value):
    return tuple(value)


UNARY = {
    1: _print,
    2: _import_star,
    3: _stop_iteration_error,
    4: _wrap,
    5: _positive,
    6: _list_to_tuple,
    10: _subscript_generic,
}


@instruction()
def CALL_INTRINSIC_1(frame, number):
    stack = frame.stack
    function = UNARY.get(number)
    if function is None:
        function = _compiled(number)
    stack[-1] = function(frame, stack[-1])


def _compiled(number):
    from .typeparams import native_intrinsic

    return native_intrinsic(number)


@instruction()
def CALL_INTRINSIC_2(frame, number):
    stack = frame.stack
    second = stack.pop()
    if number == 1:
        stack[-1] = prepare_reraise_star(stack[-1], second)
        return
    from .typeparams import native_intrinsic_of_two

    stack[-1] = native_intrinsic_of_two(number)(frame, stack[-1], second)


@instruction()
def PRINT_EXPR(frame, operand):
    _print(frame, frame.stack.pop())


@instruction()
def ASYNC_GEN_WRAP(frame, operand):
    frame.stack[-1] = Wrapped(frame.stack[-1])
