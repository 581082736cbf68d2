"""Scenes with classes of the user's own that do what builtin ones do, each in its own way."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import typing
import weakref

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def enum_members_and_dataclasses():
    class Mode(enum.Enum):
        UP = 1
        DOWN = 2

    @dataclasses.dataclass
    class Config:
        mode: Mode
        sizes: tuple = (1, 2)
        extra: dict = dataclasses.field(default_factory=dict)

    def f(c, x):
        return (
            x * c.mode.value + sum(c.sizes) + len(c.extra),
            c.mode is Mode.UP,
            dataclasses.asdict(c) if c.extra else None,
        )

    return Scene(
        f,
        [
            (Config(Mode.UP), X()),
            (Config(Mode.DOWN), X()),
            (Config(Mode.UP, (1, 3)), X()),
            (Config(Mode.UP, extra={"a": 1}), X()),
            (Config(Mode.UP), X()),
        ],
        hits=1,
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
def operators_of_user_classes():
    log = []

    class Vec:
        def __init__(self, t):
            self.t = t

        def __add__(self, other):
            log.append("add")
            return Vec(self.t + (other.t if isinstance(other, Vec) else other))

        __radd__ = __add__

        def __iadd__(self, other):
            self.t = self.t + other
            return self

        def __matmul__(self, other):
            return (self.t * other.t).sum()

        def __neg__(self):
            return Vec(-self.t)

        def __lt__(self, other):
            return bool(self @ self < other @ other)

        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, *details):
            log.append(details[0])
            return True

        def __call__(self, x):
            return self.t * x

        def __getitem__(self, i):
            return self.t[i]

    def f(v, x):
        v += 1
        with v as w:
            small = min(v + 2, 3 + v, -v, key=lambda u: u.t.sum().item())
            raise ValueError
        return v(x), small, v @ v, w[0], sorted([v + 5, v])[0].t

    return Scene(f, [(Vec(X()), X()), (Vec(X()), X()), (Vec(X() * -3), X())], state=lambda: log, tail=True)


@scene
def a_number_that_is_no_index():
    def f(x, n):
        try:
            return x[:n] * 2
        except TypeError as error:
            return str(error)

    return Scene(f, [(X(), 1.0), (X(), 2.0), (X(), 3.0), (X(), 4.0)])
