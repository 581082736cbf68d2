"""Operators and comparisons."""

import opcode

from ..frame import Frame
from ..operators import BINARY, COMPARE
from ..registry import VERSION, instruction

_SYMBOLS = [symbol for _, symbol in opcode._nb_ops]
SIMPLE = frozenset((int, float, str, bool, complex, bytes))


def binary_operand(decoder, raw):
    symbol = _SYMBOLS[raw]
    return symbol, BINARY[symbol][0] if symbol in BINARY else None


@instruction(operand=binary_operand)
def BINARY_OP(frame, operand):
    stack = frame.stack
    right = stack.pop()
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = operand[1](left, right)
        return None
    result = frame.machine.binary(operand[0], left, right)
    if type(result) is Frame:
        stack.pop()
        return result
    stack[-1] = result


def compare_operand(decoder, raw):
    if VERSION >= (3, 13):
        symbol, to_bool = opcode.cmp_op[raw >> 5], raw & 16
    elif VERSION >= (3, 12):
        symbol, to_bool = opcode.cmp_op[raw >> 4], False
    else:
        symbol, to_bool = opcode.cmp_op[raw], False
    return symbol, COMPARISONS[symbol], to_bool


COMPARISONS = {symbol: native for symbol, (native, _, _) in COMPARE.items()}


@instruction(operand=compare_operand)
def COMPARE_OP(frame, operand):
    stack = frame.stack
    right = stack.pop()
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = operand[1](left, right)
        return
    machine = frame.machine
    result = machine.compare(operand[0], left, right)
    stack[-1] = machine.truth(result) if operand[2] else result


@instruction()
def IS_OP(frame, inverted):
    stack = frame.stack
    right = stack.pop()
    answer = frame.machine.identical(stack[-1], right)
    stack[-1] = not answer if inverted else answer


@instruction()
def CONTAINS_OP(frame, inverted):
    stack = frame.stack
    container = stack.pop()
    answer = frame.machine.contains(stack[-1], container)
    stack[-1] = not answer if inverted else answer


def _unary(symbol):
    def handler(frame, operand):
        result = frame.machine.unary(symbol, frame.stack.pop())
        if type(result) is Frame:
            return result
        frame.stack.append(result)
        return None

    return handler


UNARY_NEGATIVE = instruction("UNARY_NEGATIVE")(_unary("-"))
UNARY_POSITIVE = instruction("UNARY_POSITIVE")(_unary("+"))
UNARY_INVERT = instruction("UNARY_INVERT")(_unary("~"))


@instruction()
def UNARY_NOT(frame, operand):
    stack = frame.stack
    stack[-1] = not frame.machine.truth(stack[-1])


@instruction()
def TO_BOOL(frame, operand):
    stack = frame.stack
    stack[-1] = frame.machine.truth(stack[-1])
