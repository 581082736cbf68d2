"""The functions of math, which ask their arguments for a float, an index, or a rounding of their own."""
from __future__ import annotations

import math
import types

from interpreter.lookasides.asking import asks
from interpreter.lookasides.hooks import elements_hooked
from interpreter.lookasides.lent import NUMBER, lend_number
from interpreter.lookasides.registry import REGISTRY, Lookaside
from interpreter.vm.reentry import entered

ROUNDING = {"floor": "__floor__", "ceil": "__ceil__", "trunc": "__trunc__"}
OVER_ITERABLES = ("fsum", "prod", "dist", "sumprod")


def over_iterables(target):
    """An ordinary lookaside for a function that goes through iterables of numbers."""

    def standin(*iterables, **options):
        return target(*[entered(each) for each in iterables], **options)

    standin.__name__ = standin.__qualname__ = target.__name__ + "_"
    standin.__doc__ = "The original, going through what the machine hands it."
    REGISTRY.add(Lookaside(target, standin, needed=elements_hooked(*NUMBER)))


for name, target in list(vars(math).items()):
    if name in OVER_ITERABLES:
        over_iterables(target)
    elif name in ROUNDING:
        asks(target, (ROUNDING[name], *NUMBER))
    elif isinstance(target, types.BuiltinFunctionType):
        asks(target, NUMBER, take=lend_number)
