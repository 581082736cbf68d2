"""Scenes with caches of `functools`: how often a function is called, what is counted, and which key is dropped next are
as in eager."""

from __future__ import annotations

import dataclasses
import functools
import gc

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


def seen(cached):
    """The counts of a cache, and what it holds in the order of use."""
    held = [value for value in gc.get_referents(cached) if isinstance(value, (int, str, tuple))]
    return tuple(cached.cache_info()), [value if isinstance(value, (int, str)) else len(value) for value in held]


def counting(**options):
    """A cached function that tells how often it has been called."""
    calls = []

    @functools.lru_cache(**options)
    def table(n, scale=1):
        calls.append(n)
        return torch.full((2,), float(n * scale + len(calls)))

    return table, lambda: (calls, seen(table))


@scene
def impure_and_cleared():
    table, state = counting()

    def f(x, n):
        return x * table(n)

    return Scene(f, [(X(), 1), (X(), 2), table.cache_clear, (X(), 1), (X(), 2), (X(), 1)], state, hits=1)


@scene
def cleared_again_and_again():
    table, state = counting()

    def f(x, n):
        return x * table(n)

    calls = [(X(), 1), (X(), 1), table.cache_clear] * 4
    return Scene(f, calls, state, tail=True, hits=1, entries=4)


@scene
def full_so_that_the_oldest_goes():
    table, state = counting(maxsize=2)

    def f(x, n):
        return x * table(n), table(n)

    return Scene(f, [(X(), n) for n in (1, 2, 1, 3, 1, 1, 2, 3, 3, 1, 1, 1)], state, tail=True)


@scene
def the_order_of_use_decides_what_goes():
    table, state = counting(maxsize=3)

    def f(x, a, b):
        return x * table(a) + table(b)

    calls = [(X(), 1, 2), (X(), 1, 2), (X(), 2, 1), (X(), 2, 1), lambda: table(7), lambda: table(8), (X(), 2, 1)]
    return Scene(f, calls, state, tail=True, hits=1)


@scene
def two_keys_in_a_cache_of_one():
    table, state = counting(maxsize=1)

    def f(x):
        return x * table(1) + table(2)

    return Scene(f, [(X(),)] * 5, state, tail=True)


@scene
def nothing_is_kept():
    table, state = counting(maxsize=0)

    def f(x):
        return x * table(1)

    return Scene(f, [(X(),)] * 4, state, tail=True)


@scene
def keywords_and_types_make_keys():
    table, state = counting(maxsize=16, typed=True)

    def f(x, n):
        return x * table(n) + table(n=n) + table(n, scale=2)

    calls = [(X(), n) for n in (1, 1, True, 1.0, 1.0, 1, 1)]
    return Scene(f, calls, state, hits=2, tail=True)


@scene
def equal_keys_of_other_types():
    table, state = counting()

    def f(x, n):
        return x * table(n, 1), table(n)

    return Scene(f, [(X(), n) for n in (1, 1, 1.0, 1.0, True, True, 1)], state, hits=2)


@scene
def counts_asked_inside():
    table, state = counting()

    def f(x):
        y = x * table(3)
        return y, table.cache_info(), table.cache_parameters()

    return Scene(f, [(X(),)] * 4, state, tail=True)


@scene
def cleared_inside():
    table, state = counting()

    def f(x):
        first = table(3)
        table.cache_clear()
        return x * table(3) + first

    return Scene(f, [(X(),)] * 4, state, tail=True)


@scene
def an_argument_without_a_hash():
    table, state = counting()

    def f(x, n):
        try:
            return x * table([n])
        except TypeError as error:
            return str(error), table(n)

    return Scene(f, [(X(), 1)] * 4, state, hits=2)


