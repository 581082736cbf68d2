"""What becomes of the value or the exception of a frame, where it is not simply pushed or passed on.

``returned(back, value)`` gives the value to push on the caller's stack, or a Frame to go on in (``back`` itself:
nothing is pushed). ``raised(back, error)`` gives NULL to let the exception pass, or the same as ``returned``.
"""

from .frame import Frame
from .values import NULL


class Hook:
    """Passes both on."""

    __slots__ = ()

    def returned(self, back, value):
        return value

    def raised(self, back, error):
        return NULL


class Discard(Hook):
    """The value is of no use: ``__setattr__``, ``__setitem__`` and the like."""

    __slots__ = ()

    def returned(self, back, value):
        return back


class Then(Hook):
    """The value goes through a function."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function

    def returned(self, back, value):
        return self.function(value)


class Otherwise(Hook):
    """An exception of one type is answered by a function of it."""

    __slots__ = ("function", "kind")

    def __init__(self, kind, function):
        self.kind, self.function = kind, function

    def raised(self, back, error):
        return self.function(error) if issubclass(type(error), self.kind) else NULL


class Instance(Hook):
    """``__init__`` has run: the call of the class gives the instance."""

    __slots__ = ("instance",)

    def __init__(self, instance):
        self.instance = instance

    def returned(self, back, value):
        if value is not None:
            raise TypeError(f"__init__() should return None, not '{type(value).__name__}'")
        return self.instance


class Missing(Hook):
    """An AttributeError that tells neither object nor name gets both, as any that leaves an attribute access."""

    __slots__ = ("name", "obj")

    def __init__(self, obj, name):
        self.obj, self.name = obj, name

    def raised(self, back, error):
        if issubclass(type(error), AttributeError) and error.name is None and error.obj is None:
            error.name, error.obj = self.name, self.obj
        return NULL


class Chain(Hook):
    """What the first hook gives goes to the second."""

    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second

    def returned(self, back, value):
        return self.go_on(back, self.first.returned(back, value))

    def raised(self, back, error):
        result = self.first.raised(back, error)
        return self.second.raised(back, error) if result is NULL else self.go_on(back, result)

    def go_on(self, back, result):
        if result is back:
            return back
        if type(result) is Frame:
            return hooked(result, self.second)
        return self.second.returned(back, result)


def hooked(frame, hook):
    """``frame``, with one more hook that gets what the hooks before it give."""
    frame.hook = hook if frame.hook is None else Chain(frame.hook, hook)
    return frame


DISCARD = Discard()
