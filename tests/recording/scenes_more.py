"""Scenes that go round corners: what is read or written where one would not look for it."""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import io
import itertools
import string
import threading
import types
import typing
import weakref

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


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
def abstract_and_generic_classes():
    T = typing.TypeVar("T")

    class Base(abc.ABC, typing.Generic[T]):
        @abc.abstractmethod
        def go(self, x): ...

        @classmethod
        def make(cls, n):
            one = cls()
            one.n = n
            return one

    class Child(Base[int]):
        def go(self, x):
            return x * self.n

    @typing.runtime_checkable
    class Goes(typing.Protocol):
        def go(self, x): ...

    def f(x, n):
        c = Child.make(n)
        try:
            Base()
        except TypeError as error:
            text = str(error)
        return c.go(x), isinstance(c, Goes), text, typing.get_type_hints(f) if n > 5 else None

    return Scene(f, [(X(), 2), (X(), 2), (X(), 3)])


@scene
def metaclasses_registries_and_init_subclass():
    registry = {}

    class Meta(type):
        def __call__(cls, *args):
            made = super().__call__(*args)
            registry[cls.__name__] = registry.get(cls.__name__, 0) + 1
            return made

        def __getattr__(cls, name):
            if name.startswith("by_"):
                return cls(int(name[3:]))
            raise AttributeError(name)

        def __len__(cls):
            return 7

    class Thing(metaclass=Meta):
        def __init__(self, n):
            self.n = n

        def __init_subclass__(cls, scale=1, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.scale = scale
            registry[cls.__qualname__] = scale

    def f(x, n):
        class Local(Thing, scale=n):
            pass

        return x * Thing(n).n + Thing.by_3.n + len(Thing), Local.scale, Local(2).n

    return Scene(
        f, [(X(), 2), (X(), 2), (X(), 3)], state=lambda: {key: value for key, value in registry.items()}, tail=True
    )


@scene
def descriptors_with_names_and_weak_caches():
    class Cached:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __init__(self, make):
            self.make = make

        def __get__(self, obj, owner=None):
            if obj is None:
                return self
            if self.name not in obj.__dict__:
                setattr(obj, self.name, self.make(obj))
            return obj.__dict__[self.name]

    class Box:
        def __init__(self, n):
            self.n = n

        table = Cached(lambda self: torch.arange(float(self.n)))

    cache = weakref.WeakKeyDictionary()

    def f(box, x):
        cache[box] = cache.get(box, 0) + 1
        return x + box.table.sum(), box.table, Box.table.name, cache[box]

    one, two = Box(2), Box(3)
    return Scene(
        f,
        [
            (one, X()),
            (one, X()),
            (two, X()),
            (one, X()),
            lambda: setattr(Box.table, "make", lambda self: torch.ones(1)),
            (Box(4), X()),
        ],
        tail=True,
    )


@scene
def chain_maps_and_user_containers():
    class Frozen(collections.abc.Mapping):
        def __init__(self, **values):
            self._values = values

        def __getitem__(self, key):
            return self._values[key]

        def __iter__(self):
            return iter(self._values)

        def __len__(self):
            return len(self._values)

    class Bag(collections.UserList):
        pass

    def f(m, extra, bag, x):
        chain = collections.ChainMap(extra, m)
        bag.append(len(bag))
        return (
            x * chain["a"],
            dict(m),
            {**m},
            "b" in m,
            m.get("z", 1),
            list(chain),
            len(m),
            m == {"a": 1},
            bag[-1],
            sorted(bag),
            [*m.values()],
        )

    return Scene(
        f,
        [
            (Frozen(a=1), {}, Bag([3]), X()),
            (Frozen(a=2), {}, Bag([3]), X()),
            (Frozen(a=1), {"a": 9}, Bag(), X()),
            (Frozen(a=1), {}, Bag([3]), X()),
        ],
        tail=True,
    )


@scene
def flags_and_enums_with_behaviour():
    class Mode(enum.IntFlag):
        A = 1
        B = 2

    class Kind(str, enum.Enum):
        UP = "up"
        DOWN = "down"

        @property
        def sign(self):
            return 1 if self is Kind.UP else -1

    def f(mode, kind, x):
        return (
            x * kind.sign,
            bool(mode & Mode.A),
            mode | Mode.B,
            kind == "up",
            {Kind.UP: 1, Kind.DOWN: 2}[kind],
            Kind("up").name,
            mode + 1,
            f"{kind.value}",
            list(Kind),
        )

    return Scene(
        f,
        [(Mode.A, Kind.UP, X()), (Mode.B, Kind.DOWN, X()), (Mode.A | Mode.B, Kind.UP, X()), (Mode.A, Kind.UP, X())],
        hits=1,
        tail=True,
    )


@scene
def subclasses_of_numbers_and_texts():
    class Meters(float):
        def __add__(self, other):
            return Meters(float(self) + float(other) + 100)

    class Tag(str):
        def upper(self):
            return "TAG"

    class Count(int):
        pass

    def f(m, t, c, x):
        return (
            x * m,
            m + 1,
            type(m + 1).__name__,
            t.upper(),
            t + "x",
            c + 1,
            c * 2,
            isinstance(c, int),
            {t: 1}["a"],
            [10, 20, 30][c],
            range(c),
        )

    return Scene(
        f,
        [
            (Meters(1), Tag("a"), Count(1), X()),
            (Meters(2), Tag("a"), Count(2), X()),
            (Meters(1), Tag("a"), Count(1), X()),
        ],
        tail=True,
    )


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
def exceptions_chained_noted_and_grouped():
    class Custom(ValueError):
        code = 3

    def f(x, n):
        try:
            try:
                if n:
                    raise Custom("first", n)
            except Custom as error:
                error.add_note(f"note {n}")
                error.extra = x
                raise KeyError("second") from error
        except KeyError as error:
            cause = error.__cause__
            return (
                x,
                cause.__notes__,
                cause.code,
                cause.extra,
                str(error),
                cause.args,
                error.__suppress_context__,
                isinstance(cause, ValueError),
            )
        try:
            raise ExceptionGroup("many", [ValueError(1), TypeError("t"), ExceptionGroup("in", [ValueError(2)])])
        except* ValueError as group:
            found = [str(e) for e in group.exceptions]
        except* TypeError:
            found = []
        return x, len(found)

    return Scene(f, [(X(), 0), (X(), 1), (X(), 0), (X(), 1), (X(), 2)])


@scene
def exceptions_from_operations_in_loops():
    log = []

    def f(xs, rows):
        out = torch.zeros(2)
        for i, x in enumerate(xs):
            try:
                log.append(i)
                out += x[rows]
                out.mul_(2)
            except IndexError:
                log.append("skipped")
                continue
            finally:
                log.append("done")
            log.append(float(out.sum()))
        return out

    good, bad = torch.tensor([0, 1]), torch.tensor([1, 2])
    return Scene(
        f,
        [
            ([X(), X()], good),
            ([X(), X(3)], good),
            ([X(3), X(2), X(3)], bad),
            ([X(3), X(2), X(3)], good),
            ([X(3), X(2), X(3)], bad),
        ],
        state=lambda: log,
    )


@scene
def in_place_on_inputs_before_many_exits():
    counts = collections.Counter()

    def f(x, y):
        x += 1
        counts["x"] += 1
        if x.sum() > 10:
            y -= 1
            counts["y"] += 1
            if y.sum() > 3:
                x.mul_(2)
                y[0] = x[0]
                counts["both"] += 1
                if (x * y).sum() > 100:
                    counts["large"] += 1
                    return x * 0
        while y.sum() < 0:
            y.add_(torch.rand(2))
            counts["random"] += 1
        return x + y

    start = [(a * X(), b * X()) for a in (1, 3, 9, 1, 30) for b in (1, 3, -1, 20)]
    return Scene(
        f, start + [(a * X(), b * X()) for a in (9, 1, 30, 3) for b in (20, -1, 3, 1)], state=lambda: counts, tail=True
    )


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
def locks_and_thread_locals():
    lock, local = threading.Lock(), threading.local()
    local.n = 1
    box = types.SimpleNamespace(n=0)

    def f(x):
        with lock:
            box.n += 1
        return x * box.n, local.n

    return Scene(
        f, [(X(),), (X(),), lambda: setattr(local, "n", 5), (X(),)], state=lambda: (box, lock.locked()), tail=True
    )


@scene
def context_managers_that_swap_attributes():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.w = nn.Parameter(torch.ones(2))

        @contextlib.contextmanager
        def scaled(self, value):
            old, self.scale = self.scale, value
            try:
                yield self
            finally:
                self.scale = old

        def forward(self, x, fail):
            with self.scaled(3.0) as me, torch.no_grad():
                y = me.w * x * self.scale
                if fail:
                    raise ValueError("inside")
            with torch.nn.utils.parametrize.cached():
                z = y * self.scale
            return z, self.scale

    return Scene(M(), [(X(), False), (X(), True), (X(), False), (X(), False)], hits=1)


@scene
def functional_calls_and_swapped_parameters():
    m = nn.Linear(2, 2)

    def f(x, w):
        swapped = torch.func.functional_call(m, {"weight": w}, (x,))
        return (
            swapped,
            m(x),
            m.weight is w,
            torch.nn.utils.parameters_to_vector(m.parameters()),
            [n for n, _ in m.named_parameters()],
        )

    return Scene(f, [(X(), torch.ones(2, 2)), (X(), torch.zeros(2, 2)), (X(), torch.ones(2, 2))], hits=1, tail=True)


@scene
def dataclasses_made_compared_and_ordered():
    @dataclasses.dataclass(order=True)
    class Item:
        rank: int
        value: object = dataclasses.field(compare=False, default=None)
        tags: list = dataclasses.field(default_factory=list)

    def f(items, x):
        new = Item(len(items), x * 2)
        items.append(new)
        best = max(items)
        first, *rest = sorted(items, reverse=True)
        return (
            best,
            first is best,
            len(rest),
            new == Item(len(items) - 1, None),
            dataclasses.astuple(Item(1)),
            repr(Item(1)),
            [f.name for f in dataclasses.fields(Item)],
        )

    return Scene(f, [([Item(3), Item(0)], X()), ([Item(3), Item(0)], X()), ([Item(1), Item(5)], X()), ([], X())])


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
def shared_cells_between_given_functions():
    def make():
        n = 1

        def up(x):
            nonlocal n
            n += 1
            return x * n

        def down(x):
            nonlocal n
            n -= 1
            return x * n

        return up, down

    def f(up, down, x):
        return up(x), down(x), up(up(x))

    one, two = make(), make()
    return Scene(f, [(*one, X()), (*two, X()), (one[0], two[1], X()), (*one, X()), (one[0], one[0], X())])


@scene
def callable_modules_and_module_lists_sliced():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))
            self.act = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
            self.depth = 3

        def forward(self, x, name):
            for block in self.blocks[: self.depth]:
                x = self.act[name](block(x))
            for i in reversed(range(len(self.blocks))):
                if i % 2:
                    x = x + self.blocks[i].bias
            return (
                x,
                len(self.blocks[1:]),
                [n for n in self.act],
                "b" in self.act,
                self.blocks[-1] is self.blocks[len(self.blocks) - 1],
            )

    m = M()
    return Scene(
        m,
        [
            (X(), "a"),
            (X(), "a"),
            (X(), "b"),
            lambda: setattr(m, "depth", 1),
            (X(), "a"),
            lambda: m.blocks.pop(0),
            (X(), "a"),
            (X(), "a"),
        ],
        hits=2,
    )


