"""The module that a random program is a part of: what it calls, reads and writes."""

SETTING = """
import bisect
import collections
import collections.abc
import contextlib
import contextvars
import copy
import dataclasses
import enum
import functools
import heapq
import itertools
import math
import operator
import weakref

import torch
import torch.utils.checkpoint


class Level:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__.get(self.name, 1)

    def __set__(self, obj, value):
        if value < 0:
            raise ValueError(f"{value} is no level")
        obj.__dict__[self.name] = value


class Box:
    shared = 0
    level = Level()

    def __init__(self, n):
        self.n, self.t, self.xs = n, torch.full((2,), float(n)), []

    def step(self, v):
        return v + self.n

    @property
    def half(self):
        return self.n // 2

    @half.setter
    def half(self, value):
        self.n = value * 2

    def twice(self, v, times=2):
        for _ in range(times):
            v = v * 2
        return v

    partial = functools.partialmethod(twice, times=3)

    def __eq__(self, other):
        return isinstance(other, Box) and self.n == other.n

    __hash__ = object.__hash__


class Slotted:
    __slots__ = ("n", "t")

    def __init__(self):
        self.n, self.t = 1, torch.ones(2)


slotted = Slotted()


def counter_of(n):
    i = 0
    while i <= n:
        yield i
        i += 1


def steps(v, n):
    for i in range(min(abs(int(n)), 3)):
        yield v * i


def echo(v):
    got = 1
    while True:
        got = yield v * got


def guarded(log, n):
    try:
        yield n
        yield from range(2)
    finally:
        log.append(("left", n))


class Proxy:
    def __init__(self, held):
        object.__setattr__(self, "held", held)

    def __getattr__(self, name):
        return f"no {name}" if name == "absent" else getattr(self.held, name)

    def __setattr__(self, name, value):
        setattr(self.held, name, value)


class Bag:
    def __init__(self, items):
        self.items, self.depth = list(items), 0

    def __len__(self):
        return len(self.items)

    def __bool__(self):
        return self.items[:1] != [0]

    def __iter__(self):
        yield from self.items

    def __getitem__(self, index):
        return self.items[int(index) % max(len(self.items), 1)]

    def __setitem__(self, index, value):
        self.items[int(index) % max(len(self.items), 1)] = value

    def __contains__(self, item):
        return item in self.items

    def __call__(self, v):
        return v * len(self)

    def __iadd__(self, more):
        self.items.extend(more)
        del self.items[:-5]
        return self

    def __enter__(self):
        self.depth += 1
        return self.depth

    def __exit__(self, *error):
        self.depth -= 1

    def append(self, item):
        self.items.append(item)
        del self.items[:-5]


@dataclasses.dataclass
class Point:
    n: int
    t: torch.Tensor = dataclasses.field(compare=False)

    def moved(self, by):
        return Point(self.n + by, self.t * by)


Pair = collections.namedtuple("Pair", "n t")


class Mode(enum.Enum):
    OFF = 0
    ON = 1


class Sized(collections.abc.Sized):
    pass


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 + ctx.saved_tensors[0] * 0


asked = []


@functools.lru_cache(maxsize=3)
def cached(n):
    asked.append(n)
    return n + len(asked)


@torch.no_grad()
def quiet(v):
    return v * 3


def star(v, *rest, scale=1, **more):
    return v * scale + len(rest) + len(more)


def drop(v, p=0.25, training=True):
    return torch.nn.functional.dropout(v, p, training)


class Stop(Exception):
    def __init__(self, *args):
        super().__init__(*args)
        self.held = args[0]


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("buffer", torch.zeros(2))
        self.calls, self.last = 0, None
        self.drop, self.layers = torch.nn.Dropout(0.5), torch.nn.ModuleList([torch.nn.Tanh()])

    def forward(self, v):
        self.buffer.add_(1)
        return v * self.weight + self.buffer


@contextlib.contextmanager
def scope(log, n):
    log.append(("in", n))
    try:
        yield
    finally:
        log.append(("out", n))


def helper(v, n=1, *, scale=2):
    return v * scale if n > 1 else v - n


helpers = [helper, lambda v: v + scale]
slotted_class, scale, total = Slotted, 2, 0
bag, counts, order = Bag([1, 2]), collections.Counter(), collections.OrderedDict()
groups = collections.defaultdict(list)
objects, heap, var = set(), [1, 3], contextvars.ContextVar("var", default=1)


def make(log):
    seen = 0
{function}
    return f, (lambda: seen)
"""
