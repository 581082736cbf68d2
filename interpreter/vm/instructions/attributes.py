"""Attributes, methods and zero-argument ``super()``."""

from types import MethodType

from ..frame import Frame
from ..hooks import Then, hooked
from ..natives import zero_argument_super
from ..registry import VERSION, instruction
from ..values import NULL
from .operands import flagged_name, name


def push(frame, result):
    """Push a value; a Frame is entered and pushes its value when it returns."""
    if type(result) is Frame:
        return result
    frame.stack.append(result)
    return None


@instruction(operand=name, until=(3, 11))
def LOAD_ATTR(frame, name):
    result = frame.machine.get_attribute(frame.stack.pop(), name)
    if type(result) is Frame:
        return result
    frame.stack.append(result)


def push_method(frame, name):
    """(function, self), or (empty place, value) in the order of the version."""
    machine, obj = frame.machine, frame.stack.pop()
    method = machine.get_method(obj, name)
    if method is not None:
        frame.stack += method
        return None
    result = machine.get_attribute(obj, name)
    if VERSION < (3, 13):
        frame.stack.append(NULL)
        return push(frame, result)
    if type(result) is Frame:
        stack = frame.stack

        def with_empty_place(value):
            stack.append(value)
            return NULL

        return hooked(result, Then(with_empty_place))
    frame.stack += result, NULL
    return None


@instruction(operand=name)
def LOAD_METHOD(frame, name):
    return push_method(frame, name)


@instruction("LOAD_ATTR", operand=flagged_name, since=(3, 12))
def LOAD_ATTR_OR_METHOD(frame, operand):
    if operand[1]:
        return push_method(frame, operand[0])
    return push(frame, frame.machine.get_attribute(frame.stack.pop(), operand[0]))


@instruction(operand=lambda decoder, raw: (decoder.names[raw >> 2], raw & 1, raw & 2))
def LOAD_SUPER_ATTR(frame, operand):
    name, method, explicit = operand
    stack, machine = frame.stack, frame.machine
    function, cls, obj = stack[-3:]
    del stack[-3:]
    if function is super:
        proxy = super(cls, obj) if explicit else zero_argument_super(frame)
    else:
        proxy = machine.invoke(function, cls, obj) if explicit else machine.invoke(function)
    value = machine.get_attribute(proxy, name)
    if type(value) is Frame:
        value = machine.finish(value)
    if not method:
        stack.append(value)
    elif type(value) is MethodType and value.__self__ is obj:
        stack += value.__func__, obj
    elif VERSION < (3, 13):
        stack += NULL, value
    else:
        stack += value, NULL


@instruction(operand=name)
def STORE_ATTR(frame, name):
    stack = frame.stack
    obj = stack.pop()
    return frame.machine.set_attribute(obj, name, stack.pop())


@instruction(operand=name)
def DELETE_ATTR(frame, name):
    return frame.machine.delete_attribute(frame.stack.pop(), name)
