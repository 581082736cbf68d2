"""Parts a stretch of operations into pieces that a graph can hold, and what the eager executor does between them.

`Parting` turns operations into *steps*: a `Piece` is one step, every other operation is its own. A piece takes what
it needs from inputs and from earlier results and gives what is used after it. What is the same object in eager stays
the same object, and a result that is a view of something else that is seen is made as a view of it after the piece:
it shares memory as in eager.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable

import torch

from interpreter.executors.expected import Expected, told
from interpreter.executors.fake_values import SYMBOLIC, UNKNOWN, memory, tensors_in
from interpreter.executors.fakes import Fakes
from interpreter.executors.graphable import observes_autograd
from interpreter.executors.probation import OnProbation, on_probation
from interpreter.recording.operations import Input, Operation, Ref, leaves, refs_of
from interpreter.recording.trace import same, storage_of


class Piece:
    """Operations for one graph: `takes` are templates of its inputs, `gives` the indices of its results. `overwrites`
    are the places of the inputs that it writes to. `proven` is set once a backward pass of it has worked. `relaid` are
    those of the results that the backend lays out otherwise in memory than the operations do: `view` of one may raise,
    and the next piece was compiled for what the operations give."""

    def __init__(self, operations: list[Operation]):
        self.operations = operations
        self.takes: list = []
        self.gives: list[int] = []
        self.after: list[Operation] = []
        self.writes = False
        self.overwrites: list[int] = []
        self.compiled = None
        self.graph = None
        self.expected: list[Expected] | None = []
        self.relaid: dict[int, Expected] = {}
        self.proven = False
        self.failure: Exception | None = None
        self.when_failing: Callable[[Exception], None] = lambda error: None

    def __call__(self, *inputs):
        if on_probation(self, inputs):
            return OnProbation.apply(self, *inputs)
        return self.checked(*inputs)

    def checked(self, *inputs):
        """What the backend's work gives, looked at if it is the first time."""
        results = self.compiled(*inputs)
        if self.expected is not None:
            self.look_at(results, inputs)
        if self.relaid:
            results = list(results)
            for number, expected in self.relaid.items():
                results[number] = expected.laid_out(results[number])
        return results

    def expect(self, value, fakes: Fakes) -> Expected:
        """What a result is like when the piece has been done."""
        if not isinstance(value, torch.Tensor):
            return Expected(value)
        return Expected(value, fakes.gradients.needed(value, self.operations[-1].index))

    def fails(self, error: Exception):
        """The backend's backward pass raised, and the operations, one by one, did not."""
        if self.failure is None:
            self.failure = error
            self.when_failing(error)

    def look_at(self, results, inputs):
        """A backend may be anybody's: what it gives is looked at once. Raises TypeError where it isn't what the graph
        gives."""
        if type(results) not in (tuple, list) or len(results) != len(self.expected):
            found = f"{len(results)} results" if type(results) in (tuple, list) else f"one {type(results).__name__}"
            raise TypeError(f"what the backend made gave {found} where the graph gives a tuple of {len(self.expected)}")
        memories = {storage_of(value) for value in inputs if isinstance(value, torch.Tensor)}
        for number, (result, expected) in enumerate(zip(results, self.expected)):
            if not expected.describes(result):
                raise TypeError(f"result {number} of what the backend made is {told(result)}, not {expected}")
            if expected.is_laid_out(result) is False and storage_of(result) not in memories:
                self.relaid[number] = expected
        self.expected = None


