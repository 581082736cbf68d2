"""``import`` statements."""

from ..registry import instruction
from .intrinsics import import_star
from .operands import name


@instruction(operand=name)
def IMPORT_NAME(frame, name):
    stack = frame.stack
    fromlist = stack.pop()
    level = stack.pop()
    stack.append(frame.machine.import_name(frame, name, fromlist, level))


@instruction(operand=name)
def IMPORT_FROM(frame, name):
    frame.stack.append(frame.machine.import_from(frame.stack[-1], name))


@instruction()
def IMPORT_STAR(frame, operand):
    import_star(frame, frame.stack.pop())
