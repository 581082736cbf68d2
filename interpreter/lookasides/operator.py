"""operator: each function is the operator that it is named after, applied by the machine."""
from __future__ import annotations

import functools
import operator

from interpreter.lookasides.asking import asks
from interpreter.lookasides.hooks import not_plain
from interpreter.lookasides.lent import INDEX, lend_number
from interpreter.lookasides.machinery import done, finish
from interpreter.lookasides.registry import REGISTRY, Lookaside, lookaside

ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
SIGNS = {"neg": "-", "pos": "+", "invert": "~", "inv": "~"}


def register(names, function):
    """The function, for each of the names that ``operator`` has it under, once each."""
    for name in names:
        target = getattr(operator, name)
        if target not in REGISTRY:
            REGISTRY.add(Lookaside(target, function, native=True, needed=not_plain))


def binary(symbol):
    def handler(machine, a, b, /):
        return machine.binary(symbol, a, b)

    handler.__doc__ = f"``a {symbol} b``."
    return handler


def comparison(symbol):
    def handler(machine, a, b, /):
        return machine.compare(symbol, a, b)

    handler.__doc__ = f"``a {symbol} b``."
    return handler


def unary(symbol):
    def handler(machine, a, /):
        return machine.unary(symbol, a)

    handler.__doc__ = f"``{symbol}a``."
    return handler


for name, symbol in ARITHMETIC.items():
    plain = name.rstrip("_")
    register([name, f"__{plain}__"], binary(symbol))
    register([f"i{plain}", f"__i{plain}__"], binary(symbol + "="))
for name, symbol in COMPARISONS.items():
    register([name, f"__{name}__"], comparison(symbol))
for name, symbol in SIGNS.items():
    register([name, f"__{name}__"], unary(symbol))


@lookaside(operator.truth, native=True, needed=not_plain)
def truth_(machine, a, /):
    """``bool(a)``."""
    return machine.truth(a)


@lookaside(operator.not_, native=True, needed=not_plain)
def not_(machine, a, /):
    """``not a``."""
    return not machine.truth(a)


@lookaside(operator.contains, native=True, needed=not_plain)
def contains_(machine, a, b, /):
    """``b in a``."""
    return machine.contains(b, a)


@lookaside(operator.getitem, native=True, needed=not_plain)
def getitem_(machine, a, b, /):
    """``a[b]``."""
    return machine.get_item(a, b)


@lookaside(operator.setitem, native=True, needed=not_plain)
def setitem_(machine, a, b, c, /):
    """``a[b] = c``."""
    return done(machine.set_item(a, b, c))


@lookaside(operator.delitem, native=True, needed=not_plain)
def delitem_(machine, a, b, /):
    """``del a[b]``."""
    return done(machine.delete_item(a, b))


if hasattr(operator, "call"):
    @lookaside(operator.call, native=True)
    def call_(machine, obj, /, *args, **kwargs):
        """``obj(*args, **kwargs)``."""
        return machine.call(obj, list(args), kwargs or None)


END = object()


def items_of(a):
    """An iterator, or None where ``iter`` says TypeError: the original has another word for that."""
    try:
        return iter(a)
    except TypeError:
        return None


def nameless(a):
    """An object that can't be iterated, of a class by the name of ``a``'s."""
    return type(type(a).__name__, (), {})()


@lookaside(operator.countOf, needed=not_plain)
def count_of_(a, b, /):
    """How many items of ``a`` are ``b`` or equal to it."""
    items = items_of(a)
    if items is None:
        return operator.countOf(nameless(a), b)
    found = 0
    while (item := next(items, END)) is not END:
        if item is b or item == b:
            found += 1
    return found


@lookaside(operator.indexOf, needed=not_plain)
def index_of_(a, b, /):
    """Where in ``a`` the first item is that is ``b`` or equal to it."""
    items = items_of(a)
    if items is None:
        return operator.indexOf(nameless(a), b)
    at = 0
    while (item := next(items, END)) is not END:
        if item is b or item == b:
            return at
        at += 1
    return operator.indexOf((), b)


@lookaside(operator.attrgetter.__call__, native=True)
def attrgetter_call_(machine, getter, obj, /):
    """The attribute, or a tuple of those, that the getter was made for; dots go deeper."""
    names = getter.__reduce__()[1]
    found = [dotted(machine, obj, name.split(".")) for name in names]
    return found[0] if len(names) == 1 else tuple(found)


def dotted(machine, value, parts):
    for part in parts:
        value = finish(machine, machine.get_attribute(value, part))
    return value


@lookaside(operator.itemgetter.__call__, native=True)
def itemgetter_call_(machine, getter, obj, /):
    """The item, or a tuple of those, that the getter was made for."""
    keys = getter.__reduce__()[1]
    if len(keys) == 1:
        return machine.get_item(obj, keys[0])
    return tuple([finish(machine, machine.get_item(obj, key)) for key in keys])


@lookaside(operator.methodcaller.__call__, native=True)
def methodcaller_call_(machine, caller, obj, /):
    """Calls the method that the caller was made for."""
    made = caller.__reduce__()
    name, args, keywords = made[1][0], made[1][1:], None
    if isinstance(made[0], functools.partial):
        name, args, keywords = made[0].args[0], made[1], dict(made[0].keywords)
    return machine.call(finish(machine, machine.get_attribute(obj, name)), list(args), keywords)


def joins(args, kwargs):
    """``needed`` of concat: both are sequences, as far as that function asks."""
    return not_plain(args, kwargs) and all(hasattr(type(each), "__getitem__") for each in args)


@lookaside(operator.concat, native=True, needed=joins)
def concat_(machine, a, b, /):
    """``a + b`` of sequences."""
    return machine.binary("+", a, b)


@lookaside(operator.iconcat, native=True, needed=joins)
def iconcat_(machine, a, b, /):
    """``a += b`` of sequences."""
    return machine.binary("+=", a, b)


asks(operator.index, INDEX, take=lend_number)
asks(operator.length_hint, ("__len__", "__length_hint__"), INDEX)
