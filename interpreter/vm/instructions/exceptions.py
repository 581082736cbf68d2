"""Raising and handling."""

from ..lookups import derives
from ..registry import instruction


def exception_from(machine, value):
    """What ``raise value`` raises."""
    if issubclass(type(value), BaseException):
        return value
    if issubclass(type(value), type) and issubclass(value, BaseException):
        error = machine.invoke(value)
        if not issubclass(type(error), BaseException):
            text = f"calling {value!r} should have returned an instance of BaseException, not {type(error)!r}"
            raise TypeError(text)
        return error
    return None


@instruction()
def RAISE_VARARGS(frame, count):
    stack, machine = frame.stack, frame.machine
    if count == 0:
        error = machine.handled(frame)
        if error is None:
            raise RuntimeError("No active exception to reraise")
        return machine.unwind(frame, error, traced=False)
    cause = stack.pop() if count == 2 else None
    error = exception_from(machine, stack.pop())
    if error is None:
        raise TypeError("exceptions must derive from BaseException")
    if count == 2:
        if cause is not None and (cause := exception_from(machine, cause)) is None:
            raise TypeError("exception causes must derive from BaseException")
        error.__cause__ = cause
    return machine.throw(frame, error)


@instruction()
def RERAISE(frame, depth):
    """Raise again; the traceback has this frame already, which goes back to the line where it was raised first."""
    stack = frame.stack
    if depth:
        frame.machine.restored = stack[-depth - 1]
    return frame.machine.unwind(frame, stack.pop(), traced=False)


@instruction()
def PUSH_EXC_INFO(frame, operand):
    stack = frame.stack
    error = stack[-1]
    stack[-1] = frame.handling
    stack.append(error)
    frame.handling = error


@instruction()
def POP_EXCEPT(frame, operand):
    frame.handling = frame.stack.pop()


CANNOT_CATCH = "catching classes that do not inherit from BaseException is not allowed"
CANNOT_CATCH_STAR = "catching ExceptionGroup with except* is not allowed. Use except instead."


def check_classes(classes):
    """What stands after ``except`` must be a class of exceptions or a tuple of them."""
    for cls in classes if issubclass(type(classes), tuple) else (classes,):
        if not (issubclass(type(cls), type) and issubclass(cls, BaseException)):
            raise TypeError(CANNOT_CATCH)


def matches(error, classes):
    """As the language does: by the order of resolution, without ``__instancecheck__``."""
    kinds = classes if issubclass(type(classes), tuple) else (classes,)
    return any(derives(type(error), kind) for kind in kinds)


@instruction()
def CHECK_EXC_MATCH(frame, operand):
    stack = frame.stack
    classes = stack.pop()
    check_classes(classes)
    stack.append(matches(stack[-1], classes))


@instruction()
def CHECK_EG_MATCH(frame, operand):
    """Split an exception into the rest and what ``except*`` matches."""
    stack = frame.stack
    classes = stack.pop()
    error = stack.pop()
    check_classes(classes)
    for cls in classes if issubclass(type(classes), tuple) else (classes,):
        if issubclass(cls, BaseExceptionGroup):
            raise TypeError(CANNOT_CATCH_STAR)
    if matches(error, classes):
        match, rest = error, None
        if not issubclass(type(error), BaseExceptionGroup):
            match = BaseExceptionGroup("", (error,))
            match.__traceback__ = error.__traceback__
    elif issubclass(type(error), BaseExceptionGroup):
        pair = frame.machine.invoke(error.split, classes)
        if not issubclass(type(pair), tuple):
            raise TypeError(f"{type(error).__name__}.split must return a tuple, not {type(pair).__name__}")
        if len(pair) < 2:
            raise TypeError(f"{type(error).__name__}.split must return a 2-tuple, got tuple of size {len(pair)}")
        match, rest = pair[:2]
    else:
        match, rest = None, error
    stack.append(rest)
    stack.append(match)
    if match is not None:
        frame.handling = match


@instruction()
def PREP_RERAISE_STAR(frame, operand):
    stack = frame.stack
    raised = stack.pop()
    stack[-1] = prepare_reraise_star(stack[-1], raised)


def prepare_reraise_star(original, raised):
    """What an ``except*`` statement raises in the end: what its clauses raised, and what they did not handle."""
    found = [error for error in raised if error is not None]
    if not found:
        return None
    if not issubclass(type(original), BaseExceptionGroup):
        return found[0]
    fresh, again = [], []
    for error in found:
        (again if same_group(original, error) else fresh).append(error)
    kept = keep_leaves(original, again)
    if not fresh:
        return kept
    if kept is not None:
        fresh.append(kept)
    if len(fresh) == 1:
        return fresh[0]
    return BaseExceptionGroup("", fresh)  # which makes an ExceptionGroup where all are Exceptions


def same_group(original, error):
    """Is ``error`` a part of ``original`` that was raised again, rather than something new?"""
    return (
        issubclass(type(error), BaseExceptionGroup)
        and error.__traceback__ is original.__traceback__
        and error.__cause__ is original.__cause__
        and error.__context__ is original.__context__
    )


def keep_leaves(original, groups):
    """The part of ``original`` whose leaves are in ``groups``."""
    if not groups:
        return None
    leaves = set()

    def collect(error):
        if issubclass(type(error), BaseExceptionGroup):
            for part in error.exceptions:
                collect(part)
        else:
            leaves.add(id(error))

    for group in groups:
        collect(group)
    return original.subgroup(lambda error: not issubclass(type(error), BaseExceptionGroup) and id(error) in leaves)


@instruction()
def LOAD_ASSERTION_ERROR(frame, operand):
    frame.stack.append(AssertionError)
