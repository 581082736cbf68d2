"""Generators, coroutines and async generators: real objects that stand for interpreted frames.

The object is made by a shim, a small generator function whose code bears the name, file and flags of the user's. Driven
by native code, the shim steps the frame in a nested run. Interpreted code steps the frame on the machine's own stack
and leaves the shim suspended; since the shim keeps no state of its own, both see the same. The first such step primes
the shim, so that what native code then throws into it reaches the frame.
"""

import sys
import weakref
from types import CoroutineType, FunctionType, GeneratorType

from .borrowed import one_line
from .code import OPTIMIZED, VARARGS, VARKEYWORDS
from .current import current
from .frame import Root, iterator_of
from .hiding import hidden
from .hooks import Hook
from .origins import origin, put_origin
from .pyframes import note_shim, user_traceback
from .registry import VERSION
from .unwinding import set_context
from .values import NULL

CREATED, SUSPENDED, RUNNING, FINISHED = "created", "suspended", "running", "finished"
KINDS = {0x20: "generator", 0x80: "coroutine", 0x200: "async generator"}

_owners: dict = {}
"""id of a generator object -> weak reference to its frame."""


class _Owner(weakref.ref):
    __slots__ = ("key",)


def _forget(owner):
    if _owners.get(owner.key) is owner:
        del _owners[owner.key]


def frame_of(generator):
    """The interpreted frame that a generator object stands for, or None."""
    owner = _owners.get(id(generator))
    return None if owner is None else owner()


class Wrapped:
    """A value that an async generator yields, as opposed to what it lets through while awaiting."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Suspend:
    """An awaitable that yields one value to the event loop."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __await__(self):
        return (yield self.value)


@hidden
def drive(frame, value, thrown):
    """A native step of a frame: what it yields or returns. ``thrown`` is a list which may hold an exception."""
    error = thrown.pop() if thrown else None
    if frame.state is FINISHED:
        if error is not None:
            error.__traceback__ = user_traceback(error)
            raise error
        return None
    if frame.state is RUNNING:
        raise ValueError(f"{KINDS[frame.plan.kind]} already executing")
    machine = current.machine
    if machine is None:
        machine = frame.machine.successor()
    if error is not None:
        error.__traceback__ = user_traceback(error)
    return machine.resume(frame, value, error)


def _shim(frame, drive):
    value, thrown = None, []
    if frame.priming:
        frame.priming = False
        try:
            value = yield
        except BaseException as caught:
            thrown.append(caught)
    while True:
        outcome = drive(frame, value, thrown)
        if frame.state == "finished":
            return outcome
        value = None
        try:
            value = yield outcome
        except BaseException as caught:
            thrown.append(caught)


async def _async_shim(frame, drive):
    value, thrown = None, []
    while True:
        outcome = drive(frame, value, thrown)
        if frame.state == "finished":
            return
        value = None
        try:
            if type(outcome) is Wrapped:
                value = yield outcome.value
            else:
                value = await Suspend(outcome)
        except BaseException as caught:
            thrown.append(caught)


def shim_for(plan, code):
    """The shim function which bears the names of ``code``."""
    body = _async_shim if plan.kind == 0x200 else _shim
    model = body.__code__
    flags = code.co_flags & ~(VARARGS | VARKEYWORDS) | OPTIMIZED | 0x02
    renamed = model.replace(
        co_name=code.co_name, co_qualname=code.co_qualname, co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno, co_flags=flags, co_linetable=one_line(model.co_code),
    )  # fmt: skip
    note_shim(renamed, plan)
    return FunctionType(renamed, globals(), code.co_name)


def make_generator(frame):
    """The object for a frame that has come to its RETURN_GENERATOR."""
    plan, function = frame.plan, frame.function
    shim = plan.shim
    if shim is None:
        shim = plan.shim = shim_for(plan, frame.code)
    frame.state, frame.priming, frame.delegating = CREATED, False, False
    generator = shim(frame, drive)
    if function is not None:
        if generator.__name__ != function.__name__:
            generator.__name__ = function.__name__
        if generator.__qualname__ != function.__qualname__:
            generator.__qualname__ = function.__qualname__
    frame.owner = weakref.ref(generator)
    if plan.kind == 0x80 and (depth := sys.get_coroutine_origin_tracking_depth()):
        put_origin(generator, origin(frame.back, depth))
    owner = _Owner(frame, _forget)
    owner.key = id(generator)
    _owners[owner.key] = owner
    return generator


