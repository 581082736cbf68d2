"""From recorded chains to compiled ones.

`lower` takes a chain of segments and gives its first segment, and each one that follows a check which only the call
itself can answer, a `Compiled`: the segments up to the next such check as one, in which the pieces that graphs can
hold are calls of what the backend made of them. `Compiled` is a segment like those recorded, run by the eager
executor's generated function; where it does not fit a call (sizes for which it was not compiled, memory shared in
another way) the recorded segments serve.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import zip_longest

import torch

from interpreter.executors import eager, undo
from interpreter.executors.fake_values import first_line, memory
from interpreter.executors.fakes import Fakes, Inference, Unfit
from interpreter.executors.graphable import draws, effectful, is_switch, keeps_history, observes_autograd
from interpreter.executors.graphs import GraphWriter
from interpreter.executors.pieces import Parting, Piece, step_operations
from interpreter.executors.surroundings import Surroundings
from interpreter.recording import guards
from interpreter.recording.operations import Build, Input, Operation, Ref, refs_of
from interpreter.recording.program import Segment
from interpreter.recording.prologue import Prologue
from interpreter.recording.trace import Trace

FIRST_PIECE = 1_000_000


class Compiled(Segment):
    """Several recorded segments (`origin`) as one, with graphs in it."""

    def __init__(self, origin: list[Segment], steps: list):
        super().__init__()
        last = origin[-1]
        self.origin = origin
        self.steps = steps
        self.operations = step_operations(steps, FIRST_PIECE)
        self.check, self.branches = last.check, last.branches
        self.result, self.writes, self.tail, self.prologue = last.result, last.writes, last.tail, origin[0].prologue
        self.logged = self.check is not None or any(type(step) is Operation and effectful(step) for step in steps)
        self.events = [event for segment in origin for event in segment.events]
        self.holds = None
        self.asks = self.agrees = None
        self.gate = None
        self.apart: tuple[list[int], list[int]] | None = None

    @property
    def pieces(self) -> list[Piece]:
        return [step for step in self.steps if type(step) is Piece]

    @property
    def graphs(self) -> list:
        return [piece.graph for piece in self.pieces if piece.graph is not None]

    def fits(self, inputs) -> bool:
        """Whether it was compiled for sizes and shared memory as these inputs have them."""
        try:
            if self.holds is not None and not self.holds(inputs):
                return False
        except ArithmeticError:  # a condition divides by a size that is 0 now
            return False
        if self.apart is None:
            return True
        written, others = self.apart
        memories = {inputs[number].untyped_storage()._cdata for number in written}
        return len(memories) == len(written) and memories.isdisjoint(
            [inputs[number].untyped_storage()._cdata for number in others]
        )

    def answers(self, inputs) -> bool:
        """Whether the numbers that Python asks of the inputs are as in the recorded call, as far as that matters."""
        if self.asks is None:
            return True
        try:
            return self.agrees((*inputs, *self.asks(inputs, {})))
        except Exception:  # a number that can't be had of these inputs: the recorded operations raise in their place
            return False

    def computed(self) -> set[int]:
        """The results of the recorded operations."""
        return {operation.index for segment in self.origin for operation in segment.operations}

    def available(self) -> set[int]:
        """Those of them that later segments can have."""
        return {operation.index for operation in self.operations}


@dataclass
class Job:
    """What to lower: `chain[start:]`. `sources` are what the prologue gives, in order; `examples`, `dynamic` (free
    dimensions) and `changing` (ints not guarded by value) say what they are like, by the source's identity. `unfit`
    says why it can't be compiled, if so."""

    chain: list[Segment]
    start: int
    sources: dict
    examples: dict
    dynamic: dict
    changing: set
    surroundings: Surroundings
    unfit: str | None = None
    gate: Prologue | None = (
        None  # what gives the inputs, where that isn't the entry's prologue; then the whole chain has to be one stretch
    )
    replaces: bool = False
    notes: list[str] = field(default_factory=list)
    phases: dict = field(default_factory=lambda: {"lower": 0.0, "backend": 0.0})

    @property
    def inputs(self) -> dict:
        """The places of the sources in what the prologue gives."""
        return {identity: number for number, identity in enumerate(self.sources)}

    def like(self, inputs: tuple) -> Job:
        """The same for other inputs."""
        return Job(
            self.chain,
            self.start,
            self.sources,
            dict(zip(self.sources, inputs)),
            self.dynamic,
            self.changing,
            Surroundings(),
            gate=self.gate,
        )


