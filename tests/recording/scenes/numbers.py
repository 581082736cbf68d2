"""Scenes about numbers that change from call to call, and what is computed with them."""

from __future__ import annotations

import math
import operator

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def ints_bools_and_floats_mixed_up():
    def f(x, n):
        return x * n, n, type(n) is bool, {n: 1}, [n][0], n if n else "zero"

    return Scene(
        f,
        [
            (X(), v)
            for v in (1, True, 1.0, 0, 0.0, -0.0, False, 2, 3, 4, 2.5, 3.5, float("inf"), float("nan"), float("nan"))
        ],
    )


@scene
def ints_that_change_and_what_is_done_with_them():
    def f(x, n, names):
        y = x[:n] if n < 3 else x * n
        return (
            y,
            n + 1,
            n // 2,
            -n,
            n % 3,
            n**2,
            min(n, 3),
            max(n, 2),
            range(n),
            list(range(n)),
            names[n % 2],
            f"{n}",
            abs(n),
            divmod(n, 2),
            n == 3,
            n & 1,
            n << 1,
            bool(n),
            str(n),
            float(n),
            round(n / 2, 1),
            [0] * n,
            "a" * n,
            (n, [n], {"n": n}),
            int(n),
            n in (1, 3),
            hash(n),
        )

    return Scene(f, [(X(5), n, ["a", "b"]) for n in (1, 2, 3, 4, 5, 6, 2, 3)])


@scene
def floats_that_change():
    def f(x, v):
        return (
            x * v,
            v + 1,
            v * 2 > 3,
            round(v),
            round(v, 1),
            v // 1,
            -v,
            abs(v),
            v**2,
            1 / v if v else 0,
            float(v),
            max(v, 2.0),
            f"{v:.2f}",
            [v, (v,)],
        )

    return Scene(f, [(X(), v) for v in (0.5, 1.5, 2.5, -1.0, 0.0, -0.0, 1e300, float("inf"), float("nan"), 0.5)])


@scene
def powers_and_roots_of_other_kinds():
    """An exponent below zero makes a float of an int, a root of a number below zero is complex."""

    def f(x, n, k, a):
        made = n**k, a**0.5, abs(a) ** k, 2**k
        return x * n, made, [type(each) for each in made], min(n, 1.5), max(n, a)

    numbers = ((1, 1, 2.0), (2, 2, 3.0), (3, 3, 4.0), (2, -1, 4.0), (3, -2, -4.0), (4, 2, -1.0))
    calls = [(X(), *each) for each in numbers]
    return Scene(f, [*calls, *calls], hits=3)


@scene
def builtins_compute_with_numbers_that_change():
    def f(x, n, a):
        whole = [n**2, abs(-n), divmod(n, 3), round(n * 1.5), min(n, 7), max(n, 2), sum([n, n]), int(n), pow(n, 2)]
        parts = [math.sqrt(a), math.floor(a), math.log(a), round(a, 1), int(a), max(a, 2.5), sum([a, a, 0.1]), a**0.5]
        told = bool(n), math.isnan(a), math.isclose(a, a), operator.add(n, a), operator.gt(n, 0)
        return x * sum(whole[:2]) * parts[0], whole, parts, told, [type(each) for each in (*whole, *parts)]

    return Scene(f, [(X(), n, n + 0.25) for n in range(1, 9)], hits=5, entries=3)


@scene
def errors_of_computing_builtins():
    def f(x, n):
        try:
            return x * math.sqrt(3 - n)
        except ValueError as error:
            return str(error), x / n

    return Scene(f, [(X(), n) for n in (1, 2, 3, 4, 5, 2, 6, 5)], hits=1)


