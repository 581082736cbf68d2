"""What looks at frames: locals, globals, eval, exec, sys._getframe, inspect, warnings."""

import inspect
import sys
import warnings


def local_names():
    a, b = 1, 2
    found = dict(locals())

    def inner():
        c = a
        return sorted(locals())

    return found, inner(), sorted(vars()), dir()


def evaluation():
    x = 5
    names = {"y": 2}
    exec("z = y * 10", names)
    return (
        eval("x + 1"),
        eval("y", names),
        names["z"],
        eval(compile("[i * x for i in range(2)]", "<text>", "eval"), {"x": 3}),
    )


def error_in_exec():
    exec("def f():\n    return 1 / 0\nf()", {})


def syntax_error_in_eval():
    eval("1 +")


def frames():
    def inner():
        frame = sys._getframe()
        outer = sys._getframe(1)
        return frame.f_code.co_name, outer.f_code.co_name, outer.f_locals["mark"], frame.f_back is outer, outer.f_lineno

    mark = "here"
    name, outer, seen, linked, line = inner()
    return name, outer, seen, linked, line - frames.__code__.co_firstlineno


def the_stack():
    def inner():
        return [entry.function for entry in inspect.stack()[:2]], inspect.currentframe().f_lineno

    functions, line = inner()
    return functions, line - the_stack.__code__.co_firstlineno


def warned_line():
    def deprecated():
        warnings.warn("old", DeprecationWarning, stacklevel=2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        deprecated()
    return [(w.category.__name__, str(w.message), w.lineno - warned_line.__code__.co_firstlineno) for w in caught]


def globals_are_the_modules():
    return globals() is sys.modules[__name__].__dict__, globals()["__name__"] == __name__


def named_tuples_know_their_module():
    import collections
    import typing

    T = typing.TypeVar("T")
    return (
        collections.namedtuple("P", "x")(1),
        collections.namedtuple("Q", "y").__module__ == __name__,
        T.__module__ == __name__,
    )


def types_made_by_hand():
    made = type("Made", (), {"x": 1})
    return made.__module__ == __name__, made().x


def recursion_limit():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 50)
    changed = sys.getrecursionlimit() - limit
    sys.setrecursionlimit(limit)
    return changed


def callers_of_native_callbacks():
    class A:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return True

    return len({A(), A()}), {A(): 1}[A()]


def finalisers():
    log = []

    class A:
        def __del__(self):
            log.append("deleted")

    a = A()
    log.append("before")
    del a
    log.append("after")
    return log


def names_put_into_f_locals():
    import sys

    def f():
        x = 1
        sys._getframe().f_locals["other"] = 2
        found = sys._getframe().f_locals["other"], sorted(locals()), sorted(sys._getframe().f_locals)
        del x
        return found, sorted(locals()), sorted(sys._getframe().f_locals)

    return f()


def warnings_of_native_code():
    """They are of the program's line, also where no Python code warns."""
    import datetime
    import warnings

    def warned(action):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            action()
        return [(each.category.__name__, str(each.message), each.filename, each.lineno) for each in seen]

    def truth():
        if NotImplemented:
            return not NotImplemented

    def inverted():
        return ~(
            True
        )

    def now():
        return (
            datetime.datetime.utcnow()
        )

    def then():
        return [datetime.datetime.utcfromtimestamp(n) for n in (1, 2)]

    def hidden_by_default():
        warnings.simplefilter("ignore")
        return ~True

    def once(n):
        for _ in range(2):
            warnings.warn(f"{n}", DeprecationWarning)
            n and NotImplemented and n

    found = [warned(each) for each in (truth, inverted, now, then, hidden_by_default, lambda: once(1))]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        once(2)
        once(2)
    return found, [(str(each.message), each.lineno) for each in seen], "__warningregistry__" in globals()
