"""The machine: the loop over instructions, and the way in from the host."""

from types import MappingProxyType
from typing import ClassVar

from . import debugging, evaluating, instructions, steering, writers
from .attributes import Attributes
from .calls import Calls
from .code import plan_for
from .current import current
from .errors import InterpreterError
from .frame import Frame, Root
from .generators import Generators
from .hiding import hidden
from .iteration import Iteration
from .ledger import Ledger
from .limits import deeper, shallower
from .names import Names
from .natives import NATIVES
from .operators import Operators
from .pyframes import user_traceback
from .reentry import Reentries
from .registry import HANDLERS, Plans, Table
from .superblocks import BlockTable
from .unwinding import Unwinding

NO_LOOKASIDES = MappingProxyType({})


class Stats:
    """Counters: ``instructions`` executed so far."""

    __slots__ = ("instructions",)

    def __init__(self):
        self.instructions = 0


class Machine(Names, Attributes, Operators, Calls, Iteration, Generators, Reentries, Unwinding):
    """A Python virtual machine for one thread. A subclass may override entries of ``handlers`` and any method."""

    handlers = HANDLERS
    table: ClassVar[Table]
    plans: Plans
    tracing = None
    """What is told to trace functions of the program, while there is one and it does not run itself."""
    traces = None
    alone = False
    """Whether it runs a whole program: what called the machine is no part of the program's stack then."""
    can_trace = property(lambda self: type(self) is Machine)
    """Others leave ``sys.settrace`` to the original."""

    def __init__(self, lookasides=NO_LOOKASIDES, ledger=None, stats=None):
        self.lookasides = lookasides
        self.routes = {**NATIVES, **lookasides}
        self.ledger = Ledger() if ledger is None else ledger
        self.stats = Stats() if stats is None else stats
        self.frame = None
        self.limit = 0

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls.table = Table(cls, Machine)
        cls.plans = Plans(cls.table)

    def plan(self, code):
        """The decoded form of a code object."""
        plans = self.plans
        plan = plans.get(id(code))
        return plan if plan is not None else plan_for(code, plans)

    def loop(self, frame):
        """Execute instructions from ``frame`` on, until the frame to go on in is a Root; gives that."""
        while True:
            try:
                while True:
                    self.frame = frame
                    for handler, operand in frame.iterator:
                        following = handler(frame, operand)
                        if following is None:
                            continue  # from 3.12 on a jump that the end of an ``if`` makes is not in the ``try``
                        frame = following
                        break
                    else:
                        return frame
            except BaseException as caught:
                error = caught
            try:
                frame = self.raised(frame, error)
            except (KeyboardInterrupt, RecursionError, MemoryError):
                raise
            except BaseException as fault:
                raise self.fault(frame, error, fault) from fault
            error = None

    def fault(self, frame, error, fault):
        """What to raise when the machine itself fails: where in the user's program, and what to do."""
        where = frame.where if type(frame) is Frame else "outside of any function"
        name = type(error).__name__
        return InterpreterError(
            f"{where}: the interpreter failed while it dealt with {name} ({type(fault).__name__}: {fault}); "
            "call this function natively, or report it with the program"
        )

    @hidden
    def run(self, function, args=(), kwargs=None):
        """Call ``function`` in the machine, from the host or from inside a handler, and give what it returns."""
        root = Root(self, self.frame)
        return self.nested(root, lambda: self.call(function, list(args), kwargs))

    @hidden
    def invoke(self, function, /, *args, **kwargs):
        """The same, from inside a handler: run ``function`` to its end in a nested loop."""
        root = Root(self, self.frame)
        return self.nested(root, lambda: self.call(function, list(args), kwargs or None))

    @hidden
    def nested(self, root, start):
        """Enter a nested loop on top of ``root``: with a Frame, or with what a function gives, a value or a Frame."""
        if root.back is not None and root.depth > self.limit:
            raise RecursionError("maximum recursion depth exceeded")
        outer, current.machine = current.machine, self
        error = None
        deeper(self)
        try:
            self.frame = root
            try:
                result = start if type(start) is Frame else start()
                if type(result) is Frame:
                    self.loop(result)
                    result = root
                if result is root:
                    error = root.error
                    result = root.stack.pop() if error is None and root.stack else None
            except BaseException as caught:
                error = caught
                error.__traceback__ = user_traceback(error)
        finally:
            shallower()
            self.frame = root.back
            current.machine = outer
        if error is None:
            return result
        context, self.passed = error.__context__, id(error)
        try:
            raise error
        finally:
            error.__context__ = context
            root = error = start = None


Machine.table = BlockTable(Machine, Machine)
Machine.plans = Plans(Machine.table)

__all__ = ["Machine", "debugging", "evaluating", "instructions", "steering", "writers"]