@scene
def an_iterator_protocol_of_the_user():
    class Countdown:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n <= 0:
                raise StopIteration
            self.n -= 1
            return self.n

        def __len__(self):
            return self.n

        def __reversed__(self):
            return iter(range(self.n))

        def __contains__(self, n):
            self.n += 1
            return n < self.n

    def f(c, x):
        for i in c:
            x = x + i
            if i == 2:
                break
        inside = 1 in c
        a, *rest = c
        return (
            x,
            a,
            rest,
            inside,
            len(c),
            list(reversed(c)),
            sum(c),
            dict(zip("ab", Countdown(2))),
            [*map(str, Countdown(3))],
        )

    return Scene(f, [(Countdown(5), X()), (Countdown(5), X()), (Countdown(6), X()), (Countdown(5), X())], hits=1)


@scene
def instances_of_subclasses_of_builtin_types():
    class Text(str):
        pass

    class Number(float):
        __slots__ = ("unit",)

    class Pair(tuple):
        pass

    class Bag(frozenset):
        pass

    def f(x, n):
        text, number, pair, bag = Text(f"n{n}"), Number(n), Pair([x * 2, n]), Bag([n, "b"])
        text.held, number.unit, pair.own, bag.more = pair, "m", [text], x
        return text, number, pair, bag, {text: number}

    return Scene(f, [(X(), 1), (X() + 1, 1), (X(), 2), (X(), 2)], hits=2)


