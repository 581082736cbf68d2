"""Scenes about numbers that change from call to call, and about what Python code can find out in roundabout ways."""

from __future__ import annotations

import collections
import dataclasses
import math
import operator
import types
import warnings

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def numbers_in_named_tuples_and_objects():
    Pair = collections.namedtuple("Pair", "a b")

    @dataclasses.dataclass(frozen=True)
    class Config:
        n: int
        scale: float = 1.0

    class Slotted:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

    def f(p, c, s, t, x):
        first, *rest = t
        return (
            x * p.a + c.n,
            p,
            p.b + p[0],
            hash(c),
            c == Config(2),
            s.n * 2,
            first,
            rest,
            t[1:],
            p._replace(b=0),
            sum(t),
            dataclasses.replace(c, scale=2.0),
            p._asdict(),
            operator.attrgetter("n")(c),
            (c.n, s.n) == (2, 2),
        )

    return Scene(f, [(Pair(n, n + 1), Config(n), Slotted(n), (n, 2 * n, 3), X()) for n in (1, 2, 3, 4, 5, 2)])


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
def texts_of_numbers_and_sizes():
    def f(x, n):
        return (
            "%d-%s" % (n, n),
            "%05d" % n,
            f"{x.shape}",
            str(x.shape),
            repr(x.size()),
            "{} {}".format(n, [n]),
            f"{n=}",
            str([n, (n,)]),
            str({"n": n}),
            "a" * n,
            bytes([n]),
            chr(n + 64),
            " ".join(map(str, range(n))),
            f"{tuple(x.shape)}",
            "%s" % (x.shape,),
            [*x.shape],
            repr(slice(n)),
        )

    return Scene(f, [(torch.ones(n, 2), n) for n in (1, 2, 3, 4, 5, 3)])


@scene
def lengths_of_tensors():
    def f(x):
        rows = [row.sum() for row in x]
        return (
            len(x),
            x.__len__(),
            range(len(x)),
            len(x) * 2 + x.shape[0],
            x.shape.numel(),
            max(x.shape),
            x.ndim,
            len(rows),
            list(x.shape),
            x.numel() // len(x) if len(x) else 0,
            x.shape == (3, 2),
            x.size() == x.shape,
            math.prod(x.shape),
            [0] * len(x),
            x.shape[:1] + (7,),
            (*x.shape, 1),
            x.nbytes,
        )

    return Scene(f, [(torch.ones(n, 2),) for n in (1, 2, 3, 4, 5, 0, 3)], tail=True)


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
def numbers_stored_outside():
    kept, table, box = [], {}, types.SimpleNamespace(n=0, pair=None)

    def f(x, n):
        kept.append(n)
        kept.append((n, [n + 1], {"k": n * 2}))
        table[n] = n
        table["last"] = x.size(0)
        box.n = n - 1
        box.pair = (n, {"deep": [n]})
        kept.extend([n] * 2)
        kept += [x.shape, (x.shape[0],)]
        return kept[-1], lambda: n

    return Scene(f, [(torch.ones(n), n) for n in (1, 2, 3, 4, 5, 6)], state=lambda: (kept, table, box))


@scene
def a_dict_updated_and_then_read():
    def f(d, s, xs, x):
        d.update(b=5)
        b = d["b"]
        s.update([4])
        xs.extend([7])
        d |= {"c": 6}
        return x * b, d["c"], d.get("a"), 4 in s, xs[-1], len(xs), xs[0], d.get("z", 1)

    return Scene(
        f,
        [({"b": 2}, {1}, [1], X()), ({"b": 3}, {1}, [1], X()), ({"a": 3}, {4}, [], X()), ({"b": 2}, {1}, [1], X())],
        hits=1,
    )


@scene
def warnings_are_given_each_time():
    caught = []

    def f(x, n):
        if n > 1:
            warnings.warn(f"n is {n}", UserWarning, stacklevel=1)
        return x * n

    def g(x, n):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            y = f(x, n)
        caught.extend(str(w.message) for w in found)
        return y

    return Scene(g, [(X(), 1), (X(), 2), (X(), 2), (X(), 1)], state=lambda: caught, tail=True)


