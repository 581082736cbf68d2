"""Scenes in which a call writes something that outlives it, in every way Python has, or makes what it gives back."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import heapq
import io
import itertools
import operator
import string
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def slots_and_dict_attributes():
    class Both:
        __slots__ = ("__dict__", "a")

    one = Both()
    one.a = 1

    def f(x):
        one.a += 1
        one.b = getattr(one, "b", 0) + one.a
        one.last = x * one.b
        if one.a > 3:
            del one.a
            one.a = 0
        return x * one.a, one.__dict__

    return Scene(f, [(X(),)] * 6, state=lambda: one)


@scene
def class_attributes_written():
    class Base:
        count = 0
        names = []

    class Derived(Base):
        pass

    def f(x):
        Derived.count += 1
        Base.count = Base.count + 10
        type(Derived()).names.append(Derived.count)
        setattr(Base, f"extra_{len(Base.names) % 2}", x)
        if hasattr(Base, "extra_1"):
            del Base.extra_1
        return x * Derived.count + Base.count

    return Scene(f, [(X(),)] * 4, state=lambda: (Base, Derived))


@scene
def every_method_of_deque():
    def f(q, x):
        q.append(x)
        q.appendleft(1)
        q.extend([2, 3])
        q.extendleft(itertools.islice(itertools.count(), 2))
        q.rotate(2)
        last, first = q.pop(), q.popleft()
        q[1] = 7
        q.insert(1, 8)
        q.reverse()
        del q[0]
        q += [x]
        n = q.count(7)
        if 8 in q:
            q.remove(8)
        return last, first, n, len(q), q.copy(), q[-1]

    return Scene(
        f,
        [
            (collections.deque([5, 6], 9), X()),
            (collections.deque([5, 6], 9), X()),
            (collections.deque([5, 6, 7]), X()),
            (collections.deque([5, 6], 9), X()),
        ],
    )


@scene
def every_method_of_ordered_and_default_dicts():
    def f(od, dd, c, x):
        od["z"] = x
        od.move_to_end("a", last=False)
        key = od.popitem(last=False)
        od.setdefault("q", []).append(x)
        od |= {"w": 1}
        dd["new"].append(x)
        dd["old"] += [1]
        value = dd.pop("gone", None)
        c["k"] += 2
        c.update("kab")
        c.subtract("a")
        return key, list(od), value, len(dd), c.most_common(2), +c, c.total()

    make = lambda: (collections.OrderedDict(b=1, a=2), collections.defaultdict(list), collections.Counter("ab"), X())
    return Scene(f, [make(), make(), make()], hits=1)


@scene
def every_method_of_set():
    def f(s, t, x):
        s.add(3)
        s.discard(1)
        s |= {9}
        s -= {2}
        s.update([4, 5], (6,))
        s &= {3, 4, 5, 9, 11}
        s ^= {5, 12}
        if 12 in s:
            s.remove(12)
        t = t | s
        s.difference_update({4})
        return x * len(s), sorted(t), s.isdisjoint({3}), sorted(s.union({1}))

    return Scene(
        f, [({1, 2}, frozenset({8}), X()), ({1, 2}, frozenset({8}), X()), ({1, 5, 11}, frozenset(), X())], hits=1
    )


@scene
def lists_through_the_library():
    def f(xs, heap, x):
        heapq.heappush(heap, len(xs))
        smallest = heapq.heappop(heap)
        bisect.insort(xs, 3)
        xs.sort(key=lambda n: -n)
        operator.setitem(xs, 0, 9)
        operator.iadd(xs, [1])
        xs *= 2
        xs[1:3] = [x.size(0)]
        del xs[::3]
        return x * xs[0], smallest, xs.pop(), xs.index(9) if 9 in xs else None

    return Scene(f, [([1, 5, 4], [2, 3], X()), ([1, 5, 4], [2, 3], X()), ([7], [], X())], tail=True)


@scene
def objects_made_inside_and_kept():
    kept = []

    @dataclasses.dataclass
    class Record:
        value: object
        links: list = dataclasses.field(default_factory=list)

    class Slotted:
        __slots__ = ("a", "b")

    def f(x):
        one, two = Record(x * 2), Record(x.size(0))
        one.links += [two, one]
        two.links.append(kept)
        s = Slotted()
        s.a = one
        kept.append((one, s, {"two": two}, lambda: one))
        return one, two, kept[-1][3]

    return Scene(f, [(X(),), (X(),), (X(3),)], state=lambda: kept)


@scene
def results_of_every_kind():
    Point = collections.namedtuple("Point", "x y")

    class Weird(dict):
        pass

    def f(x, d):
        y = x + 1
        w = Weird(a=y)
        w.extra = w
        cycle = [y]
        cycle.append(cycle)
        return {
            "d": d,
            "y": y,
            "p": Point(y, x),
            "w": w,
            "c": cycle,
            "f": functools.partial(torch.add, y, other=x),
            "m": [y].append,
            "s": {1, 2},
            "fs": frozenset({y.size(0)}),
            "q": collections.deque([y], 3),
            "sl": slice(0, y.dim(), None),
            "g": (t for t in ()) if 0 else None,
            "e": ValueError("bad", y),
            "r": range(3),
            "t": type(y),
            "it": iter([y, x]),
            "z": zip([y], [x]),
            "en": enumerate([y]),
            "bound": y.add,
            "ns": types.SimpleNamespace(y=y),
            "mp": types.MappingProxyType({"y": 1}),
        }

    return Scene(f, [(X(), {"a": 1}), (X(), {"a": 1}), (X(), {"a": 1})], tail=True)


@scene
def deletion_of_everything():
    class Box:
        __slots__ = ("s",)

    def f(box, d, xs, o, x):
        del box.s
        box.s = x
        del d["a"], xs[0], o.a
        try:
            o.a
        except AttributeError:
            o.b = 1
        return x, hasattr(o, "a"), d, xs

    def make():
        box = Box()
        box.s = 1
        return box, {"a": 1, "b": 2}, [1, 2], types.SimpleNamespace(a=1), X()

    return Scene(f, [make(), make(), make()], hits=1)


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
def bytes_and_arrays():
    def f(b, x):
        b.append(1)
        b[0] = 9
        b += b"ab"
        return x * len(b), bytes(b), b[0]

    return Scene(f, [(bytearray(b"xy"), X()), (bytearray(b"xy"), X()), (bytearray(b"z"), X())], tail=True)


@scene
def iterators_made_inside_and_kept():
    kept = []

    def f(xs, x):
        it = iter(xs)
        first = next(it)
        kept.append(it)
        pairs = zip(xs, itertools.count(1))
        kept.append(enumerate(xs))
        return first * x, list(pairs), [*it]

    return Scene(f, [([1, 2, 3], X()), ([1, 2, 3], X()), ([4, 5], X())], tail=True)


@scene
def texts_built_from_everything():
    def f(d, x, n):
        t = string.Template("$a and $b")
        out = io.StringIO()
        out.write(f"{n:>5}|{d['k']!r}|{x.shape[0]}")
        return (
            x,
            t.substitute(a=n, b="b"),
            out.getvalue(),
            "{:.2f} {a}".format(1.5, a=n),
            "%(k)s" % d,
            "a-b".replace("-", str(n)),
            ",".join(sorted(d)),
            "x".center(n + 3, "*"),
            str(x.dtype),
            repr(d),
            f"{'nested ' + str([n])!s:>12}",
            "é".encode(),
            bytes(str(n), "ascii"),
            "ab".translate({97: "z"}),
        )

    return Scene(
        f,
        [
            ({"k": 1}, X(), 1),
            ({"k": "v"}, X(), 1),
            ({"k": 1, "l": [1]}, X(3), 2),
            ({"k": 1}, X(), 3),
            ({"k": 1}, X(), 4),
        ],
        tail=True,
    )


@scene
def a_factory_set_inside():
    def f(d, x):
        d.default_factory = list
        d["new"].append(x * 2)
        return len(d)

    defaultdict = collections.defaultdict
    return Scene(f, [(defaultdict(int), X()), (defaultdict(None, a=1), X()), (defaultdict(int), X())], hits=1)