class Parting:
    """`final` are the indices that are used after the operations, `seen` those of them that leave the call."""

    def __init__(self, operations: list[Operation], fakes: Fakes, final: set[int], seen: set[int]):
        self.fakes = fakes
        self.final = final
        self.seen = seen
        self.operations = self.alive(operations)

    def alive(self, operations):
        """Without the arithmetic that nothing needs (it led to checks that are conditions on sizes now), and without
        switches that change nothing: graphs need not end for them."""
        needed = set(self.final)
        kept = []
        for operation in reversed(operations):
            if operation.index in self.fakes.idle:
                continue
            if operation.index in needed or not (operation.element or operation.number):
                kept.append(operation)
                needed.update(operation.uses())
        return kept[::-1]

    def steps(self) -> list:
        """Pieces and single operations, in order."""
        while True:
            steps, run, ending = [], [], False
            cuts = self.cuts()
            for operation in self.operations:
                fit = self.fakes.holds(operation)
                if run and (not fit or (ending and not operation.element)):
                    steps.append(Piece(run))
                    run, ending = [], False
                if fit:
                    run.append(operation)
                    ending = ending or operation.index in cuts
                else:
                    steps.append(operation)
            if run:
                steps.append(Piece(run))
            steps = [step for each in steps for step in self.without_idle(each)]
            if self.connect(steps):
                return steps

    def without_idle(self, step):
        """A run without a single tensor operation (sizes only) is left to the eager executor."""
        if type(step) is Piece and all(operation.number or operation.element for operation in step.operations):
            return step.operations
        return [step]

    def cuts(self) -> set[int]:
        """After which operations a piece has to end, as autograd must see their results as values of their own.

        In a compiled graph autograd sees only the results. Where the call gives both `h` and something computed from
        it (or takes a gradient by `h` inside), `h` has to be the end of one graph and the beginning of another: where
        it was made, or was written to for the last time before it is seen.
        """
        made: dict[int, int] = {}
        written = defaultdict(list)
        for operation in self.operations:
            for value in tensors_in(self.fakes.values[operation.index]):
                made.setdefault(id(value), operation.index)
            for value in self.fakes.written.get(operation.index, ()):
                written[memory(value)].append(operation.index)
        exposed = [(index, math.inf) for index in self.seen]
        for operation in self.operations:
            if observes_autograd(operation):
                exposed += [(index, operation.index) for index in operation.uses()]
        cut = set()
        for index, end in exposed:
            for value in tensors_in(self.fakes.values.get(index, UNKNOWN)):
                if id(value) in made:
                    last = max([made[id(value)], *(each for each in written[memory(value)] if each < end)])
                    if self.fakes.gradients.needed(value, last) and self.feeds(value, last):
                        cut.add(last)
        return cut

    def feeds(self, mine, index) -> bool:
        """Whether an operation after `index` that a graph can hold computes from a value."""
        for operation in self.operations:
            if operation.index > index and self.fakes.holds(operation) and not (operation.number or operation.element):
                used = (self.fakes.values.get(ref, UNKNOWN) for ref in operation.uses())
                if any(value is mine for known in used for value in tensors_in(known)):
                    return True
        return False

    # What pieces take and give

    def connect(self, steps) -> bool:
        """Fill `takes`, `gives` and `after` of the pieces. False where an operation turned out unfit: it is parted
        anew."""
        needed = set(self.final)
        for step in reversed(steps):
            if type(step) is Piece:
                unfit = self.results(step, needed)
                if unfit is not None:
                    index, reason = unfit
                    self.fakes.in_graph[index] = False
                    self.fakes.reasons[index] = reason
                    return False
                needed.update(refs_of(step.takes), *(operation.uses() for operation in step.after))
            else:
                needed.update(step.uses())
        return True

    def results(self, piece: Piece, needed) -> tuple[int, str] | None:
        """Fill in what a piece takes and gives. Else the operation that is unfit for it, and why."""
        inside = {operation.index: operation for operation in piece.operations}
        piece.takes = self.taken(piece, inside)
        fakes = self.fakes
        objects = self.objects(piece.takes)
        taken = {memory(fakes.known(template)) for template in objects.values()}
        for index in inside:
            for value in tensors_in(fakes.values[index]) if isinstance(fakes.values[index], torch.Tensor) else ():
                objects.setdefault(id(value), Ref(index))
        queue = [index for index in inside if index in needed]
        shared = self.shared(queue, taken)
        given: set[int] = set()
        after: dict[int, Operation] = {}
        while queue:
            index = queue.pop()
            if index in given or index in after:
                continue
            value = fakes.values[index]
            if value is None or type(value) is int:
                after[index] = Operation(same, (value,), {}, index, number=True)
            elif type(value) in SYMBOLIC:
                given.add(index)
            elif not isinstance(value, torch.Tensor):
                return index, "its result is a container that is used outside of the graph"
            elif getattr(objects[id(value)], "index", None) != index:
                after[index] = Operation(same, (objects[id(value)],), {}, index, number=True)
                queue += [ref for ref in refs_of(objects[id(value)]) if ref in inside]
            elif memory(value) in shared and (views := self.view(inside, index)):
                after.update((operation.index, operation) for operation in views)
                queue += [
                    ref
                    for view in views
                    for ref in view.uses()
                    if ref in inside and ref not in after
                ]
            else:
                given.add(index)
        piece.gives = sorted(given)
        piece.after = [after[index] for index in sorted(after)]
        written = {memory(value) for index in inside for value in fakes.written.get(index, ())}
        piece.writes = not written.isdisjoint(taken)
        values_taken = [fakes.known(template) for template in piece.takes]
        piece.overwrites = [
            number
            for number, value in enumerate(values_taken)
            if isinstance(value, torch.Tensor) and memory(value) in written
        ]
        for index in inside:
            if not taken.isdisjoint(fakes.gradients.writes.get(index, ())):
                return index, "autograd follows that it writes to a value from before the graph"
        return None

    def objects(self, takes) -> dict:
        """The tensors that a piece takes, by identity: which template gives each."""
        found: dict = {}
        for template in takes:
            value = self.fakes.known(template)
            if isinstance(value, torch.Tensor):
                found.setdefault(id(value), template)
        return found

    def shared(self, outputs, taken) -> set:
        """The memories that two results, or a result and an input, have in common."""
        seen, shared = set(), set(taken)
        for value in {id(v): v for index in outputs for v in tensors_in(self.fakes.values[index])}.values():
            if memory(value) in seen:
                shared.add(memory(value))
            seen.add(memory(value))
        return shared

    def view(self, inside, index) -> list[Operation]:
        """The operations that make a result as a view of what the first one is given; none where it isn't a view."""
        operation = inside[index]
        value = self.fakes.values[index]
        if operation.element:
            parent = inside.get(operation.args[0].index)
            if parent is None or not parent.args:
                return []
            base = self.known(parent.args[0])
            if base is None or memory(base) != memory(value) or self.fakes.written.get(parent.index):
                return []
            return [parent, operation]
        if not operation.args or self.fakes.written.get(index):
            return []
        base = self.known(operation.args[0])
        if base is None or base is value or memory(base) != memory(value):
            return []
        return [operation]

    def known(self, template):
        if type(template) not in (Ref, Input):
            return None
        value = self.fakes.known(template)
        return value if isinstance(value, torch.Tensor) else None

    def taken(self, piece, inside) -> list:
        """Templates of what a piece needs from outside of it, each object once."""
        found: dict = {}
        for operation in piece.operations:
            for leaf in leaves(operation.args, operation.kwargs):
                if type(leaf) is Input:
                    found.setdefault(leaf.source.identity(), leaf)
                elif leaf.index not in inside:
                    found.setdefault(("value", leaf.index), leaf)
        return list(found.values())


def step_operations(steps, number: int) -> list[Operation]:
    """The steps as operations for the eager executor: a piece is one call, its results are elements."""
    made = []
    for step in steps:
        if type(step) is not Piece:
            made.append(step)
            continue
        if step.gives or step.writes:
            made.append(Operation(step, tuple(step.takes), {}, number))
            made += [
                Operation(operator.getitem, (Ref(number), place), {}, index, element=True)
                for place, index in enumerate(step.gives)
            ]
            number += 1
        made += step.after
    return made
