"""iter and next: the steps of iteration, made by the machine."""
from __future__ import annotations

from interpreter.lookasides.callables import Produced
from interpreter.lookasides.hooks import iterated_natively
from interpreter.lookasides.registry import lookaside
from interpreter.vm.frame import Frame
from interpreter.vm.hooks import Otherwise, hooked
from interpreter.vm.lookups import Host, has


def runs_python(args, kwargs):
    return len(args) > 1 or bool(args) and not iterated_natively(args[0])


NONE = object()


@lookaside(iter, native=True, needed=runs_python)
def iter_(machine, iterable, sentinel=NONE, /):
    """An iterator over an iterable, or over what a callable gives until that equals the sentinel."""
    if sentinel is NONE:
        return machine.iterate(iterable)
    if not callable(iterable):
        return machine.original(iter, [iterable, sentinel])
    return machine.original(iter, [machine.reentered(Produced(iterable, sentinel)), NEVER])


class Never(Host):
    """A sentinel that nothing equals: the comparison has been made by then."""

    __slots__ = ()

    def __reduce__(self):
        return "NEVER"

    def __eq__(self, other):
        return False

    __hash__ = None


NEVER = Never()


@lookaside(next, native=True)
def next_(machine, iterator, /, *default):
    """The next item, or the default where there is none."""
    if not has(type(iterator), "__next__") or len(default) > 1:
        return machine.original(next, [iterator, *default])
    if not default:
        return machine.advance(iterator)
    try:
        outcome = machine.advance(iterator)
    except StopIteration:
        return default[0]
    return hooked(outcome, Otherwise(StopIteration, lambda _: default[0])) if type(outcome) is Frame else outcome