def prepare(trace: Trace, chain, start, sources: dict, call) -> Job:
    """A job for a trace just recorded; what the inputs are like is taken from the trace and from `call` = (args,
    kwargs)."""
    values = {entry.source.identity(): entry.value for entry in trace.outside.values()}
    shapes = {guard.source.identity(): guard for guard in trace.guards if isinstance(guard, guards.Tensor)}
    examples, unfit = {}, None
    if not all(guard.guard.check() for guard in trace.guards if isinstance(guard, guards.GlobalState)):
        unfit = "the call left torch's global state (grad mode, autocast ...) changed"
    for identity, source in sources.items():
        try:
            example = values[identity] if identity in values else source.walk(call)
        except Exception:
            example = None
        guard = shapes.get(identity)
        if guard is not None and not is_like(example, guard):
            unfit = f"the call gave {guard.source} another shape"
        examples[identity] = example
    dynamic = {identity: guard.dynamic for identity, guard in shapes.items()}
    changing = {guard.source.identity() for guard in trace.guards if type(guard) is guards.Type and guard.kind is int}
    return Job(chain, start, dict(sources), examples, dynamic, changing, Surroundings(), unfit)


def is_like(example, guard) -> bool:
    """Whether a tensor still has the shape that was guarded when it was read."""
    return (
        isinstance(example, torch.Tensor)
        and list(example.shape) == guard.shape
        and (example.layout is not torch.strided or list(example.stride()) == guard.strides)
    )


def lower(job: Job, backend) -> list[Compiled]:
    """Compile: each serves in the place of the first recorded segment of its `origin`. Raises Unfit, and what the
    backend raises."""
    if job.unfit is not None:
        raise Unfit(job.unfit)
    with job.surroundings.again():
        return lowered(job, backend)


def lowered(job: Job, backend) -> list[Compiled]:
    started = time.perf_counter()
    fakes = Fakes()
    for identity in job.sources:
        fakes.add_input(
            identity, job.examples[identity], job.dynamic.get(identity, frozenset()), identity in job.changing
        )
    needs_grad = {id(fake): fake.requires_grad for fake in fakes.inputs.values() if isinstance(fake, torch.Tensor)}
    with job.surroundings.again(), fakes.context():
        for segment in job.chain:
            for operation in segment.operations:
                fakes.do(operation)
        trunks = list(stretches(job, fakes))
    job.examples, fakes.examples = {}, {}
    if job.gate is not None and [len(trunk) for trunk in trunks] != [len(job.chain)]:
        raise Unfit("it has checks of its own")
    for fake in fakes.inputs.values():
        if isinstance(fake, torch.Tensor) and fake.requires_grad is not needs_grad[id(fake)]:
            raise Unfit("an input that needed no gradient is written with values that do")
    made = [part(trunk, job, fakes) for trunk in trunks]
    made = [compiled for compiled in made if compiled.pieces]
    if fakes.left_out is not None:
        operation = fakes.left_out
        reason = fakes.reasons[operation.index]
        job.notes.append(f"what follows {operation}, at {operation.where}, is no part of a graph: {reason}")
    backend_seconds = compile_pieces(job, made, fakes, backend)
    holds, agrees = fakes.conditions()
    asks = asking(job, fakes) if agrees is not None else None
    for compiled in made:
        compiled.holds, compiled.asks, compiled.agrees, compiled.gate = holds, asks, agrees, job.gate
        eager.lower(compiled, job.inputs, compiled.logged)
    job.phases["backend"] += backend_seconds
    job.phases["lower"] += time.perf_counter() - started - backend_seconds
    return made


def asking(job: Job, fakes: Fakes):
    """`asks(inputs, values)`: the numbers that Python asks of inputs, before anything is done."""
    segment = Segment()
    segment.operations = list(
        {operation.index: operation for _, needed in fakes.asked for operation in needed}.values()
    )
    segment.result = Build(tuple, tuple(Ref(operation.index) for operation, _ in fakes.asked))
    eager.lower(segment, job.inputs, False)

    def asks(inputs, values):
        return segment.run(inputs, values)

    return asks


def stretches(job: Job, fakes: Fakes):
    """Lists of segments between checks that only the call can answer."""
    trunk: list[Segment] = []
    for segment, following in zip_longest(job.chain[job.start :], job.chain[job.start + 1 :]):
        trunk.append(segment)
        if segment.tail is not None:
            return
        if following is None or not fakes.implied(segment.check, answer_to(segment, following)):
            yield trunk
            trunk = []


def answer_to(segment: Segment, following: Segment):
    """The answer to a segment's check that leads to another segment."""
    for (kind, answer), alternatives in list(segment.branches.items()):
        if any(each is following for each in alternatives):
            return answer if kind in (bool, int, str) else segment.check.answer
    return segment.check.answer


