"""Arguments of many kinds, as recipes: each run makes its own objects afresh, which log what is asked of them.

A recipe is a small frozen value (Hypothesis prints and shrinks it); ``make(recipe, log)`` gives the object. Both runs
of a comparison make the same objects, and their logs say which of their methods were called, in order, with what.
"""

import collections
import functools
import itertools
import operator
from dataclasses import dataclass, field

from hypothesis import strategies as st

INFINITE = 10_000


class Boom(Exception):
    """What a hook raises that was told to."""


def label(value):
    """How a log shows an argument: things by their name, the rest by type and text."""
    if isinstance(value, Thing):
        return value.name
    if type(value) in (int, float, str, bool, bytes, type(None), slice, complex):
        return repr(value)
    if type(value) in (list, tuple):
        return f"{type(value).__name__}{[label(each) for each in value]}"
    return type(value).__name__


class Thing:
    """A named object whose number decides what its special methods answer; each call of one is logged."""

    def __init__(self, log, name, number, mood):
        self.log, self.name, self.number, self.mood = log, name, number, mood


def hook(name, answer):
    """A special method that logs, and raises Boom or declines where the thing's mood says so."""

    def method(self, *args):
        self.log.append((self.name, name, *map(label, args)))
        if self.mood == "raises":
            raise Boom(name)
        if self.mood == "declines" and name in BINARY:
            return NotImplemented
        if self.mood == "odd" and name in ODD:
            return ODD[name]
        return answer(self, *args)

    method.__name__ = name
    return method


def number_of(value):
    return value.number if isinstance(value, Thing) else value


def arithmetic(function, swap=False):
    def answer(self, other):
        if isinstance(other, str | list | tuple):
            return NotImplemented
        pair = (number_of(other), self.number) if swap else (self.number, number_of(other))
        return type(self)(self.log, f"({self.name}~{label(other)})", function(*pair), self.mood)

    return answer


def comparison(function):
    def answer(self, other):
        return (
            Truth(self.log, f"{self.name}?", function(self.number, number_of(other)), self.mood)
            if self.mood == "lazy"
            else function(self.number, number_of(other))
        )

    return answer


BINARY = {f"__{side}{name}__" for name in "add mul sub divmod pow".split() for side in ("", "r")} | {
    f"__{name}__" for name in "eq ne lt le gt ge".split()
}
ODD = {
    "__len__": -1,
    "__bool__": 2,
    "__index__": "one",
    "__float__": "half",
    "__hash__": 1.5,
    "__repr__": 3,
    "__str__": None,
    "__int__": "two",
    "__format__": 4,
    "__iter__": 7,
    "__round__": "r",
    "__abs__": None,
    "__reversed__": 5,
    "__length_hint__": "long",
    "__lt__": [],
    "__eq__": [],
    "__gt__": [],
    "__add__": "sum",
}

FAMILIES = {
    "number": {
        "__index__": lambda self: int(self.number),
        "__float__": lambda self: float(self.number),
        "__int__": lambda self: int(self.number),
        "__abs__": lambda self: abs(self.number),
        "__round__": lambda self, *n: round(self.number, *n),
        "__trunc__": lambda self: int(self.number),
        "__floor__": lambda self: int(self.number),
        "__ceil__": lambda self: int(self.number) + 1,
        "__complex__": lambda self: complex(self.number),
        **{
            f"__{side}{name}__": arithmetic(getattr(operator, name), bool(side))
            for name in ("add", "mul", "sub")
            for side in ("", "r")
        },
    },
    "ordered": {f"__{name}__": comparison(getattr(operator, name)) for name in ("lt", "gt", "le", "ge", "eq")}
    | {"__hash__": lambda self: hash(self.number)},
    "shown": {
        "__repr__": lambda self: f"<{self.name}>",
        "__str__": lambda self: f"{self.name}!",
        "__format__": lambda self, spec: f"{self.name}:{spec}",
    },
    "sized": {"__len__": lambda self: abs(int(self.number)), "__bool__": lambda self: bool(self.number)},
    "sequence": {
        "__len__": lambda self: abs(int(self.number)),
        "__getitem__": lambda self, i: i * 10 if 0 <= i < abs(self.number) else stop(IndexError(i)),
    },
}


