"""functools: the callables that call what they were given."""
from __future__ import annotations

import functools

from interpreter.lookasides.builtins_iterables import calls_and_iterates
from interpreter.lookasides.hooks import native
from interpreter.lookasides.registry import lookaside
from interpreter.vm.reentry import entered, reenter


@lookaside(functools.reduce, needed=calls_and_iterates)
def reduce_(function, iterable, /, *initial):
    """``function`` of what it gave last and the next item."""
    return functools.reduce(reenter(function), entered(iterable), *initial)


@lookaside(functools.cmp_to_key, needed=lambda args, kwargs: kwargs or not native(args[0]))
def cmp_to_key_(mycmp):
    """Keys that are compared by ``mycmp``."""
    return functools.cmp_to_key(reenter(mycmp))