@scene
def identities_as_keys():
    space = types.ModuleType("space")
    space.seen = {}

    def f(x, o):
        fresh = id(o) not in space.seen
        space.seen[id(o)] = o
        return x, fresh, hash(o) == hash(o), len(space.seen)

    one, two = object(), object()
    return Scene(f, [(X(), one), (X(), one), (X(), two), (X(), one), (X(), two)], state=lambda: len(space.seen))


@scene
def what_is_deleted_must_be_there():
    space = types.ModuleType("space")
    exec(
        "n = 1\ndef f(x):\n    global n\n    try:\n        del n\n    except NameError:\n"
        "        return x * 0\n    return x",
        space.__dict__,
    )
    k = 1

    def g(x):
        nonlocal k
        try:
            del k
        except NameError:
            return space.f(x), "gone"
        return space.f(x), "deleted"

    def again():
        nonlocal k
        k = 2
        space.n = 3

    return Scene(g, [(X(),), (X(),), again, (X(),), (X(),), again, (X(),)], state=lambda: hasattr(space, "n"))


@scene
def the_same_tensors_hashed_and_compared():
    def f(a, b, c):
        return (
            len({a, b, c}),
            len({id(t): t for t in (a, b, c)}),
            [a, b].index(b) if a is not b else 0,
            a in (b, c) if a is b or a is c else None,
            a + b,
        )

    s, t, u = torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0)
    return Scene(f, [(s, t, u), (s, s, u), (s, t, s), (s, t, u), (t, t, t)])


@scene
def replaced_namespaces_and_classes():
    class A:
        kind = "a"

    class B:
        kind = "b"

    def f(o, x):
        o.n = 1
        o.__dict__ = {"m": 2}
        before = o.kind
        o.__class__ = B
        return x, before, o.kind, vars(o), hasattr(o, "n")

    return Scene(f, [(A(), X()), (A(), X()), (B(), X())])


@scene
def builtins_compute_with_numbers_that_change():
    def f(x, n, a):
        whole = [n**2, abs(-n), divmod(n, 3), round(n * 1.5), min(n, 7), max(n, 2), sum([n, n]), int(n), pow(n, 2)]
        parts = [math.sqrt(a), math.floor(a), math.log(a), round(a, 1), int(a), max(a, 2.5), sum([a, a, 0.1]), a**0.5]
        told = bool(n), math.isnan(a), math.isclose(a, a), operator.add(n, a), operator.gt(n, 0)
        return x * sum(whole[:2]) * parts[0], whole, parts, told, [type(each) for each in (*whole, *parts)]

    return Scene(f, [(X(), n, n + 0.25) for n in range(1, 9)], hits=5, entries=3)


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
def numbers_in_objects_that_are_containers():
    class Table(dict):
        __slots__ = ("n",)

    class Items(list):
        pass

    class Pair(tuple):
        pass

    def f(x, n):
        table, items, pair = Table(a=n), Items([n]), Pair((n, x))
        table.n, items.n, pair.n = n + 1, [n + 2], pair
        return table, items, pair, frozenset([n, "a"])

    return Scene(f, [(X(), n) for n in (1, 2, 3, 4)])


@scene
def numbers_where_something_else_is_asked_for():
    """Messages name the number's type as in eager."""

    def unpacked(n):
        a, b = n
        return a, b

    def entered(n):
        with n as a:
            return a

    def f(x, n, d):
        told = []
        for asked in (
            lambda: n(1),
            lambda: n[0],
            lambda: [*n],
            lambda: {**n},
            lambda: {*n},
            lambda: dict(**n),
            lambda: unpacked(n),
            lambda: entered(n),
            lambda: [each for each in n],
            lambda: 1 in n,
            lambda: list(n),
            lambda: n < "a",
            lambda: [1] <= n,
            lambda: frozenset() > n,
            lambda: n @ 2,
            lambda: ~(n + 0.5),
            lambda: n + "a",
            lambda: "a" + n,
            lambda: n.nothing,
            lambda: len(n),
            lambda: n == None or n != "a",  # noqa: E711
            lambda: 1 // (n - n),
            lambda: d.update(n),
            lambda: d.__setitem__([n], 1),
        ):
            try:
                told.append(asked())
            except Exception as error:
                told.append((type(error).__name__, str(error)))
        return x * n, told

    return Scene(f, [(X(), n, {}) for n in (1, 2, 3, 4)])


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
