"""Traced numbers: ints and floats that may be different in a later call.

They come from tensors (`item()`, a size that depends on data) and from ints and floats found to change from call to
call. They are subclasses of int and float, so torch's C code takes them as they are. Arithmetic on them is recorded as
an operation; a comparison is a check on its outcome (`n < 8` was true), not on the value; whatever else looks at the
value (a hash, a format, an index into a list) *pins* it: a check that it is this value.
"""

from __future__ import annotations

import math
import operator

BINARY = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor")
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")
NUMBER_KINDS = (int, float)


class Traced:
    """What TracedInt and TracedFloat share: the trace, and the template that gives the number in a later call."""

    __slots__ = ()

    def __bool__(self):
        return self.trace.ask_number(operator.truth, self)

    def __hash__(self):
        return hash(pin(self))

    def __repr__(self):
        return repr(pin(self))

    def __str__(self):
        return str(pin(self))

    def __format__(self, spec):
        return format(pin(self), spec)

    def __int__(self):
        return self.trace.number(int, (self,)) if isinstance(self, float) else self

    def __float__(self):
        return self.trace.number(float, (self,)) if isinstance(self, int) else self

    def __round__(self, *digits):
        return self.trace.number(round, (self, *digits))

    def __trunc__(self):
        return self.trace.number(math.trunc, (self,))

    def __floor__(self):
        return self.trace.number(math.floor, (self,))

    def __ceil__(self):
        return self.trace.number(math.ceil, (self,))

    def __divmod__(self, other):
        return self // other, self % other

    def __reduce__(self):
        return type(pin(self)), (pin(self),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class TracedInt(Traced, int):
    def __index__(self):
        return operator.index(pin(self))

    def __new__(cls, value, trace, template):
        made = int.__new__(cls, value)
        made.trace = trace
        made.template = template
        return made


class TracedFloat(Traced, float):
    def __new__(cls, value, trace, template):
        made = float.__new__(cls, value)
        made.trace = trace
        made.template = template
        return made

    def is_integer(self):
        return float.is_integer(pin(self))


TRACED = (TracedInt, TracedFloat)
TracedInt.__name__, TracedFloat.__name__ = "int", "float"  # messages of native code name the type of what it is given


def plain(value):
    """A traced number's value as a plain int or float; anything else as it is."""
    kind = type(value)
    if kind is TracedInt:
        return int.__add__(value, 0)
    if kind is TracedFloat:
        return float.__add__(value, -0.0)
    return value


def pin(value):
    """The plain value of a traced number, which a later call must have too."""
    if type(value) in TRACED:
        value.trace.pin(value)
        return plain(value)
    return value


def _binary(name):
    function = getattr(operator, name)
    special = f"__{name.rstrip('_')}__"

    def forward(self, other):
        if not isinstance(other, NUMBER_KINDS):
            return NotImplemented
        if name == "pow":
            ask_kind(self, other)
        return self.trace.number(function, (self, other))

    def reflected(self, other):
        if not isinstance(other, NUMBER_KINDS):
            return NotImplemented
        if name == "pow":
            ask_kind(other, self)
        return self.trace.number(function, (other, self))

    return special, forward, f"__r{name.rstrip('_')}__", reflected


def ask_kind(base, exponent):
    """The signs decide whether a power is an int, a float or a complex number."""
    for number in (exponent, base) if isinstance(exponent, float) else (exponent,):
        if type(number) in TRACED:
            number.trace.ask_number(operator.lt, number, 0)


def _comparison(name):
    function = getattr(operator, name)

    def compare(self, other):
        if not isinstance(other, NUMBER_KINDS):
            return NotImplemented
        return self.trace.ask_number(function, self, other)

    return f"__{name}__", compare


def _unary(name):
    function = getattr(operator, name)

    def apply(self):
        return self.trace.number(function, (self,))

    return f"__{name}__", apply


for _kind in TRACED:
    for _name in BINARY:
        _special, _forward, _mirror, _reflected = _binary(_name)
        if _kind is TracedInt or hasattr(float, _special):
            setattr(_kind, _special, _forward)
            setattr(_kind, _mirror, _reflected)
    for _name in COMPARISONS:
        setattr(_kind, *_comparison(_name))
    for _name in UNARY:
        if _kind is TracedInt or _name != "invert":
            setattr(_kind, *_unary(_name))