def stop(error):
    raise error


def thing_class(*families):
    members = {name: hook(name, answer) for family in families for name, answer in FAMILIES[family].items()}
    return type("Thing_" + "_".join(families), (Thing,), members)


Truth = thing_class("sized")
CLASSES = {
    families: thing_class(*families)
    for families in (
        ("number",),
        ("ordered",),
        ("shown",),
        ("sized",),
        ("sequence",),
        ("number", "ordered", "shown"),
        (),
    )
}


class Source:
    """An iterable whose every step is logged, and which may raise at one of them."""

    def __init__(self, log, name, items, fails):
        self.log, self.name, self.items, self.fails = log, name, items, fails

    def __iter__(self):
        self.log.append((self.name, "iter"))
        if self.fails == -1:
            raise Boom("iter")
        return Steps(self)


class Steps:
    def __init__(self, source):
        self.source, self.at = source, 0

    def __iter__(self):
        self.source.log.append((self.source.name, "iter again"))
        return self

    def __next__(self):
        source, at = self.source, self.at
        source.log.append((source.name, "next", at))
        if at == source.fails:
            raise Boom(f"next {at}")
        if at >= len(source.items):
            raise StopIteration
        self.at += 1
        return source.items[at]


class Hinted(Source):
    """One that tells its length too."""

    def __len__(self):
        self.log.append((self.name, "len"))
        return len(self.items)


class Mapping:
    """A mapping that is no dict."""

    def __init__(self, log, name, items):
        self.log, self.name, self.items = log, name, items

    def keys(self):
        self.log.append((self.name, "keys"))
        return Source(self.log, self.name + ".keys", list(self.items), None)

    def __getitem__(self, key):
        self.log.append((self.name, "getitem", label(key)))
        return self.items[key]

    def __getattr__(self, name):
        self.log.append((self.name, "getattr", name))
        if name.startswith("field"):
            return len(name)
        raise AttributeError(name)


def generated(log, name, items, fails):
    log.append((name, "started"))
    for at, item in enumerate(items):
        if at == fails:
            raise Boom(f"at {at}")
        log.append((name, "yields", at))
        yield item
    log.append((name, "ended"))


def repeated(log, name, items):
    """Items without end."""
    for at in itertools.count():
        log.append((name, "yields", at))
        yield items[at % len(items)] if items else at


@dataclass(frozen=True)
class Recipe:
    """``kind`` says which maker, ``parts`` what it is given; parts are recipes or plain values."""

    kind: str
    parts: tuple = ()
    name: str = field(default="", compare=False)


def make(recipe, log, names=None):
    """The object of a recipe. Plain values are themselves."""
    names = itertools.count() if names is None else names
    if not isinstance(recipe, Recipe):
        return recipe
    name = f"{recipe.kind}{next(names)}"
    parts = [make(part, log, names) for part in recipe.parts]
    return MAKERS[recipe.kind](log, name, *parts)


def logged(answer):
    """A maker of functions that log their arguments."""

    def maker(log, name):
        def function(*args, **kwargs):
            log.append((name, *map(label, args), *kwargs))
            return answer(*args)

        return function

    return maker


class Callable:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __call__(self, *args):
        self.log.append((self.name, "called", *map(label, args)))
        return args[0] if args else 0


def countdown(log, name, n):
    """A function of no arguments that counts down, then raises."""
    left = [n]

    def function():
        log.append((name, left[0]))
        left[0] -= 1
        if left[0] < -3:
            raise Boom("below")
        return left[0]

    return function


