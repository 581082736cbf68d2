"""Recorded programs: trees of segments.

A *segment* is a stretch of operations that ends in a check, or in the result and the epilogue. The answer to the check
picks the next segment; another answer than those known is a side exit, from where the interpreter takes the call up
again and records a branch.
"""

from __future__ import annotations

from interpreter.recording.attempts import Attempt
from interpreter.recording.faults import ADVICE
from interpreter.recording.operations import Check, Operation, Write, answer_key, inputs_of
from interpreter.recording.outside import LIVE
from interpreter.recording.prologue import Prologue
from interpreter.recording.sources import Source
from interpreter.recording.switches import INFERENCE
from interpreter.recording.trace import Trace
from interpreter.vm.errors import InterpreterError


class Segment:
    """`operations`, then either `check` and `branches` (by answer: alternatives with a prologue of their own each, but
    for the first), or `result` and `writes`; `tail` says why it ends early."""

    def __init__(self):
        self.operations: list[Operation] = []
        self.events: list[Operation] = []  # the operations, and those that were left out
        self.told: list = []  # what Python was told of tensors besides: their shapes, flags and gradients
        self.check: Check | None = None
        self.branches: dict = {}
        self.result = None
        self.writes: list[Write] = []
        self.tail: str | None = None
        self.prologue: Prologue | None = None
        self.run = None
        self.text = ""
        self.origin: list[Segment] | None = None  # of a compiled one: the recorded segments in whose place it serves
        # Where a call that began in a compiled one is left after this: inputs whose memory is put back (None: not
        # known), and the operations that write to it, which are done again.
        self.undo: tuple[int, ...] | None = ()
        self.redone: frozenset[int] = frozenset()

    def ends_in(self) -> list:
        """Templates of what it ends in: the value that is checked, or the result and what is written."""
        if self.check is not None:
            return [self.check.value]
        return [self.result, *(write.templates for write in self.writes)]

    def inputs(self) -> dict:
        """The sources that its templates name: {identity of the source: source}."""
        return inputs_of([(operation.args, operation.kwargs) for operation in self.operations], self.ends_in())

    def walk(self):
        """This segment and all that follow."""
        yield self
        for alternatives in list(self.branches.values()):
            for branch in list(alternatives):
                yield from branch.walk()


def cut(trace: Trace, result, writes, tail) -> list[Segment]:
    """A recorded trace as a chain of segments: first, second ..., linked by the answers that were given."""
    chain, told = [Segment()], 0
    for step in trace.steps:
        if type(step) is Operation:
            chain[-1].events.append(step)
            if not step.dropped:
                chain[-1].operations.append(step)
        else:
            chain[-1].check = step
            chain[-1].told = trace.told[told:step.told]
            told = step.told
            following = Segment()
            chain[-1].branches[answer_key(step.answer)] = [following]
            chain.append(following)
    chain[-1].told = trace.told[told:]
    chain[-1].result, chain[-1].writes, chain[-1].tail = result, writes, tail
    return chain


class Replay:
    """What a program has done in this call, for the interpreter that takes it up: each operation gives what it already
    gave.

    `pure`: what isn't in `values` can be done again without anybody noticing, and is (a compiled program keeps no other
    results).
    """

    def __init__(
        self, path: list[Operation], values: dict, error: BaseException | None, pure=False, told=(), given=None
    ):
        self.pure = pure
        self.told = iter(told)
        self.given = given or {}
        self.path = [operation for operation in path if not operation.element and not operation.number]
        self.values = values
        self.error = error
        self.done = 0
        self.count = 1 + max((i for i, operation in enumerate(self.path) if operation.index in values), default=-1)
        self.redo = not values

    def has_next(self) -> bool:
        """Whether the next operation has been done, or has been tried and raised."""
        return not self.redo and (self.done < self.count or self.error is not None)

    def next(self, function, args, kwargs):
        """The result that the next operation gave, or its exception."""
        operation = self.path[self.done]
        expected = operation.function.function if type(operation.function) is Attempt else operation.function
        if expected is not function and expected != function:
            raise Diverged(
                f"{operation.where}: taking up a call, {operation} was expected but {function} came. {ADVICE}"
            )
        self.done += 1
        if operation.dropped:
            return args[0]
        if function is INFERENCE:  # one that has been left can't be entered again
            return function(*args)
        if operation.index in self.values:
            return self.values[operation.index]
        if self.pure:
            return function(*args, **kwargs)
        error, self.error = self.error, None
        raise error.with_traceback(None)

    def tell(self, name: str):
        """What Python was told here of a tensor, before what the program has done changed it; LIVE: ask again."""
        if not self.has_next():
            return LIVE
        asked, told = next(self.told, (name, LIVE))
        if asked != name:
            raise Diverged(f"taking up a call, {name} of a tensor was asked where it had been {asked}. {ADVICE}")
        return self.given.get(told.identity(), LIVE) if isinstance(told, Source) else told


class Diverged(InterpreterError):
    """The interpreter, taking up a call, met another operation than the program had done."""
