"""Python functions of ours that leave no line in a traceback.

CPython adds no traceback entry for a frame that has not passed its first RESUME instruction: such a frame counts as not
yet begun. A code object whose RESUME instructions are replaced by NOP never begins. It is used only for the few
functions that stand between the user's native frames and the machine, since it also keeps them from being specialised.
"""

import opcode
from types import FunctionType

RESUME, NOP = opcode.opmap["RESUME"], opcode.opmap["NOP"]


def hidden(function):
    """A copy of ``function`` which tracebacks and ``sys._getframe`` pass over."""
    code = function.__code__
    raw = bytearray(code.co_code)
    for offset in range(0, len(raw), 2):
        if raw[offset] == RESUME:
            raw[offset] = NOP
            raw[offset + 1] = 0
    replaced = code.replace(co_code=bytes(raw))
    copy = FunctionType(replaced, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__doc__, copy.__qualname__ = (
        function.__kwdefaults__,
        function.__doc__,
        function.__qualname__,
    )
    return copy
