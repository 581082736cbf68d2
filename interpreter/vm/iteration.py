"""Iteration and unpacking."""

from types import GeneratorType

from .frame import Frame, iterator_of
from .generators import frame_of
from .hooks import Then, hooked
from .lookups import HEAP_TYPE, flags_of, has, lookup, special
from .values import NULL

_NATIVE = frozenset((list, tuple, dict, set, frozenset, str, bytes, range, GeneratorType))


class Iteration:
    """The part of the machine that deals with iteration."""

    def iterate(self, obj):
        """``iter(obj)``: an iterator, or the Frame that will give it."""
        kind = type(obj)
        if kind in _NATIVE:
            return iterator_of(obj)
        function = special(kind, "__iter__")
        if function is None:
            return iterator_of(obj)
        result = self.call(function, [obj])
        if type(result) is Frame:
            return hooked(result, Then(checked_iterator))
        return checked_iterator(result)

    def advance(self, iterator):
        """``next(iterator)``: the value, the Frame that will give it, or StopIteration is raised."""
        kind = type(iterator)
        if kind is GeneratorType:
            frame = frame_of(iterator)
            if frame is not None:
                return self.step(iterator, frame, None, None)
            return next(iterator)
        function = special(kind, "__next__")
        if function is not None:
            return self.call(function, [iterator])
        return next(iterator)

    def next_now(self, iterator):
        """The same to the end: the value, or StopIteration."""
        kind = type(iterator)
        function = special(kind, "__next__")
        if function is not None:
            return self.invoke(function, iterator)
        return next(iterator)

    def unpack(self, iterable):
        """All items, as a list."""
        kind = type(iterable)
        if kind in _NATIVE and kind is not GeneratorType:
            return [*iterable]
        return [*self.items(iterable)]

    def extend(self, target, iterable):
        """``target.extend(iterable)``, which also asks a class of the program for its length."""
        kind = type(iterable)
        sized = kind not in _NATIVE and (has(kind, "__len__") or has(kind, "__length_hint__"))
        if sized and flags_of(kind) & HEAP_TYPE and type(self).unpack is Iteration.unpack:
            target.extend(self.entered(iterable))
        else:
            target.extend(self.unpack(iterable))

    def items(self, iterable):
        """An iterator over ``iterable`` whose Python code is interpreted, for use inside the machine."""
        kind = type(iterable)
        if kind in _NATIVE:
            return iterator_of(iterable)
        function = special(kind, "__iter__")
        iterator = iterator_of(iterable) if function is None else checked_iterator(self.invoke(function, iterable))
        if special(type(iterator), "__next__") is None:
            return iterator
        return Stepping(self, iterator)

    def unpack_mapping(self, mapping):
        """The items of a mapping, as a dict; AttributeError where it has no ``keys``."""
        kind = type(mapping)
        if kind is dict:
            return dict(mapping)
        found = {}
        plainly = issubclass(kind, dict) and lookup(kind, "__iter__") is dict.__iter__  # then C looks no further
        native = has(kind, "keys") and special(kind, "keys") is None and special(kind, "__getitem__") is None
        if plainly or native:
            found.update(mapping)
            return found
        names = self.invoke(self.finished(self.get_attribute(mapping, "keys")))
        if not has(type(names), "__iter__") and not has(type(names), "__getitem__"):
            raise TypeError(f"{kind.__name__}.keys() returned a non-iterable (type {type(names).__name__})")
        for name in [*self.items(names)]:  # all of them before the first value is asked for
            found[name] = self.finished(self.get_item(mapping, name))
        return found


class Stepping:
    """An iterator whose ``__next__`` is interpreted."""

    def __init__(self, machine, iterator):
        self.machine, self.iterator = machine, iterator

    def __iter__(self):
        return self

    def __next__(self):
        return self.machine.next_now(self.iterator)


def checked_iterator(value):
    """What an ``__iter__`` gave, if it is an iterator."""
    if lookup(type(value), "__next__") is NULL:
        raise TypeError(f"iter() returned non-iterator of type '{type(value).__name__}'")
    return value
