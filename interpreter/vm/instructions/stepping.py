"""Operators and comparisons of classes written in Python, on the machine's own stack instead of in a nested run.

The left operand's method gets a frame; should it decline, the rest of the protocol follows from a hook. Everything less
plain (a right operand of a subclass, in-place methods, native methods first) goes the long way, through the machine.
"""

from ..frame import Frame
from ..hooks import Hook, hooked
from ..lookups import derives, lookup, special
from ..operators import BINARY, COMPARE
from ..registry import instruction
from ..values import NULL
from .operators import SIMPLE, binary_operand, compare_operand


class Declined(Hook):
    """Where the left operand's method gives NotImplemented, the right one is asked."""

    __slots__ = ("ask",)

    def __init__(self, ask):
        self.ask = ask

    def returned(self, back, value):
        return self.ask() if value is NotImplemented else value


def first_method(name, a, b):
    """The left operand's method in Python, if it is asked first; else None."""
    left, right = type(a), type(b)
    found = special(left, name)
    return None if found is None or (left is not right and derives(right, left)) else found


def started(frame, machine, method, a, b, ask):
    """Call a method of the left operand, which is still on the stack; what it gives takes its place."""
    stack = frame.stack
    stack.pop()
    result = machine.call(method, [a, b])
    if type(result) is Frame:
        return hooked(result, Declined(ask))
    stack.append(ask() if result is NotImplemented else result)
    return None


@instruction("BINARY_OP", until=(3, 13), operand=binary_operand, instead_of=("binary", "python_binary", "call"))
def step_binary(frame, operand):
    stack = frame.stack
    symbol, native = operand
    right = stack.pop()
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = native(left, right)
        return None
    machine = frame.machine
    inplace, forward, _ = BINARY[symbol][1]
    if inplace is None or lookup(type(left), inplace) is NULL:
        method = first_method(forward, left, right)
        if method is not None:
            return started(frame, machine, method, left, right, lambda: machine.reflected(symbol, left, right))
    stack[-1] = machine.binary(symbol, left, right)


@instruction("COMPARE_OP", operand=compare_operand, instead_of=("compare", "truth", "call"))
def step_compare(frame, operand):
    stack = frame.stack
    symbol, native, to_bool = operand
    right = stack.pop()
    left = stack[-1]
    if type(left) in SIMPLE and type(right) in SIMPLE:
        stack[-1] = native(left, right)
        return None
    machine = frame.machine
    method = None if to_bool else first_method(COMPARE[symbol][1], left, right)
    if method is not None:
        return started(frame, machine, method, left, right, lambda: machine.compare_reflected(symbol, left, right))
    result = machine.compare(symbol, left, right)
    stack[-1] = machine.truth(result) if to_bool else result
