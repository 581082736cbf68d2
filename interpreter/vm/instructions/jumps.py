"""Jumps. The operand of a jump is (index of the target, correction of the count of instructions)."""

from ..registry import instruction


@instruction("JUMP_FORWARD")
@instruction("JUMP_BACKWARD")
@instruction("JUMP_BACKWARD_NO_INTERRUPT")
def JUMP(frame, operand):
    frame.ticks += operand[1]
    frame.iterator.__setstate__(operand[0])


@instruction("POP_JUMP_IF_TRUE")
@instruction("POP_JUMP_FORWARD_IF_TRUE")
@instruction("POP_JUMP_BACKWARD_IF_TRUE")
def POP_JUMP_IF_TRUE(frame, operand):
    value = frame.stack.pop()
    if value is True or (value is not False and frame.machine.truth(value)):
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])


@instruction("POP_JUMP_IF_FALSE")
@instruction("POP_JUMP_FORWARD_IF_FALSE")
@instruction("POP_JUMP_BACKWARD_IF_FALSE")
def POP_JUMP_IF_FALSE(frame, operand):
    value = frame.stack.pop()
    if value is False or (value is not True and not frame.machine.truth(value)):
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])


@instruction("POP_JUMP_IF_NONE")
@instruction("POP_JUMP_FORWARD_IF_NONE")
@instruction("POP_JUMP_BACKWARD_IF_NONE")
def POP_JUMP_IF_NONE(frame, operand):
    if frame.machine.identical(frame.stack.pop(), None):
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])


@instruction("POP_JUMP_IF_NOT_NONE")
@instruction("POP_JUMP_FORWARD_IF_NOT_NONE")
@instruction("POP_JUMP_BACKWARD_IF_NOT_NONE")
def POP_JUMP_IF_NOT_NONE(frame, operand):
    if not frame.machine.identical(frame.stack.pop(), None):
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])


@instruction()
def JUMP_IF_TRUE_OR_POP(frame, operand):
    if frame.machine.truth(frame.stack[-1]):
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])
    else:
        frame.stack.pop()


@instruction()
def JUMP_IF_FALSE_OR_POP(frame, operand):
    if frame.machine.truth(frame.stack[-1]):
        frame.stack.pop()
    else:
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])
