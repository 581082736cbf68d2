"""Moving values about on the stack, and local variables."""

from ..errors import InterpreterError
from ..frame import CellType
from ..names import unbound
from ..registry import instruction
from ..values import NULL
from .operands import constant, slot, slot_pair

_UNKNOWN = "UNKNOWN"


@instruction()
def POP_TOP(frame, operand):
    frame.stack.pop()


@instruction()
def PUSH_NULL(frame, operand):
    frame.stack.append(NULL)


@instruction()
def COPY(frame, depth):
    stack = frame.stack
    stack.append(stack[-depth])


@instruction()
def SWAP(frame, depth):
    stack = frame.stack
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


@instruction(operand=constant)
def LOAD_CONST(frame, value):
    frame.stack.append(value)


@instruction()
def LOAD_FAST(frame, index):
    value = frame.fast[index]
    if value is NULL:
        raise unbound(frame.plan.names[index])
    frame.stack.append(value)


@instruction(operand=slot)
def LOAD_FAST_CHECK(frame, operand):
    value = frame.fast[operand[0]]
    if value is NULL:
        raise unbound(operand[1])
    frame.stack.append(value)


@instruction()
def LOAD_FAST_AND_CLEAR(frame, index):
    frame.stack.append(frame.fast[index])
    frame.fast[index] = NULL


@instruction(operand=slot_pair)
def LOAD_FAST_LOAD_FAST(frame, operands):
    LOAD_FAST(frame, operands[0])
    LOAD_FAST(frame, operands[1])


@instruction()
def STORE_FAST(frame, index):
    frame.fast[index] = frame.stack.pop()


@instruction()
def STORE_FAST_MAYBE_NULL(frame, index):
    frame.fast[index] = frame.stack.pop()


@instruction(operand=slot_pair)
def STORE_FAST_LOAD_FAST(frame, operands):
    frame.fast[operands[0]] = frame.stack.pop()
    LOAD_FAST(frame, operands[1])


@instruction(operand=slot_pair)
def STORE_FAST_STORE_FAST(frame, pair):
    frame.fast[pair[0]] = frame.stack.pop()
    frame.fast[pair[1]] = frame.stack.pop()


@instruction(operand=slot)
def DELETE_FAST(frame, operand):
    if frame.fast[operand[0]] is NULL:
        raise unbound(operand[1])
    frame.fast[operand[0]] = NULL


@instruction()
def MAKE_CELL(frame, index):
    value = frame.fast[index]
    frame.fast[index] = CellType() if value is NULL else CellType(value)


@instruction()
def COPY_FREE_VARS(frame, count):
    closure = frame.function.__closure__
    frame.fast[len(frame.fast) - count :] = closure


@instruction()
def LOAD_CLOSURE(frame, index):
    frame.stack.append(frame.fast[index])


@instruction()
def CACHE(frame, operand):
    """Never executed: it is left out when code is decoded."""


def UNKNOWN(frame, operand):
    """An instruction that this machine has no handler for."""
    name, raw = operand
    raise InterpreterError(
        f"{frame.where}: the instruction {name} {raw} is not known to the interpreter; "
        "call this function natively, or report it"
    )
