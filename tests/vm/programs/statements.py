"""Loops, with, match, imports, comprehensions, unpacking, formatting, deletion."""

import contextlib


def loops():
    log = []
    for i in range(5):
        if i == 1:
            continue
        if i == 3:
            break
        log.append(i)
    else:
        log.append("else")
    while log:
        log.pop()
    else:
        log.append("emptied")
    return log


def unpacking():
    a, (b, *c), d = 1, "xyz", [4]
    first, *middle, last = range(5)
    merged = [*range(2), *"ab"], {*(1, 2), 2}, {**{"a": 1}, "b": 2, **{"a": 3}}
    return a, b, c, d, first, middle, last, merged


def too_few_to_unpack():
    a, b = [1]


def too_many_to_unpack():
    a, b = iter([1, 2, 3])


def too_few_for_star():
    a, *b, c = [1]


def unpack_no_iterable():
    a, b = 5


def context_managers():
    log = []

    @contextlib.contextmanager
    def named(name, swallow=False):
        log.append("in " + name)
        try:
            yield name
        except ValueError:
            log.append("caught in " + name)
            if not swallow:
                raise
        finally:
            log.append("out " + name)

    with named("a", True) as a, named("b") as b:
        log.append(a + b)
        raise ValueError
    with contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
        stack.callback(log.append, "callback")
        {}[1]
    return log


def no_context_manager():
    with 5:
        pass


def matching():
    class Point:
        __match_args__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    def kind(value):
        match value:
            case 0 | 1:
                return "bit"
            case str() as text if text:
                return "text " + text
            case [x, y, *rest]:
                return "list", x, y, rest
            case {"a": a, **rest}:
                return "dict", a, rest
            case Point(0, y=found):
                return "on axis", found
            case Point(x, _):
                return "point", x
            case int(n):
                return "int", n
            case None:
                return "none"
            case _:
                return "other"

    values = [1, "", "t", [1, 2, 3], (1, 2), {"a": 1, "b": 2}, Point(0, 1), Point(2, 3), 7, None, 1.5]
    return [kind(value) for value in values]


def imports():
    import json as j
    import os.path
    from collections import OrderedDict
    from collections import namedtuple as nt

    return j.dumps([1]), os.path.basename("a/b"), OrderedDict.__name__, nt("P", "x y")(1, 2)


def import_of_nothing():
    from json import no_such_name  # noqa: F401


def import_of_no_module():
    import no_such_module_anywhere  # noqa: F401


def comprehensions():
    n = 2
    return (
        [x * y for x in range(3) for y in range(x) if y],
        {x % n for x in range(5)},
        {k: v for k, v in zip("ab", [1, 2])},
    )


def walrus():
    log = [y := 1, y + 1]
    if (m := len(log)) > 1:
        log.append(m)
    return log, y


def formatting():
    value, width = 3.14159, 10
    return f"{value:{width}.2f}|{value!r}|{'a'!s:>3}|{{}}|{width=}", "%s-%d" % ("a", 2), "{0:>4}{x}".format(1, x=2)


def deleting():
    names = {"a": 1}
    items = [1, 2, 3]
    del names["a"], items[0], items[-1:]
    x = 1
    del x
    try:
        return x
    except UnboundLocalError as error:
        return names, items, str(error)


def subscripts():
    items = list(range(10))
    items[2:4] = "ab"
    items[::3] = [0] * 4
    return items[1:5], items[-1], items[slice(None, None, -1)]


def chained_comparisons():
    def noisy(n):
        print("asked", n)
        return n

    return noisy(1) < noisy(2) < noisy(2) < noisy(0), 1 < 2 != 3 in [3], None is not 1


def short_circuits():
    def noisy(n):
        print("asked", n)
        return n

    return noisy(0) or noisy(2) and noisy(3), not noisy(0), noisy(1) if noisy(0) else noisy(5)


def globals_of_a_module():
    global made_here
    made_here = 5
    found = made_here
    del made_here
    return found, "made_here" in globals()


def annotations():
    x: int = 5
    y: "unquoted"

    def f(a: int, *b: str, c: float = 1.5) -> None:
        pass

    return x, f.__annotations__


def numbers():
    return (
        7 // 2,
        -7 // 2,
        7 % -3,
        2**10,
        2**-1,
        1 << 5,
        6 & 3,
        6 | 3,
        6 ^ 3,
        ~5,
        +True,
        5 / 2,
        1e3,
        3j * 2,
        divmod(7, 2),
    )


def division_by_zero():
    return 1 // 0


def bad_operand():
    return "a" + 1


def in_place():
    a = b = [1]
    a += [2]
    a *= 2
    n = 5
    n -= 1
    n **= 2
    return a, b is a, n