@scene
def floats_beside_ints_that_change():
    """A float takes an int's subclass as it is: it is the machine that has to see who answers."""

    def f(x, n):
        made = [0.5 * n, 7.0 - n, 1.5 + n, 3.0 / n, 2.0**n, 7.5 // n, 7.5 % n, n * 0.5, True + n]
        told = [1.5 < n, 2.5 >= n, 3.0 == n, 3.0 != n, n in [2, 3], 3.0 in [n, 1]]
        scale = 0.25
        scale *= n
        return x * (0.5 * n), made, told, scale, [1.5, n, 0.5][n > 2], min(1.5, n), max(2.5, n), operator.mul(0.5, n)

    return Scene(f, [(X(), n) for n in (1, 2, 3, 4, 5, 6, 7, 3, 2)], hits=3)


@scene
def floats_that_hold_an_int_that_changes():
    def f(x, n):
        return x, n in (1.0, 3.0), (3.0, 1) == (n, 1), [2.0, 3.0].index(n) if n in (2, 3) else -1, (0.5, n) < (0.5, 3.0)

    return Scene(f, [(X(), n) for n in (1, 2, 3, 4, 5, 3, 2)])


@scene
def numbers_that_iterators_give():
    def f(x, n):
        parts = sum(v for v in (0.5, n)), max(v for v in (1.5, n)), min(map(lambda v: v * n, (1, 2.5)))
        more = sorted(v for v in (2.5, n)), math.fsum(v for v in (n, 0.25)), math.prod(v for v in (n, 2)), bytes([n, 1])
        return x, parts, more, sum((v * n for v in (1, 2)), 0.5), sum([x, x * n]), sum(v for v in (x, n)), bytes(n)

    return Scene(f, [(X(), n) for n in (1, 2, 3, 4, 2, 1)])


@scene
def truths_beside_ints_that_change():
    def f(x, n):
        told = [True < n, False == n, n >= True, n in (True, 3), True in [n], (True, 2) == (n, 2)]
        return x * (True + n), told, True & n, n | False, True * n, sum([True, n]), max(True, n)

    return Scene(f, [(X(), n) for n in (0, 1, 2, 3, 1, 0, 2)])


@scene
def a_schedule_that_counts_its_steps():
    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.rate = 0, 0.1

        def forward(self, x):
            self.steps += 1
            self.rate *= 0.5
            warm = min(self.steps / 4, 1.0)
            return x * self.rate / math.sqrt(self.steps) * warm + math.cos(self.steps)

    return Scene(Step(), [(X(),)] * 9, hits=5)


@scene
def a_division_that_nobody_uses():
    def f(x, n, k, branch):
        if branch and x.sum() > 0:
            x = x + 1
        told = "fine"
        try:
            k //= n
        except ZeroDivisionError as error:
            told = str(error)
        return x * 0.5, told

    numbers = ((1, 1), (2, 2), (3, 3), (0, 4), (5, 5), (0, 6))
    return Scene(f, [(X(), n, k, branch) for branch in (False, True) for n, k in numbers])


@scene
def methods_and_attributes_of_numbers():
    def f(x, n, v):
        return (
            x,
            n.bit_length(),
            n.real,
            n.__class__,
            n.to_bytes(2, "big"),
            v.is_integer(),
            v.as_integer_ratio(),
            v.hex(),
            n.__add__(1),
            type(n),
            n.numerator,
            isinstance(n, int),
            n.__index__(),
            v.__floor__(),
            divmod(v, 2),
            int(v),
            math.floor(v),
            math.sqrt(n),
            n.conjugate(),
        )

    return Scene(f, [(X(), n, n + 0.5) for n in (1, 2, 3, 4, 5, 6, 7)] + [(X(), 3, 3.0), (X(), 4, 4.0)])


@scene
def numbers_matched_and_compared():
    def f(n, d, x):
        match n:
            case 0:
                kind = "none"
            case 1 | 2:
                kind = "few"
            case int(k) if k > 4:
                kind = "many"
            case _:
                kind = "some"
        match d:
            case {"n": 3, **rest}:
                kind += "!"
            case {"n": int(k)}:
                kind += str(k % 2)
        match (n, x.size(0)):
            case (2, 2):
                kind += "pair"
            case (a, b) if a == b:
                kind += "same"
        return (
            x,
            kind,
            1 < n < 4,
            n in range(3),
            n in (3, 4),
            [n] == [2],
            {n} == {2},
            n is None,
            n or 7,
            not n,
            sorted([n, 2]),
            [2, n].index(n),
            n == 3.0,
        )

    return Scene(f, [(n, {"n": n}, torch.ones(max(n, 1))) for n in (0, 1, 2, 3, 4, 5, 6, 2)])
