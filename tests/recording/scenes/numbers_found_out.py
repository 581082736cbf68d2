"""Scenes about what Python code finds out of changing numbers and sizes in roundabout ways."""

from __future__ import annotations

import collections
import dataclasses
import math
import operator
import types

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
def sizes_that_change_and_what_is_done_with_them():
    def f(x):
        b, *rest = x.shape
        pieces = x.split(2)
        return (
            x.view(b, -1),
            x.sum(0) / b,
            x.shape,
            x.new_zeros(b),
            [p.sum() for p in pieces],
            x.numel(),
            x.size(),
            x.mean(),
            x[: b // 2],
            b,
        )

    return Scene(f, [(torch.ones(n, 2),) for n in (2, 3, 4, 5, 6, 1, 0, 7)])


@scene
def items_and_numbers_from_tensors():
    def f(x, log):
        n = x.sum().item()
        log.append(n)
        k = int(n) + 1
        pair = (k, [k], {"k": k, k: 1})
        log.append(pair)
        y = x * n + k
        return (
            y,
            n,
            f"{n:.1f}",
            pair,
            x.tolist(),
            bool(x[0] > 1),
            float(x[0]),
            x.argmax().item(),
            round(n),
            y[: max(k % 2, 1)],
        )

    return Scene(f, [(X(), []), (X(), []), (X() * 2, []), (X() * 3, []), (X() + 0.5, []), (X(), [])])


@scene
def data_dependent_shapes():
    def f(x, experts):
        out = torch.zeros_like(x)
        for i, scale in enumerate(experts):
            rows = (x[:, 0].long() % len(experts) == i).nonzero().squeeze(-1)
            out[rows] += x[rows] * scale
        kept = x[x > 1]
        return out, kept, kept.shape, kept.numel(), len(kept), kept.sum() / max(kept.size(0), 1)

    torch.manual_seed(3)
    inputs = [
        torch.arange(8.0).view(4, 2),
        torch.arange(8.0).view(4, 2) * 3,
        torch.zeros(4, 2),
        torch.ones(6, 2),
        torch.arange(10.0).view(5, 2),
    ]
    return Scene(f, [(x, [1.0, 2.0, 3.0]) for x in inputs + inputs], hits=3)
