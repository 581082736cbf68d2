"""Objects of native types that are given: another one of the same type is told from the first by what it holds. And
objects whose special methods compute with a number that changes: what native code takes from them is asked again.
"""

import contextvars
import fractions
import functools
import math
import operator
import types
import weakref

import pytest
import torch

from interpreter import jit

X = torch.arange(4.0)


class Holder:
    def __init__(self, n):
        self.n = n


HOLDERS = [Holder(n) for n in (1, 2)]
VARIABLES = [contextvars.ContextVar(f"v{n}", default=n) for n in (1, 2)]
PAIRS = {
    "methodcaller": (lambda g: g(X), [operator.methodcaller("mul", n) for n in (2, 3)]),
    "methodcaller, by name": (lambda g: g(X), [operator.methodcaller("add", 1, alpha=n) for n in (2, 3)]),
    "itemgetter": (lambda g: g(X), [operator.itemgetter(0), operator.itemgetter(1), operator.itemgetter(0, 1)]),
    "attrgetter": (lambda g: g(X), [operator.attrgetter(name) for name in ("shape", "dtype", "grad.dtype")][:2]),
    "method of a number": (lambda g: X * g(2), [(3).__add__, (4).__add__, (4).__mul__]),
    "method of a text": (lambda g: g("b"), ["a".__add__, "c".__add__]),
    "builtin method": (lambda g: g(["a", "b"]), ["-".join, "+".join]),
    "context variable": (lambda v: X * v.get(), VARIABLES),
    "union": (lambda u: isinstance(1, u), [int | str, str | float]),
    "alias": (lambda a: (str(a), a == list[int]), [list[int], list[str]]),
    "slice": (lambda s: X[s], [slice(1), slice(2), slice(0, 4, 2)]),
    "super": (lambda s: s.__self__.n, [super(Holder, each) for each in HOLDERS]),
    "weak reference": (lambda r: r().n, [weakref.ref(each) for each in HOLDERS]),
    "proxy of a dict": (lambda p: p["a"], [types.MappingProxyType({"a": n}) for n in (1, 2)]),
    "cell": (lambda c: c.cell_contents, [types.CellType(n) for n in (1, 2)]),
    "partial": (lambda p: p(1), [functools.partial(max, 3), functools.partial(max, 4), functools.partial(min, 4)]),
    "fraction": (float, [fractions.Fraction(n, 3) for n in (1, 2, 4, 5)]),
}


def outcome(call, value):
    try:
        found = call(value)
    except Exception as error:
        return type(error), str(error)
    return found.tolist() if isinstance(found, torch.Tensor) else found


@pytest.mark.parametrize("name", PAIRS)
def test_another_object_of_the_type_is_told_from_the_first(name):
    """Each of them, twice around, gives what it gives in eager."""
    call, values = PAIRS[name]
    jitted = jit(call)
    for value in values * 2:
        assert outcome(jitted, value) == outcome(call, value)


class Counted:
    """An object that answers native code with a number of its own."""

    def __init__(self, n):
        self.n = n

    def __float__(self):
        return self.n / 1

    def __index__(self):
        return self.n

    __int__ = __len__ = __hash__ = __trunc__ = __floor__ = __length_hint__ = __index__

    def __round__(self, digits=0):
        return self.n

    def __iter__(self):
        return iter(range(self.n))

    def __bool__(self):
        return self.n > 2

    def __str__(self):
        return str(self.n)


TAKING = [
    float, int, bool, len, hash, round, str, list, sum, complex, bin, math.sqrt, math.trunc, math.floor, math.factorial,
    operator.index, operator.length_hint, lambda o: math.isclose(o, 2), lambda o: math.pow(o, 2), lambda o: "a" * o,
    lambda o: list(range(o)), lambda o: [1, 2, 3, 4, 5, 6][o], lambda o: "abcdef"[:o], lambda o: "%d %s" % (o, o),
    lambda o: torch.ones(1) * float(o), lambda o: f"{o}", lambda o: {o: 1}[o],
]  # fmt: skip


@pytest.mark.parametrize("take", TAKING, ids=range(len(TAKING)))
def test_numbers_that_native_code_takes_from_objects_are_asked_again(take):
    """The object's number is another one in each call, up and down."""
    jitted = jit(take)
    for n in (1, 2, 3, 4, 5, 2, 1):
        assert outcome(jitted, Counted(n)) == outcome(take, Counted(n))


class Slotted:
    __slots__ = ("a",)

    def __getattr__(self, name):
        return name


class Raising:
    @property
    def a(self):
        raise AttributeError("from the property")

    def __getattr__(self, name):
        return name


class WithoutFallback:
    @property
    def a(self):
        raise AttributeError("from the property")


class Described:
    class Descriptor:
        def __get__(self, obj, kind=None):
            raise AttributeError("from the descriptor")

        def __set__(self, obj, value):
            pass

    a = Descriptor()

    def __getattr__(self, name):
        return name


class Intercepting:
    def __getattribute__(self, name):
        try:
            return super().__getattribute__(name)
        except AttributeError:
            return "caught inside"

    def __getattr__(self, name):
        return name


READING = [lambda o: o.a, lambda o: getattr(o, "a", 7), lambda o: hasattr(o, "a")]


@pytest.mark.parametrize("kind", [Slotted, Raising, WithoutFallback, Described, Intercepting])
@pytest.mark.parametrize("read", READING, ids=("dot", "getattr", "hasattr"))
def test_getattr_is_asked_where_something_raises_attribute_error(kind, read):
    """An unset slot, a property or a descriptor that raises: `__getattr__` answers, where there is one."""
    jitted = jit(read)
    for _ in range(2):
        assert outcome(jitted, kind()) == outcome(read, kind())
