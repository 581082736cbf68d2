"""Warnings and log records: operations, done again in their place by every later call.

They name the user's line, which the frames told when the call was recorded. What is then done with them (a filter, a
handler, a stream) is asked anew each time. Where the call has written something that they would show, they can't be
done before the epilogue, and the recording ends.
"""

from __future__ import annotations

import logging
import sys
import types
import warnings

import torch

from interpreter.recording.mode import deeply_plain, record
from interpreter.recording.numbers import TRACED
from interpreter.recording.outside import is_constant
from interpreter.recording.special import special
from interpreter.vm.natives import NATIVES, Native

LOGGERS = (logging.Logger, logging.RootLogger)


def shows_writes(trace, values) -> bool:
    """Whether an effect that a program has before its epilogue would show, or go to, something that the call has
    written before."""
    if not trace.writes:
        return False
    if any(isinstance(write.args[0], types.ModuleType) or write.args[0] is sys.__dict__ for write in trace.writes):
        return True
    return any(reaches_outside(trace, value) for value in values)


def reaches_outside(trace, value, depth=0) -> bool:
    if is_constant(value) or isinstance(value, (torch.Tensor, type, types.FunctionType)):
        return False
    if trace.find(value) is not None or depth > 8:
        return True
    if isinstance(value, dict):
        return any(reaches_outside(trace, item, depth + 1) for item in value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(reaches_outside(trace, item, depth + 1) for item in value)
    return any(reaches_outside(trace, item, depth + 1) for item in getattr(value, "__dict__", {}).values())


def warn_again(message, category, filename, line, module, space):
    """The operation that gives a warning: what the filters and the registry are then decides whether it is shown."""
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, filename, line, module, registry, space)


def warn(machine, message, category=None, stacklevel=1, source=None, **kwargs):
    """`warnings.warn`: an operation, at the line that the frames tell."""
    frame = machine.frame
    for _ in range(stacklevel if isinstance(stacklevel, int) else 0):
        while frame is not None and frame.code is None:
            frame = frame.back
        if _ < stacklevel - 1 and frame is not None:
            frame = frame.back
    while frame is not None and frame.code is None:
        frame = frame.back
    if isinstance(message, Warning):
        category = type(message)
    category = UserWarning if category is None else category
    plainly = type(message) is str or isinstance(message, Warning)
    if (
        machine.trace.ended is not None
        or frame is None
        or kwargs
        or source is not None
        or not plainly
        or not isinstance(category, type)
    ):
        if machine.trace.ended is None:
            machine.sharp(warnings.warn, "warns at a line outside of the call")
        return NATIVES[warnings.warn].function(machine, message, category, stacklevel, source, **kwargs)
    if shows_writes(machine.trace, ()):
        machine.sharp(warnings.warn, "goes where the call has decided before")
        return NATIVES[warnings.warn].function(machine, message, category, stacklevel)
    space = machine.space(frame.globals).value
    name = space.get("__name__") or "<string>"
    return record(
        machine.trace,
        warn_again,
        "warn",
        (message, category, frame.code.co_filename, frame.line, name, space),
        {},
        False,
        True,
    )


def log_again(logger, level, message, args, path, line, function):
    """The operation that logs: whether and where it is shown the logger says then."""
    logger.handle(logger.makeRecord(logger.name, level, path, line, message, deeply_plain(args), None, function))


@special(logging.Logger._log)
def log(machine, callable, args, kwargs):
    """What `Logger.info` and its like come to, once the level is known to be enabled."""
    frame = machine.frame
    while frame is not None and (frame.code is None or frame.code.co_filename == logging.__file__):
        frame = frame.back
    logger, *rest = args
    if frame is None or kwargs or len(rest) != 3 or type(logger) not in LOGGERS:
        return machine.enter(callable, args, kwargs)
    level, message, values = rest
    if type(values) is not tuple or machine.trace.find(values) is not None:
        return machine.enter(callable, args, kwargs)
    values = tuple([value if type(value) in TRACED else machine.see(value) for value in values])
    if shows_writes(machine.trace, (message, values)):
        machine.sharp(callable, "shows what the call has written before")
        return machine.enter(callable, args, kwargs)
    given = (logger, level, message, values, frame.code.co_filename, frame.line, frame.code.co_name)
    with torch.overrides._pop_mode_temporarily():  # what a handler computes to show a tensor is no part of the call
        record(machine.trace, log_again, "log", given, {}, False, True)
    return None


ROUTES = {warnings.warn: Native(warn)}
"""Handlers in the place of the machine's own."""