@scene
def a_number_that_is_no_index():
    def f(x, n):
        try:
            return x[:n] * 2
        except TypeError as error:
            return str(error)

    return Scene(f, [(X(), 1.0), (X(), 2.0), (X(), 3.0), (X(), 4.0)])


@scene
def keys_that_raise_and_keys_that_compare():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 1 // self.n

        def __eq__(self, other):
            return self.n == other.n

    def f(ns, x):
        try:
            return len({Key(n): x for n in ns}), sorted(key.n for key in {Key(n) for n in ns}), x * 2
        except ZeroDivisionError as error:
            return str(error), len(ns)

    return Scene(f, [([1, 2], X()), ([1, 1], X()), ([2, 0], X()), ([2, 0], X()), ([1, 2], X()), ([3], X())], hits=2)


@scene
def a_factory_set_inside():
    def f(d, x):
        d.default_factory = list
        d["new"].append(x * 2)
        return len(d)

    defaultdict = collections.defaultdict
    return Scene(f, [(defaultdict(int), X()), (defaultdict(None, a=1), X()), (defaultdict(int), X())], hits=1)


@scene
def what_a_prologue_reads_of_derived_containers():
    class Table(dict):
        def __getitem__(self, key):
            asked.append(key)
            return super().__getitem__(key)

        def __missing__(self, key):
            self[key] = len(self)
            return -1

    asked = []

    def f(t, d, x):
        return x * t["a"], dict.get(t, "b"), list(t), d["a"]

    def make(*args, **given):
        return Table(*args, **given), collections.defaultdict(int, given), X()

    return Scene(
        f, [make(a=1), make(a=1), make(a=2), make(b=1), make(), make(a=1)], state=lambda: asked, hits=2
    )


@scene
def the_order_of_an_ordered_dict():
    def f(d, x):
        d.move_to_end("a")
        return [x * n for n in d.values()], d.popitem(last=False), list(reversed(d))

    def moved():
        made = collections.OrderedDict(a=1, b=2, c=3)
        made.move_to_end("b")
        return made

    return Scene(
        f,
        [
            (collections.OrderedDict(a=1, b=2, c=3), X()),
            (moved(), X()),
            (collections.OrderedDict(a=1, b=2, c=3), X()),
            (moved(), X()),
        ],
        hits=2,
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
def a_cached_function_that_is_wrapped():
    @functools.lru_cache
    def doubled(n, *, times=2):
        return n * times

    def f(n, x):
        once = functools.partial(doubled, times=3)
        return x * once(n), list(map(doubled, [n, n])), functools.wraps(doubled)(lambda v: v)(x), once.func is doubled

    return Scene(f, [(2, X()), (2, X()), (3, X()), (2, X()), (3, X())], state=lambda: doubled.cache_info().currsize)
