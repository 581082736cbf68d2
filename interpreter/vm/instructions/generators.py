"""Generators and delegation: ``yield``, ``yield from`` and what ``await`` is made of."""

from types import CoroutineType, GeneratorType

from ..frame import Frame
from ..generators import frame_of, make_generator, suspend
from ..hooks import Hook, hooked
from ..lookups import has, special
from ..registry import VERSION, instruction
from ..values import NULL
from .attributes import push


@instruction(operand=lambda decoder, raw: decoder.passed)
def RETURN_GENERATOR(frame, passed):
    """Make the generator object and give it to the caller; the frame waits for its first step."""
    back = frame.back
    generator = make_generator(frame)
    frame.machine.stats.instructions += passed
    frame.ticks = -passed
    hook, frame.back, frame.hook = frame.hook, None, None
    if hook is None:
        back.stack.append(generator)
        return back
    machine = frame.machine
    machine.frame = back
    try:
        value = hook.returned(back, generator)
    except BaseException as caught:
        error = caught
    else:
        return machine.settle(back, value)
    return machine.raised(back, error)


def yield_operand(decoder, raw):
    """(instructions passed, jump past the delegation if this is the yield of a ``yield from`` or ``await``)."""
    following = decoder.following
    delegating = following is not None and following[1] == "RESUME" and following[2] & 3 >= 2
    return decoder.passed, _past_delegation(decoder) if delegating else False


def _past_delegation(decoder):
    """Where the SEND that this yield belongs to jumps when what is delegated to has ended."""
    rows = decoder.rows
    for row in reversed(rows[: decoder.number]):
        if row[1] == "SEND":
            target = row[5] + 2 * row[2]
            return decoder.plan.spots[target], decoder.passed - decoder.weights[target]
    return False


@instruction(operand=yield_operand)
def YIELD_VALUE(frame, operand):
    return suspend(frame, frame.stack.pop(), operand[1], operand[0])


class SendEnd(Hook):
    """What a SEND delegates to: when it has ended its value is pushed and the loop of SEND is left."""

    __slots__ = ("operand",)

    def __init__(self, operand):
        self.operand = operand

    def raised(self, back, error):
        if not issubclass(type(error), StopIteration):
            return NULL
        if back.machine.tracing is not None:
            back.machine.tracing.stopped(back, error)
        return send_ended(back, self.operand, error.value)


def send_ended(frame, operand, value):
    """The receiver has returned ``value``."""
    stack = frame.stack
    if VERSION < (3, 12):
        stack[-1] = value
    else:
        stack.append(value)
    frame.ticks += operand[1]
    frame.iterator.__setstate__(operand[0])
    return frame


@instruction()
def SEND(frame, operand):
    stack, machine = frame.stack, frame.machine
    value = stack.pop()
    receiver = stack[-1]
    kind = type(receiver)
    if kind is GeneratorType or kind is CoroutineType:
        inner = frame_of(receiver)
        if inner is not None:
            result = machine.step(receiver, inner, value, SendEnd(operand))
            return machine.settle(frame, result)
    try:
        if value is None and has(kind, "__next__"):
            function = special(kind, "__next__")
            result = next(receiver) if function is None else machine.call(function, [receiver])
        elif value is None and kind is CoroutineType:
            result = receiver.send(None)
        else:
            sender = machine.get_attribute(receiver, "send")
            if type(sender) is Frame:
                sender = machine.finish(sender)
            result = machine.call(sender, [value])
    except StopIteration as stop:
        send_ended(frame, operand, stop.value)
        return None
    if type(result) is Frame:
        return hooked(result, SendEnd(operand))
    stack.append(result)


@instruction()
def END_SEND(frame, operand):
    del frame.stack[-2]


@instruction()
def GET_YIELD_FROM_ITER(frame, operand):
    obj = frame.stack[-1]
    kind = type(obj)
    if kind is GeneratorType:
        return None
    if kind is CoroutineType:
        if not frame.code.co_flags & (0x80 | 0x100):
            raise TypeError("cannot 'yield from' a coroutine object in a non-coroutine generator")
        return None
    return push(frame, frame.machine.iterate(frame.stack.pop()))


@instruction()
def CLEANUP_THROW(frame, operand):
    """An exception came out of what is delegated to: a StopIteration is its value."""
    stack = frame.stack
    error = stack[-1]
    if issubclass(type(error), StopIteration):
        del stack[-3:]
        stack += None, error.value
        return None
    stack.pop()
    return frame.machine.unwind(frame, error, traced=False)
