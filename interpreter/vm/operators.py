"""Operators: special methods written in Python are interpreted, everything else is done natively."""

import operator
from collections import deque
from functools import partial
from sys import maxsize
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType

from .attributes import discarding
from .borrowed import call_for_user
from .frame import Frame
from .lookups import derives, lookup, special
from .values import NULL

_binary = {
    "+": ("add", operator.add),
    "-": ("sub", operator.sub),
    "*": ("mul", operator.mul),
    "/": ("truediv", operator.truediv),
    "//": ("floordiv", operator.floordiv),
    "%": ("mod", operator.mod),
    "**": ("pow", operator.pow),
    "<<": ("lshift", operator.lshift),
    ">>": ("rshift", operator.rshift),
    "&": ("and", operator.and_),
    "|": ("or", operator.or_),
    "^": ("xor", operator.xor),
    "@": ("matmul", operator.matmul),
}
BINARY = {}  # symbol -> (native function, (in-place, left, right) special methods)
for _symbol, (_name, _native) in _binary.items():
    BINARY[_symbol] = (_native, (None, f"__{_name}__", f"__r{_name}__"))
    _inplace = getattr(operator, f"i{_name}")
    BINARY[_symbol + "="] = (_inplace, (f"__i{_name}__", f"__{_name}__", f"__r{_name}__"))

COMPARE = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
UNARY = {"-": (operator.neg, "__neg__"), "+": (operator.pos, "__pos__"), "~": (operator.invert, "__invert__")}
EXACT = frozenset((int, float, str, bool, complex, type(None), bytes, list, tuple, dict, set, frozenset, type))
HOLDERS = frozenset((list, tuple, dict))  # what compares its items
SHOWN = frozenset((list, tuple, dict, set, frozenset))  # what shows its items
SEQUENCES = frozenset((list, tuple, str, bytes, bytearray, deque))
JOINING = frozenset(("__add__", "__mul__"))
KEYS = frozenset((int, str, bool, float, type(None)))
SLOTS = (MethodDescriptorType, WrapperDescriptorType)
CONVERSIONS = {1: (str, "__str__"), 2: (repr, "__repr__"), 3: (ascii, "__repr__")}