MAKERS = {
    "list": lambda log, name, *items: list(items),
    "tuple": lambda log, name, *items: tuple(items),
    "deque": lambda log, name, *items: collections.deque(items),
    "dict": lambda log, name, *items: dict(zip(items[::2], items[1::2], strict=False)),
    "ordered_dict": lambda log, name, *items: collections.OrderedDict(zip(items[::2], items[1::2], strict=False)),
    "defaultdict": lambda log, name, factory, *items: collections.defaultdict(factory, enumerate(items)),
    "set": lambda log, name, *items: set(items),
    "frozenset": lambda log, name, *items: frozenset(items),
    "bytearray": lambda log, name, text: bytearray(text),
    "iterator": lambda log, name, *items: iter(items),
    "source": lambda log, name, fails, *items: Source(log, name, items, fails),
    "hinted": lambda log, name, fails, *items: Hinted(log, name, items, fails),
    "mapping": lambda log, name, *items: Mapping(log, name, dict(zip(items[::2], items[1::2], strict=False))),
    "generator": lambda log, name, fails, *items: generated(log, name, items, fails),
    "cut": lambda log, name, n, *items: itertools.islice(repeated(log, name, items), n),
    "thing": lambda log, name, families, mood, number: CLASSES[families](log, name, number, mood),
    "same": logged(lambda *args: args[0] if args else None),
    "pair": logged(lambda *args: args),
    "first_or_raise": logged(lambda *args: args[0] if args and args[0] else stop(Boom("falsy"))),
    "truthy": logged(lambda *args: bool(args and args[0])),
    "callable": Callable,
    "countdown": countdown,
    "partial": lambda log, name, function: functools.partial(function, 1),
    "method": lambda log, name: Callable(log, name).__call__,
    "slice": lambda log, name, *parts: slice(*parts),
    "itemgetter": lambda log, name, *keys: operator.itemgetter(*keys),
    "attrgetter": lambda log, name, *names: operator.attrgetter(*names),
    "methodcaller": lambda log, name, method, *args: operator.methodcaller(method, *args),
}

small = st.integers(-3, 6)
scalars = st.one_of(small, st.sampled_from([0.5, -1.5, True, None, "", "ab", "b", b"x", 2 + 1j]))
moods = st.sampled_from(["plain", "plain", "plain", "raises", "declines", "lazy", "odd"])
families = st.sampled_from(list(CLASSES))


def recipe(kind, *parts):
    return st.tuples(*parts).map(lambda made: Recipe(kind, made))


things = recipe("thing", families, moods, small)
calm_things = recipe("thing", families, st.just("plain"), small)
elements = st.one_of(small, small, things, scalars)


def many(kind, *before, of=elements, least=0, most=4):
    """A recipe with parts before, then some elements."""
    return st.tuples(st.tuples(*before), st.lists(of, min_size=least, max_size=most)).map(
        lambda made: Recipe(kind, (*made[0], *made[1]))
    )


fails = st.sampled_from([None, None, None, -1, 0, 1, 2])


def iterables_of(of, most=4):
    return st.one_of(
        many("list", of=of, most=most),
        many("tuple", of=of, most=most),
        many("iterator", of=of, most=most),
        many("source", fails, of=of, most=most),
        many("hinted", fails, of=of, most=most),
        many("generator", fails, of=of, most=most),
        many("deque", of=of, most=most),
        many("cut", st.integers(0, 5), of=of, least=1, most=most),
    )


hashables = st.one_of(
    small, st.sampled_from(["a", "b", None, 1.5]), recipe("thing", st.just(("ordered",)), st.just("plain"), small)
)
pairs = st.one_of(
    many("tuple", of=hashables, least=2, most=2),
    many("source", fails, of=hashables, least=2, most=2),
    many("list", of=hashables, most=3),
    st.just("xy"),
)
wrong = st.one_of(scalars, things)
iterables = st.one_of(
    iterables_of(elements),
    iterables_of(elements),
    recipe("thing", st.just(("sequence",)), moods, small),
    st.sampled_from(["abc", "", range(3)]),
    wrong,
)
callables = st.one_of(
    *(recipe(kind) for kind in ("same", "pair", "first_or_raise", "truthy", "callable", "method")),
    st.sampled_from([None, operator.add, len, str, bool, max, abs]),
    recipe("partial", recipe("pair")),
    wrong,
)