@scene
def methods_and_what_objects_are():
    class Box(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        @functools.lru_cache(maxsize=4)  # noqa: B019
        def mask(self, n, dtype=torch.float32):
            self.calls += 1
            return torch.ones(n, n, dtype=dtype).tril()

        def forward(self, x):
            return self.mask(x.size(0)) @ x, self.mask(x.size(0), dtype=x.dtype)

    box = Box()
    return Scene(
        box, [(torch.ones(2, 2),)] * 3 + [(torch.ones(3, 3),)] * 3, lambda: seen(Box.mask)[0], hits=3, tail=True
    )


@scene
def keys_with_a_hash_of_their_own():
    @dataclasses.dataclass(frozen=True)
    class Shape:
        n: int

    calls = []

    @functools.cache
    def table(shape):
        calls.append(shape.n)
        return torch.arange(float(shape.n))

    def f(x, shape):
        return x * table(shape)

    return Scene(f, [(X(), Shape(2))] * 3 + [(X(3), Shape(3))] * 2, lambda: (calls, table.cache_info()), tail=True)


@scene
def a_key_made_inside():
    table, state = counting()

    def f(x, n):
        return x * table((n, 2)[0]) + table(n + 1) + table(f"{n}"[:1].count("1"))

    return Scene(f, [(X(), 1)] * 3 + [(X(), 2)] * 3, state, hits=2)


@scene
def the_function_raises():
    calls = []

    @functools.lru_cache
    def table(n):
        calls.append(n)
        if len(calls) < 3:
            raise ValueError(n)
        return torch.ones(2) * len(calls)

    def f(x):
        try:
            return x * table(1)
        except ValueError as error:
            return str(error)

    return Scene(f, [(X(),)] * 6, lambda: (calls, table.cache_info()), tail=True, hits=1)


@scene
def the_function_changes_what_was_read():
    state = {"n": 0}
    count = 0

    @functools.lru_cache
    def table(n):
        nonlocal count
        count += 1
        state["n"] += 1
        return torch.ones(2) * n

    def f(x, n):
        before = state["n"], count
        y = x * table(n)
        return y, before, state["n"], count

    return Scene(f, [(X(), 1)] * 3 + [(X(), 2)] * 3, lambda: (state, count), tail=True)


@scene
def the_function_changes_a_cell_or_a_slot_that_was_read():
    class Slotted:
        __slots__ = ("n",)

    box, count = Slotted(), 0
    box.n = 1

    @functools.lru_cache
    def table(n):
        nonlocal count
        count += n == 1
        box.n += n == 2
        return torch.ones(2) * n

    def f(x, n):
        before = count, box.n
        y = x * table(n)
        return y, before, count, box.n

    return Scene(f, [(X(), 1)] * 3 + [(X(), 2)] * 3, lambda: (count, box), tail=True)


@scene
def the_function_reads_what_was_written():
    log = []

    @functools.lru_cache
    def table(n):
        log.append("table")
        return torch.ones(2) * len(log)

    def f(x, n):
        log.append(n)
        y = x * table(n)
        return y, len(log), list(log)

    return Scene(f, [(X(), 1)] * 3 + [(X(), 2)] * 3, lambda: log, tail=True)


@scene
def recursion_through_the_cache():
    @functools.lru_cache(maxsize=3)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def f(x, n):
        return x * fib(n)

    return Scene(f, [(X(), n) for n in (5, 5, 5, 3, 3, 9, 9, 9)], lambda: seen(fib), tail=True)


@scene
def a_cache_made_inside():
    def f(x, n):
        @functools.cache
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        return x * fib(n)

    return Scene(f, [(X(), 5)] * 3, tail=True)


@scene
def a_hit_and_an_operation_that_raises():
    table, state = counting()

    def f(x, n):
        y = table(n)
        try:
            return x.view(n, 1) * y
        except RuntimeError:
            return table(n) + table(2)

    return Scene(f, [(X(2), 2), (X(2), 2), (X(3), 2), (X(3), 2), (X(2), 2), (X(3), 2)], state, hits=1)


@scene
def a_hit_on_both_sides_of_a_branch():
    table, state = counting()

    def f(x, n):
        y = x * table(n)
        if y.sum() > 4:
            return y + table(n)
        return y - table(2)

    return Scene(f, [(X(), 1), (X(), 1), (-X(), 1), (-X(), 1), (X(), 1), (-X(), 1)], state, hits=2)


@scene
def gradients_after_a_hit():
    table, state = counting()

    def f(x, w):
        loss = (x * table(1) * w).sum()
        loss.backward()
        return loss

    w = torch.ones(2, requires_grad=True)
    return Scene(f, [(X(), w)] * 4, lambda: (state(), w), hits=2)


@scene
def single_dispatch_and_cached_property():
    class Box:
        made = 0

        @functools.cached_property
        def table(self):
            self.made += 1
            return torch.full((2,), float(self.made))

        @functools.singledispatchmethod
        def of(self, value):
            return 1

        @of.register
        def _(self, value: str):
            return len(value)

    box = Box()

    def f(x, value):
        return x * box.table * box.of(value)

    calls = [*[(X(), 3), (X(), "ab")] * 3, lambda: box.__dict__.pop("table"), (X(), "ab"), (X(), "ab")]
    return Scene(f, calls, lambda: vars(box), hits=1)