class Operators:
    """The part of the machine that deals with operators, subscripts, truth and formatting."""

    def binary(self, symbol, a, b):
        """``a symbol b``; in-place symbols end in ``=``."""
        native, names = BINARY[symbol]
        left, right = type(a), type(b)
        if left in EXACT and right in EXACT:
            if left is str and symbol[0] == "%":
                result = self.by_lookaside(str, "__mod__", [a, b])
                return native(a, b) if result is NULL else result
            return native(a, b)
        return self.python_binary(symbol, native, names, a, b, left, right)

    def reflected(self, symbol, a, b):
        """The rest of a binary operation that the left operand has declined."""
        native, names = BINARY[symbol]
        return self.python_binary(symbol, native, (None, *names[1:]), a, b, type(a), type(b), declined=True)

    def python_binary(self, symbol, native, names, a, b, left, right, declined=False):
        """The protocol of binary operators, where one of the types is not a plain builtin one."""
        inplace, forward, backward = names
        if inplace is not None:
            found = special(left, inplace)
            if found is not None:
                result = self.invoke(found, a, b)
                if result is not NotImplemented:
                    return result
            elif lookup(left, inplace) is not NULL:
                result = self.by_lookaside(left, inplace, [a, b])
                return native(a, b) if result is NULL else result
        if special(left, forward) is None and special(right, backward) is None:
            result = NULL
            if left in SEQUENCES:
                result = self.by_lookaside(left, forward, [a, b])
            elif right in SEQUENCES:
                result = self.by_lookaside(right, backward, [b, a])
            return native(a, b) if result is NULL else result
        tries = [(left, forward, a, b)]
        if left is not right:
            tries.append((right, backward, b, a))
            if derives(right, left) and lookup(right, backward) is not lookup(left, backward):
                tries.reverse()
        last = NULL
        for kind, name, x, y in tries[1:] if declined else tries:
            function = special(kind, name)
            if function is not None:
                result = self.invoke(function, x, y)
            else:
                found = lookup(kind, name)
                if found is NULL or found is None:
                    continue
                if getattr(found, "__objclass__", None) in SEQUENCES and forward in JOINING:
                    last = found, x, y  # a sequence joins or repeats only after both have declined
                    continue
                result = self.by_lookaside(kind, name, [x, y])
                if result is NULL:
                    result = bound(found, x, kind)(y)
            if result is not NotImplemented:
                return result
        if last is not NULL:
            found, x, y = last
            result = self.call(found, [x, y])
            return self.finish(result) if type(result) is Frame else result
        shown = "** or pow()" if symbol == "**" else symbol
        raise TypeError(f"unsupported operand type(s) for {shown}: '{left.__name__}' and '{right.__name__}'")

    def finished(self, result):
        """The value of a result: a Frame is run to its end."""
        return self.finish(result) if type(result) is Frame else result

    def by_lookaside(self, kind, name, args):
        """What the lookaside for a special method written in C gives; NULL where there is none, or no need of one."""
        found = lookup(kind, name)
        if type(found) in SLOTS and found in self.routes:
            result = self.stand_in(found, args, None)
            return self.finish(result) if type(result) is Frame else result
        return NULL

    def compare(self, symbol, a, b):
        """A rich comparison; its result need not be a bool."""
        native, forward, backward = COMPARE[symbol]
        left, right = type(a), type(b)
        if left in EXACT and right in EXACT:
            result = self.by_lookaside(left, forward, [a, b]) if left is right and left in HOLDERS else NULL
            return native(a, b) if result is NULL else result
        first, second = special(left, forward), special(right, backward)
        if first is None and second is None:
            result = self.by_lookaside(left, forward, [a, b])
            return native(a, b) if result is NULL or result is NotImplemented else result
        tries = [(first, left, forward, a, b), (second, right, backward, b, a)]
        if left is not right and derives(right, left):
            tries.reverse()
        return self.compare_by(symbol, a, b, tries)

    def compare_reflected(self, symbol, a, b):
        """The rest of a comparison that the left operand has declined."""
        _, _, backward = COMPARE[symbol]
        right = type(b)
        return self.compare_by(symbol, a, b, [(special(right, backward), right, backward, b, a)])

    def compare_by(self, symbol, a, b, tries):
        """Ask one method after the other, each (function in Python or None, type, name, operand, other operand)."""
        for function, kind, name, x, y in tries:
            if function is not None:
                result = self.invoke(function, x, y)
            else:
                found = lookup(kind, name)
                result = NotImplemented if found is NULL else self.by_lookaside(kind, name, [x, y])
                if result is NULL:
                    result = bound(found, x, kind)(y)
            if result is not NotImplemented:
                return result
        if symbol == "==":
            return a is b
        if symbol == "!=":
            return a is not b
        text = f"'{symbol}' not supported between instances of '{type(a).__name__}' and '{type(b).__name__}'"
        raise TypeError(text)

    def unary(self, symbol, a):
        native, name = UNARY[symbol]
        function = special(type(a), name)
        if function is not None:
            return self.call(function, [a])
        return call_for_user(self, native, [a]) if type(a) is bool and symbol == "~" else native(a)

    def contains(self, item, container):
        kind = type(container)
        function = special(kind, "__contains__")
        if function is not None:
            return self.truth(self.invoke(function, container, item))
        if lookup(kind, "__contains__") is NULL and special(kind, "__iter__") is not None:
            for candidate in self.items(container):
                if candidate is item or self.truth(self.compare("==", candidate, item)):
                    return True
            return False
        result = self.by_lookaside(kind, "__contains__", [container, item])
        return item in container if result is NULL else result

    def identical(self, a, b):
        return a is b

    def truth(self, value):
        """Whether ``value`` is true."""
        if value is True or value is False or value is None:
            return value is True
        kind = type(value)
        function = special(kind, "__bool__")
        if function is not None:
            answer = self.invoke(function, value)
            if type(answer) is not bool:
                raise TypeError(f"__bool__ should return bool, returned {type(answer).__name__}")
            return answer
        if lookup(kind, "__bool__") is NULL and (function := special(kind, "__len__")) is not None:
            return checked_length(self.invoke(function, value)) != 0
        return call_for_user(self, bool, [value]) if value is NotImplemented else bool(value)

    def get_item(self, obj, key):
        kind = type(obj)
        function = special(kind, "__getitem__")
        if function is not None:
            return self.call(function, [obj, key])
        if issubclass(kind, type) and lookup(kind, "__getitem__") is NULL:
            maker = lookup(obj, "__class_getitem__")
            if type(maker) is classmethod and type(maker.__func__) is FunctionType:
                return self.call(maker.__func__, [obj, key])
        if type(key) not in KEYS or kind not in EXACT:
            result = self.by_lookaside(kind, "__getitem__", [obj, key])
            if result is not NULL:
                return result
        return obj[key]

    def set_item(self, obj, key, value):
        function = special(type(obj), "__setitem__")
        if function is not None:
            return discarding(self.call(function, [obj, key, value]))
        if type(key) not in KEYS and self.by_lookaside(type(obj), "__setitem__", [obj, key, value]) is not NULL:
            return None
        obj[key] = value
        return None

    def delete_item(self, obj, key):
        function = special(type(obj), "__delitem__")
        if function is not None:
            return discarding(self.call(function, [obj, key]))
        if type(key) not in KEYS and self.by_lookaside(type(obj), "__delitem__", [obj, key]) is not NULL:
            return None
        del obj[key]
        return None

    def build_slice(self, *parts):
        return slice(*parts)

    def convert(self, value, conversion):
        """``!s``, ``!r`` or ``!a`` (1, 2, 3) of a formatted value."""
        native, name = CONVERSIONS[conversion]
        function = special(type(value), name)
        if function is None:
            return self.finished(self.call(native, [value])) if type(value) in SHOWN else native(value)
        text = self.invoke(function, value)
        if not issubclass(type(text), str):
            raise TypeError(f"{name} returned non-string (type {type(text).__name__})")
        return text if conversion != 3 else text.encode("ascii", "backslashreplace").decode("ascii")

    def format_value(self, value, conversion, spec):
        """A replacement field of an f-string: conversion (0 to 3), then ``format`` with ``spec`` (NULL: none)."""
        if conversion:
            value = self.convert(value, conversion)
        if type(value) is str and (spec is NULL or spec == ""):
            return value
        spec = "" if spec is NULL else spec
        function = special(type(value), "__format__")
        if function is None:
            if type(value) in SHOWN and not spec:
                return self.finished(self.call(str, [value]))
            return format(value, spec)
        text = self.invoke(function, value, spec)
        if not issubclass(type(text), str):
            raise TypeError(f"__format__ must return a str, not {type(text).__name__}")
        return text


def bound(found, obj, kind):
    """What the class holds, bound to ``obj`` by the rules of descriptors."""
    if obj is None:
        return partial(found, None)  # a descriptor that is given None for the object gives itself
    getter = getattr(type(found), "__get__", None)
    return found if getter is None else getter(found, obj, kind)


def checked_length(answer):
    """What ``__len__`` gave, as an int that a length can be."""
    length = answer if issubclass(type(answer), int) else operator.index(answer)  # a traced number stays one
    if length < 0:
        raise ValueError("__len__() should return >= 0")
    if length > maxsize:
        raise OverflowError("cannot fit 'int' into an index-sized integer")
    return length
