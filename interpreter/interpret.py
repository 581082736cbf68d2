"""``interpret(fn)``: any Python function, and all the Python it calls, in the virtual machine."""

import functools

from . import callable_module
from .vm import Ledger, Machine, Stats
from .vm.hiding import hidden


def registered_lookasides():
    """The lookasides of this interpreter, as a mapping from callable to stand-in."""
    try:
        from .lookasides import REGISTRY
    except ImportError:
        return {}
    return REGISTRY


class Interpreted:
    """A callable which runs ``fn`` in the machine. ``stats`` and ``ledger`` add up over its calls."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn, updated=())
        self.fn, self.stats, self.ledger = fn, Stats(), Ledger()
        self.lookasides, self.whole_program = registered_lookasides(), False

    @hidden
    def __call__(self, /, *args, **kwargs):
        machine = Machine(self.lookasides, self.ledger, self.stats)
        machine.alone = self.whole_program
        return machine.run(self.fn, args, kwargs or None)

    def __repr__(self):
        return f"<interpreted {self.fn!r}>"


def interpret(fn):
    """A callable that runs ``fn`` interpreted, with ``stats.instructions`` and ``ledger``. Raises TypeError if not
    callable."""
    if not callable(fn):
        raise TypeError(f"interpret() needs a callable, not {type(fn).__name__}")
    return Interpreted(fn)


callable_module(__name__)
