"""``match`` statements."""

from ..frame import Frame
from ..registry import instruction
from ..values import NULL

_SEQUENCE, _MAPPING, _MATCH_SELF = 1 << 5, 1 << 6, 1 << 22


@instruction()
def MATCH_SEQUENCE(frame, operand):
    frame.stack.append(bool(type(frame.stack[-1]).__flags__ & _SEQUENCE))


@instruction()
def MATCH_MAPPING(frame, operand):
    frame.stack.append(bool(type(frame.stack[-1]).__flags__ & _MAPPING))


@instruction()
def MATCH_KEYS(frame, operand):
    """The values under the keys, as a tuple; None where one is missing."""
    stack, machine = frame.stack, frame.machine
    subject, keys = stack[-2:]
    stack.append(_values(machine, subject, keys))


def _values(machine, subject, keys):
    seen, values = set(), []
    missing, getter = object(), NULL
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        if getter is NULL:
            getter = machine.finished(machine.get_attribute(subject, "get"))
        value = machine.invoke(getter, key, missing)
        if value is missing:
            return None
        values.append(value)
    return tuple(values)


@instruction()
def MATCH_CLASS(frame, count):
    """The attributes of the subject which the class pattern names, as a tuple; None where it does not match."""
    stack, machine = frame.stack, frame.machine
    subject, cls, names = stack[-3:]
    del stack[-3:]
    stack.append(_match_class(machine, subject, cls, count, names))


def _read(machine, subject, name):
    try:
        value = machine.get_attribute(subject, name)
        return machine.finish(value) if type(value) is Frame else value
    except AttributeError:
        return NULL


def _match_class(machine, subject, cls, count, names):
    if not issubclass(type(cls), type):
        raise TypeError("called match pattern must be a class")
    if not machine.invoke(isinstance, subject, cls):
        return None
    seen, values = set(), []
    if count:
        arguments = _read(machine, cls, "__match_args__")
        myself = False
        if arguments is NULL:
            arguments, myself = (), bool(cls.__flags__ & _MATCH_SELF)
        elif type(arguments) is not tuple:
            raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(arguments).__name__})")
        allowed = 1 if myself else len(arguments)
        if allowed < count:
            plural = "" if allowed == 1 else "s"
            raise TypeError(f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
        if myself:
            values.append(subject)
        else:
            for name in arguments[:count]:
                if not issubclass(type(name), str):
                    text = f"__match_args__ elements must be strings (got {type(name).__name__})"
                    raise TypeError(text)
                if (value := _attribute(machine, subject, cls, name, seen)) is NULL:
                    return None
                values.append(value)
    for name in names:
        if (value := _attribute(machine, subject, cls, name, seen)) is NULL:
            return None
        values.append(value)
    return tuple(values)


def _attribute(machine, subject, cls, name, seen):
    if name in seen:
        raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
    seen.add(name)
    return _read(machine, subject, name)
