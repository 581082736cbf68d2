"""``for`` loops and unpacking."""

from ..frame import Frame
from ..generators import LoopEnd
from ..hooks import hooked
from ..lookups import lookup
from ..registry import VERSION, instruction
from ..values import NULL
from .attributes import push


@instruction()
def GET_ITER(frame, operand):
    return push(frame, frame.machine.iterate(frame.stack.pop()))


@instruction()
def FOR_ITER(frame, operand):
    stack = frame.stack
    try:
        result = frame.machine.advance(stack[-1])
    except StopIteration:
        stack.pop()
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])
        return None
    if type(result) is Frame:
        return hooked(result, LoopEnd(*operand))
    stack.append(result)


@instruction()
def END_FOR(frame, operand):
    stack = frame.stack
    stack.pop()
    if VERSION < (3, 13):
        stack.pop()


@instruction()
def UNPACK_SEQUENCE(frame, count):
    stack, machine = frame.stack, frame.machine
    source = stack.pop()
    kind = type(source)
    if kind is tuple or kind is list:
        items = machine.unpack(source)
    else:
        items = take(machine, source, count)
    if len(items) != count:
        if len(items) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
        raise ValueError(f"too many values to unpack (expected {count})")
    items.reverse()
    stack += items


def take(machine, source, count):
    """At most one more than ``count`` items: that there are more is all that needs to be known."""
    kind = type(source)
    if lookup(kind, "__iter__") in (NULL, None) and lookup(kind, "__getitem__") is NULL:
        raise TypeError(f"cannot unpack non-iterable {kind.__name__} object")
    items = []
    for item in machine.items(source):
        items.append(item)
        if len(items) > count:
            break
    return items


@instruction()
def UNPACK_EX(frame, counts):
    before, after = counts & 0xFF, counts >> 8
    stack, machine = frame.stack, frame.machine
    source = stack.pop()
    kind = type(source)
    if lookup(kind, "__iter__") in (NULL, None) and lookup(kind, "__getitem__") is NULL:
        raise TypeError(f"cannot unpack non-iterable {kind.__name__} object")
    items = machine.unpack(source)
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    tail = items[len(items) - after :]
    middle = items[before : len(items) - after]
    stack += [*reversed(tail), middle, *reversed(items[:before])]


@instruction()
def GET_LEN(frame, operand):
    stack = frame.stack
    result = frame.machine.call(len, [stack[-1]])
    if type(result) is Frame:
        return result
    stack.append(result)
