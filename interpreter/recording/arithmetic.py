"""Builtins that compute with traced numbers: what they give is traced too, and what they tell is a check.

Other native code pins the numbers that it is given, which is right for anything that looks at a value. A function that
only computes need not: its call is recorded, as the operators of the numbers are.
"""

from __future__ import annotations

import math
import operator

from interpreter.recording.numbers import TRACED, ask_kind
from interpreter.recording.outside import MISSING

MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees erf erfc exp exp2 expm1 fabs "
    "factorial floor fma fmod gamma gcd hypot isqrt lcm ldexp lgamma log log10 log1p log2 nextafter perm pow radians "
    "remainder sin sinh sqrt tan tanh trunc ulp"
)
COMPUTING = {getattr(math, name) for name in MATH.split() if hasattr(math, name)}
BINARY = ("add", "floordiv", "lshift", "mod", "mul", "pow", "rshift", "sub", "truediv")
UNARY = ("abs", "invert", "neg", "pos")
TELLING = {bool, operator.truth, operator.not_, math.isnan, math.isinf, math.isfinite, math.isclose}
IN_PLACE = {getattr(operator, f"i{name}"): getattr(operator, name) for name in BINARY} | {
    operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor}
POWERS = {pow, operator.pow}
OPERATORS = {abs, round, pow, *(getattr(operator, name) for name in (*UNARY, *BINARY)), *IN_PLACE,
             *IN_PLACE.values()}
COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
CHOOSING = {min, max}
CONSUMING = {sum, min, max, sorted, math.fsum, math.prod, bytes, bytearray}
DIVISIONS = {operator.truediv, operator.floordiv, operator.mod}
RAISING = DIVISIONS | COMPUTING | {operator.pow, pow, operator.lshift, operator.rshift, round, int, float}
NUMBERS = (int, float, bool, *TRACED)
ANSWER_FIRST = {float, bool}  # of a number beside them these take an int's subclass for an int
KNOWN = {int, float, sum, divmod} | COMPUTING | TELLING | COMPARISONS | OPERATORS | CHOOSING


def may_raise(operation) -> bool:
    """Whether arithmetic on other numbers might end in an exception: it is done also where nobody uses its result."""
    function = operation.function
    if not operation.number or function not in RAISING:
        return False
    divisor = operation.args[-1]
    return function not in DIVISIONS or type(divisor) not in (int, float) or divisor == 0


def computed(trace, callable, args, kwargs):
    """What a builtin makes of numbers of which one is traced, or MISSING where this is no such call."""
    try:
        known = callable in KNOWN
    except TypeError:
        return MISSING
    if not known or kwargs:
        return MISSING
    given = args[0] if len(args) == 1 and (callable in CHOOSING or callable is sum) else None
    items = given if type(given) in (list, tuple) and trace.find(given) is None else args
    kinds = set(map(type, items))
    if not kinds <= {*NUMBERS} or kinds.isdisjoint(TRACED):
        return MISSING
    if callable in TELLING or callable in COMPARISONS:
        return trace.ask_number(callable, *args)
    callable = IN_PLACE.get(callable, callable)
    if callable in POWERS and len(args) == 2:
        ask_kind(*args)
    if callable in OPERATORS or callable in COMPUTING:
        return trace.number(callable, args)
    if callable is divmod:
        return trace.number(operator.floordiv, args), trace.number(operator.mod, args)
    if callable is sum:
        return trace.number(summed, tuple(items)) if items is given else MISSING
    if callable in CHOOSING:
        return choose(trace, callable, items, kinds) if len(items) > 1 else MISSING
    if len(args) != 1:
        return MISSING
    number = args[0]
    return number if isinstance(number, float) == (callable is float) else trace.number(callable, args)


def listed(trace, callable, args):
    """The arguments, with the items of an iterator in a list: native code would take a number among them, as it comes,
    for a plain one."""
    try:
        known = callable in CONSUMING
    except TypeError:
        return args
    if not known or not args or not hasattr(type(args[0]), "__next__") or trace.find(args[0]) is not None:
        return args
    return (list(args[0]), *args[1:])


def summed(*items):
    return sum(items)


def choose(trace, function, items, kinds):
    """The smallest or the largest. Of numbers of one type it is a number of that type, whichever it is."""
    if bool not in kinds and len({issubclass(kind, float) for kind in kinds}) == 1:
        return trace.number(function, tuple(items))
    best = items[0]
    for item in items[1:]:
        if trace.ask_number(operator.lt if function is min else operator.gt, item, best):
            best = item
    return best
