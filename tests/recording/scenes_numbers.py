"""Scenes about numbers that change from call to call, and about what Python code can find out in roundabout ways."""

from __future__ import annotations

import collections
import dataclasses
import math
import operator
import types
import warnings

import torch

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
