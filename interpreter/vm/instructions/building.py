"""Building containers, strings and formatted values."""

from types import GeneratorType

from ..lookups import has
from ..registry import instruction
from ..values import NULL
from .calls import called


def take(frame, count):
    stack = frame.stack
    if not count:
        return []
    items = stack[-count:]
    del stack[-count:]
    return items


@instruction()
def BUILD_TUPLE(frame, count):
    frame.stack.append(tuple(take(frame, count)))


@instruction()
def BUILD_LIST(frame, count):
    frame.stack.append(take(frame, count))


@instruction()
def BUILD_SET(frame, count):
    frame.stack.append(set(take(frame, count)))


@instruction()
def BUILD_MAP(frame, count):
    items = take(frame, 2 * count)
    frame.stack.append(dict(zip(items[::2], items[1::2])))


@instruction()
def BUILD_CONST_KEY_MAP(frame, count):
    keys = frame.stack.pop()
    frame.stack.append(dict(zip(keys, take(frame, count))))


@instruction()
def BUILD_STRING(frame, count):
    frame.stack.append("".join(take(frame, count)))


@instruction()
def LIST_TO_TUPLE(frame, operand):
    frame.stack[-1] = tuple(frame.stack[-1])


@instruction()
def LIST_APPEND(frame, depth):
    value = frame.stack.pop()
    list.append(frame.stack[-depth], value)


@instruction()
def SET_ADD(frame, depth):
    value = frame.stack.pop()
    set.add(frame.stack[-depth], value)


@instruction()
def MAP_ADD(frame, depth):
    stack = frame.stack
    value = stack.pop()
    key = stack.pop()
    dict.__setitem__(stack[-depth], key, value)


@instruction()
def LIST_EXTEND(frame, depth):
    iterable = frame.stack.pop()
    kind = type(iterable)
    if not has(kind, "__iter__") and not has(kind, "__getitem__"):
        raise TypeError(f"Value after * must be an iterable, not {kind.__name__}")
    target = frame.stack[-depth]
    if kind is GeneratorType:
        for item in frame.machine.items(iterable):
            target.append(item)
    else:
        frame.machine.extend(target, iterable)


@instruction()
def SET_UPDATE(frame, depth):
    iterable = frame.stack.pop()
    frame.stack[-depth].update(frame.machine.unpack(iterable))


def mapped(machine, mapping):
    """The items of what stands after ``**``; NULL for what is no mapping, as any AttributeError on the way means."""
    try:
        return machine.unpack_mapping(mapping)
    except AttributeError:
        return NULL


@instruction()
def DICT_UPDATE(frame, depth):
    mapping = frame.stack.pop()
    found = mapped(frame.machine, mapping)
    if found is NULL:
        raise TypeError(f"'{type(mapping).__name__}' object is not a mapping")
    frame.stack[-depth].update(found)


@instruction()
def DICT_MERGE(frame, depth):
    stack = frame.stack
    mapping = stack.pop()
    target = stack[-depth]
    place = -depth - 2
    function = stack[place] if stack[place] is not NULL else stack[place - 1]
    found = mapped(frame.machine, mapping)
    if found is NULL:
        raise TypeError(f"{called(function)} argument after ** must be a mapping, not {type(mapping).__name__}")
    for key, value in found.items():
        if key in target:
            raise TypeError(f"{called(function)} got multiple values for keyword argument '{key}'")
        target[key] = value


@instruction(until=(3, 12))
def FORMAT_VALUE(frame, flags):
    stack = frame.stack
    spec = stack.pop() if flags & 4 else NULL
    stack.append(frame.machine.format_value(stack.pop(), flags & 3, spec))


@instruction()
def CONVERT_VALUE(frame, conversion):
    frame.stack[-1] = frame.machine.convert(frame.stack[-1], conversion)


@instruction()
def FORMAT_SIMPLE(frame, operand):
    frame.stack[-1] = frame.machine.format_value(frame.stack[-1], 0, NULL)


@instruction()
def FORMAT_WITH_SPEC(frame, operand):
    spec = frame.stack.pop()
    frame.stack[-1] = frame.machine.format_value(frame.stack[-1], 0, spec)