def part(trunk: list[Segment], job: Job, fakes: Fakes) -> Compiled:
    """One stretch as steps, which may be left only where it is known what to do again."""
    operations = asked_first([operation for segment in trunk for operation in segment.operations], fakes)
    last = trunk[-1]
    final = set(refs_of(last.check.value)) if last.check is not None else set()
    seen = set(leaving(last))
    for following in last.walk():
        if following is not last:
            final.update(used_by(following))
            seen.update(leaving(following))
    inside = {operation.index for operation in operations}
    compiled = Compiled(trunk, Parting(operations, fakes, (final | set(leaving(last))) & inside, seen & inside).steps())
    outside = {memory(fake) for fake in fakes.inputs.values() if isinstance(fake, torch.Tensor)}
    earlier = [each for segment in job.chain[: job.chain.index(trunk[0])] for each in segment.operations]
    undo.plan(compiled, earlier, job, fakes, outside)
    for operation in operations:
        if draws(operation) and fakes.written.get(operation.index) and not undo.writes(operation, fakes, outside):
            raise Unfit(
                f"random numbers are drawn into a tensor made inside the call ({operation}, at {operation.where})"
            )
        if operation.function is torch.Tensor.storage_offset:
            raise Unfit(f"Python asks where in its memory a tensor begins, at {operation.where}")
        if observes_autograd(operation):
            where = f"{operation}, at {operation.where}"
            if keeps_history(operation):
                raise Unfit(f"a gradient is made to have gradients itself, which compiled graphs do not have ({where})")
            if any(from_outside(part, fakes) for part in operation.args):
                raise Unfit(f"autograd of a tensor from outside the call is changed or looked at ({where})")
    compiled.apart = apart(compiled, job, fakes)
    return compiled


def from_outside(template, fakes: Fakes) -> bool:
    """Whether a template stands for a tensor from outside the call."""
    return type(template) is Input and isinstance(fakes.known(template), torch.Tensor)


def asked_first(operations: list[Operation], fakes: Fakes) -> list[Operation]:
    """Numbers that can be asked at once are asked at once: graphs need not end for them."""
    early = {operation.index for _, needed in fakes.asked for operation in needed}
    fakes.in_graph.update(dict.fromkeys(early, False))
    return [each for each in operations if each.index in early] + [
        each for each in operations if each.index not in early
    ]


def leaving(segment: Segment) -> list[int]:
    """The results that leave the call at the end of a segment."""
    if segment.check is not None:
        return []
    return refs_of(segment.ends_in())


def used_by(segment: Segment) -> list[int]:
    """The results that a segment needs."""
    return [*refs_of(segment.ends_in()), *(index for operation in segment.operations for index in operation.uses())]


def apart(compiled: Compiled, job: Job, fakes: Fakes):
    """Numbers of the inputs that graphs write to, and of those that must not share memory with them."""
    written: dict[int, None] = {}
    others: dict[int, None] = {}
    for piece in compiled.pieces:
        if not piece.writes:
            continue
        memories = {memory(value) for operation in piece.operations for value in fakes.written.get(operation.index, ())}
        taken = [(each, fakes.known(each)) for each in piece.takes]
        hit = [memory(value) for _, value in taken if isinstance(value, torch.Tensor) and memory(value) in memories]
        if len(set(hit)) < len(hit):
            raise Unfit("a graph writes to memory that several of its inputs share")
        for template, value in taken:
            if isinstance(value, torch.Tensor) and type(template) is Input:
                number = job.inputs[template.source.identity()]
                (written if memory(value) in memories else others)[number] = None
    return (list(written), [number for number in others if number not in written]) if written else None


def compile_pieces(job: Job, made: list[Compiled], fakes: Fakes, backend) -> float:
    """Give each piece what the backend makes of its graph, under the grad mode and autocast that it will run in.
    Returns the backend's seconds."""
    pieces = {id(piece.operations[0]): piece for compiled in made for piece in compiled.pieces}
    seconds = 0.0
    inference = Inference()
    with job.surroundings.again():
        for segment in job.chain:
            for operation in segment.operations:
                inference.do(operation)
                if is_switch(operation.function):
                    operation.function(*operation.args, **operation.kwargs)
                piece = pieces.get(id(operation))
                if piece is not None and (piece.gives or piece.writes):
                    piece.graph = GraphWriter(piece.takes).write(piece.operations, piece.gives)
                    before = operation.index - 1
                    examples = [
                        fakes.known(template) if type(template) is Input else fakes.fresh(fakes.known(template), before)
                        for template in piece.takes
                    ]
                    started = time.perf_counter()
                    piece.compiled = backend(piece.graph, examples, fakes)
                    piece.expected = [piece.expect(fakes.values[index], fakes) for index in piece.gives]
                    seconds += time.perf_counter() - started
    return seconds


def reason_of(error: BaseException) -> str:
    """One line for a person."""
    return str(error) if isinstance(error, Unfit) else f"{type(error).__name__}: {first_line(error)}"
