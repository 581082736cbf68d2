"""Objects that can tell when they are looked at: statements ask no more of them than in CPython."""


class Watched:
    """Notes each attribute that is read of an instance."""

    def __getattribute__(self, name):
        notes.append(name)
        return object.__getattribute__(self, name)


class Meta(type):
    """Notes each attribute that is read of a class, and each comparison and instance check."""

    def __getattribute__(cls, name):
        notes.append(f"class {name}")
        return type.__getattribute__(cls, name)

    def __eq__(cls, other):
        notes.append("class ==")
        return cls is other

    __hash__ = type.__hash__

    def __instancecheck__(cls, instance):
        notes.append("class isinstance")
        return type.__instancecheck__(cls, instance)


notes = []


def _noted(action, *args):
    """What is noted while an action runs."""
    notes.clear()
    try:
        action(*args)
    except Exception as error:
        return type(error).__name__, str(error), [*notes]
    return [*notes]


def special_methods():
    class Full(Watched):
        def __call__(self, *args):
            return args

        def __iter__(self):
            return iter([1, 2])

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return True

        def __getitem__(self, key):
            return key

        def __setitem__(self, key, value):
            pass

        def __delitem__(self, key):
            pass

        def __len__(self):
            return 2

        def __bool__(self):
            return True

        def __contains__(self, item):
            return True

        def __eq__(self, other):
            return NotImplemented

        def __lt__(self, other):
            return True

        def __add__(self, other):
            return 1

        def __radd__(self, other):
            return 1

        def __neg__(self):
            return 1

        def __format__(self, spec):
            return "text"

        def __index__(self):
            return 1

    def enter(x):
        with x:
            return 1

    def unpack(x):
        a, b = x
        first, *rest = x
        return a, b, first, rest

    def store(x):
        x[1] = 2
        del x[1]

    def add(x):
        x += 1
        return x

    def match(x):
        match x:
            case [1, *_]:
                return 1
            case {"a": 1}:
                return 2
            case int():
                return 3
            case Full(value=1):
                return 4
            case _:
                return 5

    actions = (
        lambda x: x(1, 2), lambda x: [*x], lambda x: [each for each in x], lambda x: x[1], lambda x: len(x),
        lambda x: not x, lambda x: 1 in x, lambda x: x == 1, lambda x: x != 1, lambda x: x < 1, lambda x: x + 1,
        lambda x: 1 + x, lambda x: -x, lambda x: f"{x}", lambda x: f"{x!r}"[:0], lambda x: [1, 2, 3][x],
        lambda x: [1, 2, 3][x:], lambda x: print(*x, end="", sep=""), lambda x: x.absent, lambda x: x > 1, enter,
        unpack, store, add, match,
    )  # fmt: skip
    return [_noted(action, Full()) for action in actions]


def what_is_missing():
    class Bare(Watched):
        pass

    def enter(x):
        with x:
            return 1

    def unpack(x):
        a, b = x

    def throw(x):
        raise x

    def catch(x):
        try:
            raise ValueError
        except x:
            pass

    actions = (
        lambda x: x(), lambda x: [*x], lambda x: x[1], lambda x: 1 in x, lambda x: x < 1, lambda x: x + 1,
        lambda x: -x, lambda x: {**x}, lambda x: print(**x), lambda x: print(*x), enter, unpack, throw, catch,
        lambda x: [1, 2][x], lambda x: x @ x,
    )  # fmt: skip
    return [_noted(action, Bare()) for action in actions]


def classes_with_a_metaclass():
    class Error(Exception, metaclass=Meta):
        pass

    class Other(Error):
        pass

    class Plain(metaclass=Meta):
        def __init__(self, value=1):
            self.value = value

        def __new__(cls, *args):
            return object.__new__(cls)

        def method(self):
            return self.value

    def catch(kind):
        try:
            raise Other
        except kind:
            return 1

    def catch_tuple(kind):
        try:
            raise Error
        except (ValueError, kind):
            return 1

    return [
        _noted(action, *args)
        for action, *args in (
            (Plain, 3), (Error,), (catch, Error), (catch_tuple, Error), (lambda: Plain(2).method(),),
            (lambda: [*map(Plain, [1])],),
        )
    ]  # fmt: skip


def builtins_of_special_methods():
    class Numbers(Watched):
        def __bytes__(self):
            return b"hello"

        def __reversed__(self):
            return []

        def __length_hint__(self):
            return 0

        def __iter__(self):
            return self

        def __next__(self):
            raise StopIteration

        def __sizeof__(self):
            return 0

        def __instancecheck__(self, instance):
            return True

        def __subclasscheck__(self, kind):
            return True

        def __complex__(self):
            return 1j

        def __int__(self):
            return 1

        def __float__(self):
            return 1.0

        def __round__(self, *digits):
            return 1

        def __trunc__(self):
            return 1

        def __floor__(self):
            return 1

        def __ceil__(self):
            return 1

        def __dir__(self):
            return []

        def __hash__(self):
            return 1

        def __repr__(self):
            return "text"

        def __fspath__(self):
            return "text"

    import math
    import operator
    import os
    import sys

    actions = (
        bytes, reversed, list, tuple, set, sorted, sum, min, max, sys.getsizeof, lambda x: isinstance(1, x),
        lambda x: issubclass(int, x), complex, int, float, round, math.trunc, math.floor, math.ceil, dir, hash, repr,
        str, ascii, os.fspath, enumerate, zip, lambda x: [*zip(x, x)], lambda x: [*map(str, x)], iter, next, callable,
        lambda x: {x: 1}[x], lambda x: {x}, any, all, lambda x: "%s" % x, "{}".format, id, type, format,
        operator.length_hint, lambda x: [].extend(x), lambda x: dict.fromkeys(x), lambda x: "".join(x),
        lambda x: setattr(x, "a", 1), print, lambda x: hasattr(x, "b"), lambda x: getattr(x, "b", 1),
    )  # fmt: skip
    return [_noted(action, Numbers()) for action in actions]