class Generators:
    """The part of the machine that steps generators."""

    @hidden
    def resume(self, frame, value, error):
        """Step a frame for native code, in a nested loop."""
        back = self.frame
        root = Root(self, back)
        root.drives = True
        if error is None and (back is None or root.depth < self.limit):
            frame.machine, frame.back, frame.hook, frame.state = self, root, None, RUNNING
            frame.depth = root.depth + 1
            frame.stack.append(value)
            return self.nested(root, frame)

        def start():
            self.put_back(frame, root, None)
            if error is not None:
                if frame.handling is not None and frame.handling is not error:
                    set_context(error, frame.handling)
                return self.injected(frame, error)
            frame.stack.append(value)
            return frame

        return self.nested(root, start)

    @hidden
    def next_beyond(self, generator, frame, passed_over):
        """``next(generator)`` for native code, repeated in one nested run while it gives what is passed over."""
        root = Root(self, self.frame)
        root.drives = True

        def start():
            while True:
                self.loop(self.step(generator, frame, None, None))
                if root.error is not None or frame.state is FINISHED or not passed_over(root.stack[-1]):
                    return root
                root.stack.pop()

        value = self.nested(root, start)
        if frame.state is FINISHED:
            raise StopIteration
        return value

    def step(self, generator, frame, value, hook):
        """The frame of a generator, ready to be stepped on the machine's own stack with ``value`` sent in."""
        state = frame.state
        if state is not SUSPENDED:
            if state is RUNNING:
                raise ValueError(f"{KINDS[frame.plan.kind]} already executing")
            if state is FINISHED:
                if frame.plan.kind == 0x80:
                    raise RuntimeError("cannot reuse already awaited coroutine")
                return self.ended(hook, None)
            if value is not None:
                raise TypeError(f"can't send non-None value to a just-started {KINDS[frame.plan.kind]}")
            prime(generator, frame)
        self.put_back(frame, self.frame, hook)
        frame.generator = generator
        frame.stack.append(value)
        return frame

    def put_back(self, frame, back, hook):
        """Let ``frame`` run on top of ``back``."""
        frame.machine, frame.back, frame.hook, frame.state = self, back, hook, RUNNING
        frame.depth = back.depth + 1
        if frame.depth > self.limit:
            frame.back, frame.state = None, SUSPENDED
            raise RecursionError("maximum recursion depth exceeded")

    def ended(self, hook, value):
        """A finished generator was stepped once more."""
        if hook is None:
            raise StopIteration
        return hook.raised(self.frame, StopIteration())

    def inject(self, generator, frame, error, hook=None):
        """``generator.throw(error)`` on the machine's own stack."""
        if frame.state is RUNNING:
            raise ValueError(f"{KINDS[frame.plan.kind]} already executing")
        if frame.state is FINISHED:
            if frame.plan.kind == 0x80:
                raise RuntimeError("cannot reuse already awaited coroutine")
            raise error
        if frame.state is CREATED:
            prime(generator, frame)
        self.put_back(frame, self.frame, hook)
        frame.generator = generator
        if frame.handling is not None and frame.handling is not error:
            set_context(error, frame.handling)
        return self.injected(frame, error)

    def injected(self, frame, error):
        """Raise ``error`` where ``frame`` is suspended, or in what it delegates to: the frame to go on in."""
        self.frame = frame
        if not frame.delegating:
            return raise_in(frame, error)
        inner = frame.stack[-1]
        try:
            if issubclass(type(error), GeneratorExit):
                self.close_inner(inner)
                return raise_in(frame, error)
            thrower = getattr(inner, "throw", NULL)
            if thrower is NULL:
                return raise_in(frame, error)
            value = self.invoke(thrower, error)
        except StopIteration as stop:
            if VERSION >= (3, 12):
                return raise_in(frame, stop)
            frame.stack.pop()
            frame.stack.append(stop.value)
            target, ticks = frame.delegating
            frame.ticks += ticks
            frame.iterator.__setstate__(target)
            return frame
        except BaseException as caught:
            caught.__traceback__ = user_traceback(caught)
            return raise_in(frame, caught)
        return suspend(frame, value, frame.delegating, None)

    def close_inner(self, inner):
        """Close what a ``yield from`` delegates to."""
        if type(inner) in (GeneratorType, CoroutineType):
            self.invoke(inner.close)
            return
        closer = getattr(inner, "close", NULL)
        if closer is not NULL:
            self.invoke(closer)

    @hidden
    def finish(self, frame):
        """Run a Frame that was just made to its end, nested, and give its value."""
        root = Root(self, frame.back)
        frame.back = root
        return self.nested(root, frame)

    def successor(self):
        """The machine for a generator that outlives the run it was made in."""
        return type(self)(self.lookasides, self.ledger, self.stats)


def raise_in(frame, error):
    """Let ``error`` be raised in ``frame`` as soon as the loop enters it."""
    frame.iterator = iterator_of([(raise_pending, (frame.iterator, error))])
    return frame


def raise_pending(frame, operand):
    """The only instruction of such a frame: it goes back to its own ones, and raises."""
    frame.iterator, error = operand
    if frame.machine.tracing is not None and hasattr(frame, "traced"):
        frame.machine.tracing.call(frame)
    return frame.machine.unwind(frame, error)


def prime(generator, frame):
    """Bring an unstarted shim to its first yield."""
    frame.priming = True
    generator.send(None)


def suspend(frame, value, delegating, passed):
    """Take a running frame off the stack and hand ``value`` to its caller."""
    back = frame.back
    frame.state, frame.delegating = SUSPENDED, delegating
    frame.back = frame.hook = None
    if passed is not None:
        frame.machine.stats.instructions += frame.ticks + passed
        frame.ticks = -passed
    back.stack.append(value)
    frame.generator = None  # last, as the generator may die of it, and then closes this frame
    return back


def generator_returned(frame, value):
    """A generator's frame has returned: its caller sees a StopIteration, unless a hook or native code takes the
    value."""
    machine, back, hook = frame.machine, frame.back, frame.hook
    frame.state = FINISHED
    frame.fast, frame.handling = [], None
    frame.back = frame.hook = frame.generator = None
    machine.frame = back
    if type(back) is Root and back.drives:
        back.stack.append(value)
        return back
    error = StopIteration() if value is None else StopIteration(value)
    if hook is not None:
        result = hook.raised(back, error)
        if result is not NULL:
            return machine.settle(back, result)
    return machine.throw(back, error)


class LoopEnd(Hook):
    """The generator or iterator that a ``for`` loop steps: when it is exhausted, the loop is left."""

    __slots__ = ("target", "ticks")

    def __init__(self, target, ticks):
        self.target, self.ticks = target, ticks

    def ended(self, back):
        back.stack.pop()
        back.ticks += self.ticks
        back.iterator.__setstate__(self.target)
        return back

    def raised(self, back, error):
        if not issubclass(type(error), StopIteration):
            return NULL
        if back.machine.tracing is not None:
            back.machine.tracing.stopped(back, error)
        return self.ended(back)
