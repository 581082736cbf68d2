"""One call made twice, natively and in the machine: same result, same log of hooks, same exception."""

import collections
import itertools
import re
import types

from interpreter.interpret import interpret
from interpreter.lookasides.purity import iterator_types
from tests.lookasides.recipes import Source, Steps, Thing, make

LIMIT = 12  # how far an iterator that came out is followed
ADDRESS = re.compile("0x[0-9a-f]+")
ITERATORS = frozenset(iterator_types()) | {types.GeneratorType}


def consume(value, depth=3):
    """A description of a result that holds no object of the run; iterators are stepped, so their hooks are logged."""
    kind = type(value)
    if isinstance(value, Thing):
        return ("thing", value.name, value.number)
    if kind in ITERATORS:
        items = []
        for _ in range(LIMIT):
            try:
                item = next(value)
            except StopIteration:
                return kind.__name__, items, "ended"
            except Exception as error:
                return kind.__name__, items, described(error)
            items.append(consume(item, depth - 1))
        return kind.__name__, items, "goes on"
    if kind in (list, tuple, collections.deque):
        return kind.__name__, [consume(item, depth - 1) for item in value], getattr(value, "maxlen", None)
    if kind in (set, frozenset):
        return kind.__name__, sorted([repr(consume(item, depth - 1)) for item in value])
    if isinstance(value, dict):
        return kind.__name__, [(consume(k, depth - 1), consume(v, depth - 1)) for k, v in dict.items(value)]
    if isinstance(value, Source | Steps):
        return kind.__name__
    if kind in (int, float, str, bytes, bool, complex, range, slice, type(None), type(NotImplemented), bytearray):
        return kind.__name__, ADDRESS.sub("0x", repr(value)) if kind is not slice else "slice"
    return kind.__name__


def described(error):
    return type(error).__name__, ADDRESS.sub("0x", str(error))


def probe(target, args, kwargs):
    """Calls the target and looks at what comes out, also at what became of the arguments."""
    try:
        result = target(*args, **kwargs)
    except Exception as error:
        return ("raised", *described(error)), [consume(arg) for arg in args]
    same = [at for at, arg in enumerate(args) if arg is result]
    return ("gave", same, consume(result)), [consume(arg) for arg in args]


def run(call, target, args, kwargs):
    """Outcome and log of one run, with objects of its own."""
    log, names = [], itertools.count()
    made = [make(arg, log, names) for arg in args]
    named = {name: make(value, log, names) for name, value in kwargs.items()}
    return call(probe)(target, made, named), log


def both(target, args, kwargs=None):
    """(natively, in the machine): each an outcome and a log."""
    kwargs = kwargs or {}
    return run(lambda function: function, target, args, kwargs), run(interpret, target, args, kwargs)
