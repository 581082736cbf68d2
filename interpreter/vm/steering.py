"""``send``, ``throw`` and ``__next__`` of generators and coroutines: the machine steps their frames."""

import sys
from types import CoroutineType, GeneratorType, TracebackType

from .generators import frame_of
from .lookups import derives
from .natives import native, warn_
from .pyframes import user_traceback


def _thrown(machine, args):
    """The exception that ``throw(type, value, traceback)`` means."""
    kind, value, traceback = (*args, None, None)[:3]
    if traceback is not None and type(traceback) is not TracebackType:
        raise TypeError("throw() third argument must be a traceback object")
    if issubclass(type(kind), type) and issubclass(kind, BaseException):
        error = value if derives(type(value), kind) else _instance(machine, kind, value)
    elif issubclass(type(kind), BaseException):
        if value is not None:
            raise TypeError("instance exception may not have a separate value")
        error = kind
        if traceback is None:
            traceback = error.__traceback__
    else:
        text = f"exceptions must be classes or instances deriving from BaseException, not {type(kind).__name__}"
        raise TypeError(text)
    error.__traceback__ = traceback
    return error


def _instance(machine, kind, value):
    """An exception of a class; what goes wrong in making it is raised in the generator in its stead."""
    try:
        parts = () if value is None else value if issubclass(type(value), tuple) else (value,)
        error = machine.invoke(kind, *parts)
    except BaseException as caught:
        return caught
    if issubclass(type(error), BaseException):
        return error
    return TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(error)!r}")


def _steps(kind):
    """Handlers for ``send``, ``throw``, ``close`` and ``__next__`` of generators or coroutines."""

    @native(kind.send, counted=False)
    def send(machine, generator, *args, **kwargs):
        frame = frame_of(generator)
        if frame is None or len(args) != 1 or kwargs:
            return machine.call_native(kind.send, [generator, *args], kwargs)
        return machine.step(generator, frame, args[0], None)

    @native(kind.throw, counted=False)
    def throw(machine, generator, *args, **kwargs):
        frame = frame_of(generator)
        if frame is None or not 1 <= len(args) <= 3 or kwargs:
            return machine.call_native(kind.throw, [generator, *args], kwargs)
        if len(args) > 1 and sys.version_info >= (3, 12):
            text = "the (type, exc, tb) signature of throw() is deprecated, use the single-arg signature instead."
            warn_(machine, text, DeprecationWarning)
        error = _thrown(machine, args)
        error.__traceback__ = error.__traceback__ and user_traceback(error)
        return machine.inject(generator, frame, error)

    return send, throw


_steps(GeneratorType)
_steps(CoroutineType)


@native(GeneratorType.__next__, counted=False)
def generator_next(machine, generator, *args):
    frame = frame_of(generator)
    if frame is None or args:
        return machine.call_native(GeneratorType.__next__, [generator, *args])
    return machine.step(generator, frame, None, None)
