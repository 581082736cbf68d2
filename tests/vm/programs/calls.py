"""Binding arguments, defaults, methods, callable objects, wrong calls."""

import functools


def positional_and_keyword():
    def f(a, b=2, /, c=3, *rest, d, e=5, **more):
        return a, b, c, rest, d, e, more

    return f(1, d=4), f(1, 2, 3, 4, 5, d=6, e=7, x=8), f(*[1, 2], **{"d": 1, "c": 9})


def defaults_are_shared():
    def f(item, seen=[]):
        seen.append(item)
        return seen

    f(1)
    return f(2), f.__defaults__


def missing_argument():
    def f(a, b):
        return a, b

    f(1)


def too_many():
    def f(a, *, b=1):
        return a, b

    f(1, 2)


def unexpected_keyword():
    def f(value):
        return value

    f(1, valeu=2)


def positional_only_by_keyword():
    def f(a, /):
        return a

    f(a=1)


def doubled_keyword():
    def f(a, b):
        return a, b

    return f(1, **{"a": 2, "b": 3})


def doubled_by_two_mappings():
    return dict(**{"a": 1}, **{"a": 2})


def not_callable():
    number = 1
    return number(2)


def star_of_no_iterable():
    return print(*5)


def mapping_of_no_mapping():
    return print(**5)


def methods():
    class A:
        def plain(self, x):
            return "plain", x

        @classmethod
        def of_class(cls, x):
            return cls.__name__, x

        @staticmethod
        def static(x):
            return "static", x

        def __call__(self, *args, **kwargs):
            return "called", args, kwargs

    a = A()
    bound = a.plain
    return bound(1), A.plain(a, 2), a.of_class(3), A.static(4), a(5, k=6), bound.__self__ is a


def partials():
    add = functools.partial(lambda *args, **kwargs: (args, kwargs), 1, k=2)
    return add(3, j=4), functools.partial(add, 5)(6)


def recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return [fib(n) for n in range(12)]


def deep_recursion():
    def down(n):
        return down(n + 1)

    try:
        down(0)
    except RecursionError as error:
        return str(error)


def closures():
    total = 0

    def add(n):
        nonlocal total
        total += n
        return lambda: total

    read = add(1)
    add(10)
    return read(), [f() for f in [lambda i=i: i for i in range(3)]], [f() for f in [lambda: i for i in range(3)]]


def unbound_variable():
    if not unbound_variable:
        x = 1
    return x


def unbound_free_variable():
    def inner():
        return later

    inner()
    later = 1


def unknown_global():
    return never_defined_anywhere


def lambda_and_decorators():
    def twice(f):
        @functools.wraps(f)
        def inner(*args):
            return f(f(*args))

        return inner

    @twice
    def add(x):
        """Docs."""
        return x + 3

    return add(1), add.__name__, add.__doc__


def conditional_arguments():
    """Jumps that go to the call itself: the argument before it is chosen by a condition."""

    def keyword(k):
        return dict(a=(3 if k is None else 4)), dict(a=1, b=(k and 2)), dict(b=k or 5, **{"c": 1 if k else 0})

    def positional(k):
        text = str(k if k is not None else "none")
        return max(1, 3 if k else 0), [*range(2 if k else 1)], text, (lambda *a: a)(1, k or 2)

    def within(k):
        found = []
        for i in range(3):
            found.append(i if k else -i)
            found.extend(x for x in ([i] if i % 2 else []))
        return found, sorted(found, key=(lambda v: -v) if k else None, reverse=True if k else False)

    return [(keyword(k), positional(k), within(k)) for k in (None, 0, 1, 2)]


def class_methods_of_builtins():
    """They have lookasides as methods have: what they go through is interpreted."""
    import collections
    import itertools

    seen = []

    class Items:
        def __init__(self, *items):
            self.items = items

        def __iter__(self):
            seen.append(self.items)
            return iter(self.items)

    chained = itertools.chain.from_iterable(Items(Items(1, 2), (), [3], Items()))
    return (
        dict.fromkeys(Items(1, 2), 3), collections.OrderedDict.fromkeys(Items(1)), next(chained), [*chained], seen,
        type(chained).__name__, bytes.fromhex("00ff"), int.from_bytes(Items(1, 2), "big"), float.fromhex("0x1p-1"),
    )  # fmt: skip


def variables_die_from_the_first_to_the_last():
    """When a function returns: arguments, then the others in the order of their slots."""
    log = []

    class Mortal:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            log.append(self.name)

    def constant(x, y):
        a, b, c = Mortal("a"), Mortal("b"), Mortal("c")
        return 1

    def one_of_them(x, y):
        a, b, c = Mortal("a"), Mortal("b"), Mortal("c")
        return b

    def nothing(x, *rest, **named):
        a, b = Mortal("a"), Mortal("b")

    def with_cells(x, y):
        a, b = Mortal("a"), Mortal("b")

        def inner():
            return x, b

        c = Mortal("c")
        return len(inner())

    def numbers(x, y):
        a = Mortal("a")
        yield 1
        b = Mortal("b")

    class Kind:
        def __len__(self):
            a, b = Mortal("a"), Mortal("b")
            return 3

    for _ in range(4):
        for function in (constant, one_of_them, nothing, with_cells):
            log.append(function.__name__)
            function(Mortal("x"), Mortal("y"))
        nothing(Mortal("x"), Mortal("y"), Mortal("z"), named=Mortal("named"))
        log.append([*numbers(Mortal("x"), Mortal("y"))])
        log.append(len(Kind()))
    return log
