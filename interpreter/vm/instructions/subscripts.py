"""Subscripts and slices."""

from ..registry import instruction
from .attributes import push


@instruction()
def BINARY_SUBSCR(frame, operand):
    stack = frame.stack
    key = stack.pop()
    return push(frame, frame.machine.get_item(stack.pop(), key))


@instruction()
def STORE_SUBSCR(frame, operand):
    stack = frame.stack
    value, obj, key = stack[-3:]
    del stack[-3:]
    return frame.machine.set_item(obj, key, value)


@instruction()
def DELETE_SUBSCR(frame, operand):
    stack = frame.stack
    key = stack.pop()
    return frame.machine.delete_item(stack.pop(), key)


@instruction()
def BINARY_SLICE(frame, operand):
    stack = frame.stack
    obj, start, stop = stack[-3:]
    del stack[-3:]
    machine = frame.machine
    return push(frame, machine.get_item(obj, machine.build_slice(start, stop)))


@instruction()
def STORE_SLICE(frame, operand):
    stack = frame.stack
    value, obj, start, stop = stack[-4:]
    del stack[-4:]
    machine = frame.machine
    return machine.set_item(obj, machine.build_slice(start, stop), value)


@instruction()
def BUILD_SLICE(frame, count):
    stack = frame.stack
    parts = stack[-count:]
    del stack[-count:]
    stack.append(frame.machine.build_slice(*parts))
