"""Type parameters and aliases (3.12 and later): made by CPython's own intrinsics, in a piece of code built for it.

TypeVar, ParamSpec and TypeVarTuple of the new syntax compute their bounds lazily by functions which only the intrinsics
take. So a code object of one instruction is assembled and run natively, with the globals of the user's frame, by which
what is made finds its module.
"""

import functools
import opcode
from types import FunctionType


def _one(a):
    return +a


def _two(a, b):
    return a[b]


@functools.cache
def _assembled(name, number, count):
    """The code of a function of ``count`` arguments that applies one intrinsic."""
    ops = opcode.opmap
    load = [code for index in range(count) for code in (ops["LOAD_FAST"], index)]
    raw = [ops["RESUME"], 0, *load, ops[name], number, ops["RETURN_VALUE"], 0]
    model = (_one if count == 1 else _two).__code__
    return model.replace(co_code=bytes(raw), co_linetable=b"", co_exceptiontable=b"", co_stacksize=4)


def native_intrinsic(number):
    """CALL_INTRINSIC_1 with ``number``, as function(frame, value)."""
    code = _assembled("CALL_INTRINSIC_1", number, 1)
    return lambda frame, value: FunctionType(code, frame.globals)(value)


def native_intrinsic_of_two(number):
    """CALL_INTRINSIC_2 with ``number``, as function(frame, first, second)."""
    code = _assembled("CALL_INTRINSIC_2", number, 2)
    return lambda frame, first, second: FunctionType(code, frame.globals)(first, second)
