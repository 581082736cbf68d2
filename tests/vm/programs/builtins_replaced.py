"""Programs that replace builtins, and code whose globals name none: each sees the builtins that CPython shows it."""

import builtins
import functools
import sys
import types


def _with_builtins(names, action):
    """What an action gives while builtins are replaced."""
    update = vars(builtins).update
    kept = {name: getattr(builtins, name) for name in names}
    update(names)
    try:
        return action()
    finally:
        update(kept)


def what_the_machine_uses_too():
    """None of these calls is made by anything but the program."""
    seen = []

    def noting(function):
        def noted(*args):
            seen.append((function.__name__, args))
            return function(*args)

        return noted

    class Thing:
        value = property(lambda self: [*self])

        def __iter__(self):
            yield 1

        def __len__(self):
            return 3

        def __getattr__(self, name):
            return name

    def action():
        thing = Thing()
        first, *rest = thing
        found = [len("abc"), thing.value, thing.other, bool(thing), first, rest, sorted([2, 1]), getattr(thing, "x")]
        try:
            raise KeyError(1)
        except (KeyError, ValueError) as error:
            found.append(str(error))
        found += [x for x in thing]
        return found

    names = {each.__name__: noting(each) for each in (len, getattr, hasattr, iter, next, isinstance, sorted)}
    return _with_builtins(names, action), seen


def classes_that_are_looked_at():
    def action():
        class Thing:
            def __init__(self):
                self.items = {"a": [1, 2]}

            def each(self):
                yield from self.items

        return [*Thing().each()], {**Thing().items}

    names = ("type", "dict", "object", "TypeError", "StopIteration", "super", "list")
    return _with_builtins(dict.fromkeys(names), action)


def cached_length():
    def action():
        return [len("abcdefghijklmn"[:i]) for i in (0, 0, 1, 2, 3, 3, 4, 5, 6, 1, 7, 2, 1)], len.cache_info()

    return _with_builtins({"len": functools.lru_cache(4)(len)}, action)


def functions_without_builtins_in_their_globals():
    def model():
        class Inner:
            pass

        def inner():
            return len

        return inner, Inner, len

    names = {}
    inner, cls, found = types.FunctionType(model.__code__, names)()
    return (
        found is len, inner() is len, sorted(names), inner.__builtins__ is vars(builtins), cls.__module__,
        types.FunctionType(model.__code__, {}).__builtins__ is vars(builtins),
    )  # fmt: skip


def what_frames_and_new_globals_name():
    names = {}
    exec("def f(): return len\nfound = f()", names)
    frame = sys._getframe()
    found = eval("sys._getframe().f_builtins", {"sys": sys, "__builtins__": vars(builtins)})
    given = names["__builtins__"]
    return frame.f_builtins is vars(builtins), found is vars(builtins), given is vars(builtins), names["found"] is len
