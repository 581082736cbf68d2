"""Neighbouring instructions that one handler carries out: a turn of the loop and a call less for each pair.

The operand is (operand of the first, operand of the second, offset of the first). Where the first raises, it leaves its
own offset in ``machine.restored``, since the entry in the list stands for the second.
"""

from ..names import unbound
from ..registry import fused
from ..values import NULL
from .calls import give_back
from .operators import SIMPLE


def missing(frame, index, offset):
    """The local variable ``index`` has no value: the exception, placed at the first instruction of a pair."""
    frame.machine.restored = offset
    return unbound(frame.plan.names[index])


@fused("LOAD_FAST", "LOAD_FAST")
def load_two(frame, operand):
    first, second, offset = operand
    fast = frame.fast
    value = fast[first]
    if value is NULL:
        raise missing(frame, first, offset)
    stack = frame.stack
    stack.append(value)
    value = fast[second]
    if value is NULL:
        raise unbound(frame.plan.names[second])
    stack.append(value)


@fused("LOAD_FAST", "LOAD_CONST")
def load_and_constant(frame, operand):
    first, value, offset = operand
    found = frame.fast[first]
    if found is NULL:
        raise missing(frame, first, offset)
    stack = frame.stack
    stack.append(found)
    stack.append(value)


@fused("LOAD_FAST", "BINARY_OP")
def load_and_operate(frame, operand):
    first, (_, native), offset = operand
    right = frame.fast[first]
    if right is NULL:
        raise missing(frame, first, offset)
    stack = frame.stack
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = native(left, right)
        return None
    stack.append(right)
    return frame.machine.table["BINARY_OP"](frame, operand[1])


@fused("LOAD_CONST", "BINARY_OP")
def constant_and_operate(frame, operand):
    right, (_, native), _ = operand
    stack = frame.stack
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = native(left, right)
        return None
    stack.append(right)
    return frame.machine.table["BINARY_OP"](frame, operand[1])


@fused("LOAD_FAST", "RETURN_VALUE", quick=True)
def load_and_return(frame, operand):
    value = frame.fast[operand[0]]
    if value is NULL:
        raise missing(frame, operand[0], operand[2])
    if frame.hook is None and frame.state is None and frame.shown is None:
        frame.fast.reverse()
        frame.machine.stats.instructions += frame.ticks + operand[1]
        back = frame.back
        back.stack.append(value)
        return back
    return give_back(frame, value, operand[1])


@fused("LOAD_FAST", None)
def load_and_more(frame, operand):
    first, (handler, second), offset = operand
    value = frame.fast[first]
    if value is NULL:
        raise missing(frame, first, offset)
    frame.stack.append(value)
    return handler(frame, second)


@fused("STORE_FAST", "STORE_FAST")
def store_two(frame, operand):
    fast, stack = frame.fast, frame.stack
    fast[operand[0]] = stack.pop()
    fast[operand[1]] = stack.pop()


@fused("STORE_FAST", None)
def store_and_more(frame, operand):
    first, (handler, second), _ = operand
    frame.fast[first] = frame.stack.pop()
    return handler(frame, second)


@fused("LOAD_CONST", None)
def constant_and_more(frame, operand):
    value, (handler, second), _ = operand
    frame.stack.append(value)
    return handler(frame, second)


@fused("SWAP", "SWAP")
def swap_two(frame, operand):
    first, second, _ = operand
    stack = frame.stack
    stack[-1], stack[-first] = stack[-first], stack[-1]
    stack[-1], stack[-second] = stack[-second], stack[-1]


@fused("COPY", "COPY")
def copy_two(frame, operand):
    stack = frame.stack
    stack.append(stack[-operand[0]])
    stack.append(stack[-operand[1]])


@fused("COMPARE_OP", "POP_JUMP_IF_FALSE")
@fused("COMPARE_OP", "POP_JUMP_FORWARD_IF_FALSE")
def compare_and_jump(frame, operand):
    (symbol, native, _), (target, ticks), offset = operand
    stack = frame.stack
    right = stack.pop()
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack.pop()
        answer = native(left, right)
    else:
        try:
            answer = frame.machine.compare(symbol, left, right)
        except BaseException:
            frame.machine.restored = offset
            raise
        stack.pop()
        if answer is not True and answer is not False:
            answer = frame.machine.truth(answer)
    if not answer:
        frame.ticks += ticks
        frame.iterator.__setstate__(target)
