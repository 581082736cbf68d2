"""Instructions that came with 3.14, written from its documentation.

None of these has been run: the tests of this project cover 3.11, 3.12 and 3.13.
"""

import opcode
import operator

from ..registry import instruction
from ..values import NULL
from .attributes import push
from .building import take
from .context import bound_special
from .operands import slot_pair
from .operators import BINARY_OP, binary_operand
from .stack import LOAD_FAST

NEW = (3, 14)
SPECIAL = ("__enter__", "__exit__", "__aenter__", "__aexit__")
PROTOCOLS = {"__enter__": "context manager", "__aenter__": "asynchronous context manager"}


@instruction(since=NEW)
def LOAD_FAST_BORROW(frame, index):
    LOAD_FAST(frame, index)


@instruction(since=NEW, operand=slot_pair)
def LOAD_FAST_BORROW_LOAD_FAST_BORROW(frame, pair):
    LOAD_FAST(frame, pair[0])
    LOAD_FAST(frame, pair[1])


@instruction(since=NEW)
def LOAD_SMALL_INT(frame, number):
    frame.stack.append(number)


@instruction(since=NEW, operand=lambda decoder, raw: opcode._common_constants[raw])
def LOAD_COMMON_CONSTANT(frame, value):
    frame.stack.append(value)


@instruction(since=NEW)
def POP_ITER(frame, operand):
    frame.stack.pop()


@instruction(since=NEW, operand=lambda decoder, raw: SPECIAL[raw])
def LOAD_SPECIAL(frame, name):
    """The special method, bound, and an empty place, as for a call."""
    stack = frame.stack
    obj = stack.pop()
    protocol = PROTOCOLS.get(name.replace("exit", "enter"))
    stack += bound_special(obj, name, f"the {protocol} protocol"), NULL


@instruction("WITH_EXCEPT_START", since=NEW)
def WITH_EXCEPT_START_314(frame, operand):
    """The exit method and an empty place lie below the place of the instruction, what was handled, the exception."""
    stack = frame.stack
    error, leaving = stack[-1], stack[-5]
    return push(frame, frame.machine.call(leaving, [type(error), error, error.__traceback__], None))


def _operator_or_subscript(decoder, raw):
    symbol = opcode._nb_ops[raw][1]
    return ("[]", operator.getitem) if symbol == "[]" else binary_operand(decoder, raw)


@instruction("BINARY_OP", since=NEW, operand=_operator_or_subscript)
def BINARY_OP_314(frame, operand):
    if operand[0] != "[]":
        return BINARY_OP(frame, operand)
    stack = frame.stack
    key = stack.pop()
    return push(frame, frame.machine.get_item(stack.pop(), key))


@instruction("CALL_FUNCTION_EX", since=NEW)
def CALL_FUNCTION_EX_314(frame, operand):
    """As in 3.13, but there is always a place for the keyword arguments, which may be empty."""
    stack, machine = frame.stack, frame.machine
    kwargs, args = stack.pop(), stack.pop()
    stack.pop()
    function = stack.pop()
    keywords = None if kwargs is NULL else machine.unpack_mapping(kwargs)
    return push(frame, machine.call(function, machine.unpack(args), keywords or None))


@instruction(since=NEW)
def BUILD_INTERPOLATION(frame, flags):
    """An interpolation of a template string: value, expression, conversion and format specification."""
    from string.templatelib import Interpolation

    stack = frame.stack
    spec = stack.pop() if flags & 1 else ""
    expression, value = stack.pop(), stack.pop()
    conversion = {0: None, 1: "s", 2: "r", 3: "a"}[flags >> 2]
    stack.append(Interpolation(value, expression, conversion, spec))


@instruction(since=NEW)
def BUILD_TEMPLATE(frame, operand):
    """A template string from its strings and interpolations, which come in turn."""
    from string.templatelib import Template

    strings, interpolations = take(frame, 2)
    parts = [part for pair in zip(strings, (*interpolations, "")) for part in pair]
    frame.stack.append(Template(*parts))
