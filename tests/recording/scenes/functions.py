"""Scenes in which a function is another one in a later call: its code, defaults, cells, globals."""

from __future__ import annotations

import functools
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def code_of_a_function_replaced():
    def g(x):
        return x + 1

    def other(x):
        return x - 1

    def f(x):
        return g(x)

    return Scene(f, [(X(),), lambda: setattr(g, "__code__", other.__code__), (X(),)])


@scene
def defaults_of_a_function_replaced():
    def g(x, n=1, *, k=2):
        return x * n + k

    def f(x):
        return g(x)

    return Scene(
        f,
        [
            (X(),),
            lambda: setattr(g, "__defaults__", (5,)),
            (X(),),
            lambda: g.__kwdefaults__.update(k=7),
            (X(),),
            lambda: setattr(g, "__kwdefaults__", {"k": 9}),
            (X(),),
            lambda: setattr(g, "__kwdefaults__", None),
            (X(),),
        ],
    )


@scene
def function_attribute_read():
    def g(x):
        return x * g.scale

    g.scale = 2

    def f(x):
        return g(x)

    return Scene(f, [(X(),), lambda: setattr(g, "scale", 3), (X(),), (X(),)], hits=1)


@scene
def global_deleted_and_builtin_shadowed():
    space = types.ModuleType("space")
    exec("def f(x):\n    return x * len([1, 2])", space.__dict__)
    return Scene(
        space.f, [(X(),), lambda: setattr(space, "len", lambda xs: 7), (X(),), lambda: delattr(space, "len"), (X(),)]
    )


@scene
def module_attribute_of_a_python_module():
    space = types.ModuleType("space")
    space.inner = types.ModuleType("inner")
    space.inner.n = 2

    def f(x):
        return x * space.inner.n, hasattr(space.inner, "m")

    return Scene(
        f,
        [
            (X(),),
            lambda: setattr(space.inner, "n", 3),
            (X(),),
            lambda: setattr(space.inner, "m", 3),
            (X(),),
            lambda: setattr(space, "inner", types.SimpleNamespace(n=9)),
            (X(),),
        ],
    )


@scene
def lambdas_given_as_arguments():
    def f(x, act):
        return act(x) + 1

    return Scene(f, [(X(), lambda t: t * 2) for _ in range(4)], entries=2, hits=2)


@scene
def closures_given_as_arguments():
    def f(x, act):
        return act(x) + 1

    def make(n):
        return lambda t: t * n

    return Scene(f, [(X(), make(2)), (X(), make(2)), (X(), make(3)), (X(), make(2))])


@scene
def partials_and_bound_methods_given():
    class Box:
        def __init__(self, n):
            self.n = n

        def apply(self, x):
            return x * self.n

    def scale(x, n, k=1):
        return x * n + k

    def f(x, act):
        return act(x)

    return Scene(
        f,
        [
            (X(), functools.partial(scale, n=2)),
            (X(), functools.partial(scale, n=3)),
            (X(), functools.partial(scale, n=2, k=4)),
            (X(), Box(2).apply),
            (X(), Box(3).apply),
            (X(), Box(2).apply),
            (X(), torch.sin),
            (X(), torch.nn.Tanh()),
        ],
    )


@scene
def names_of_functions_and_methods():
    class Box:
        def apply(self, x):
            """Doc."""
            return x

    def f(m, g, x):
        return (
            x,
            m.__name__,
            m.__self__ is not None,
            m.__doc__,
            m.__func__.__qualname__,
            g.__name__,
            getattr(g, "__wrapped__", None),
            m == m,
            type(m).__name__,
        )

    one = Box()
    return Scene(
        f,
        [
            (one.apply, lambda v: v, X()),
            (one.apply, functools.wraps(len)(lambda v: v), X()),
            (one.apply, lambda v: v, X()),
        ],
    )


@scene
def global_functions_replaced_from_inside():
    space = types.ModuleType("space")
    exec(
        "def g(x):\n    return x + 1\ndef f(x):\n    global g\n    y = g(x)\n    old = g\n"
        "    g = lambda x: old(x) * 2\n    return y, g(x)",
        space.__dict__,
    )
    return Scene(space.f, [(X(),)] * 4, tail=True)


@scene
def globals_cells_and_defaults():
    space = types.ModuleType("space")
    exec(
        "n = 0\nlog = []\ndef f(x, seen=[]):\n    global n, m\n    n += 1\n    m = x * n\n    seen.append(n)\n"
        "    log.append(m)\n"
        "    globals()['k'] = len(seen)\n    if n == 3:\n        del m\n    return x + len(seen)",
        space.__dict__,
    )
    total, last = 0, None

    def g(x):
        nonlocal total, last
        total += 1
        last = space.f(x)
        return last * total

    return Scene(
        g, [(X(),)] * 4, state=lambda: (space.n, space.log, getattr(space, "m", None), space.k, total, last, space.f)
    )


@scene
def methods_of_what_was_made_inside():
    def f(x):
        held = [x]
        return held.append, [1, 2].__len__, x * 2

    def g(x):
        append, length, y = f(x)
        append(y)
        return append.__self__, length()

    return Scene(g, [(X(),), (X(),), (X(),)], hits=2)


@scene
def recursion_and_mutual_calls():
    memo = {}

    def even(n, x):
        return x if n == 0 else odd(n - 1, x + 1)

    def odd(n, x):
        memo[n] = memo.get(n, 0) + 1
        return x * 0 if n == 0 else even(n - 1, x * 2)

    def f(x, n):
        return even(n, x)

    return Scene(f, [(X(), n) for n in (4, 4, 3, 2, 6, 5)], state=lambda: memo)


@scene
def lru_cache_asked_and_cleared():
    calls = []

    @functools.lru_cache(maxsize=None)
    def table(n):
        calls.append(n)
        return torch.arange(float(n))

    def f(x, n):
        return x + table(n), table(n)

    return Scene(f, [(X(), 2), (X(), 2), (X(), 2), table.cache_clear, (X(), 2), (X(3), 3)], state=lambda: calls, hits=1)


@scene
def single_dispatch_gains_a_case():
    @functools.singledispatch
    def size(o):
        return 1

    def f(o, x):
        return x * size(o)

    return Scene(f, [([], X()), ([], X()), lambda: size.register(list, lambda o: 5), ([], X()), ("s", X()), ([], X())])


@scene
def a_cached_function_that_is_wrapped():
    @functools.lru_cache
    def doubled(n, *, times=2):
        return n * times

    def f(n, x):
        once = functools.partial(doubled, times=3)
        return x * once(n), list(map(doubled, [n, n])), functools.wraps(doubled)(lambda v: v)(x), once.func is doubled

    return Scene(f, [(2, X()), (2, X()), (3, X()), (2, X()), (3, X())], state=lambda: doubled.cache_info().currsize)
