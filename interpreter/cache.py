"""Entries: recorded programs, each behind its prologue, and how a call goes through one."""

from __future__ import annotations

import time

from interpreter.executors import eager
from interpreter.executors.graphable import effectful
from interpreter.executors.undo import copied, put_back
from interpreter.recording import guards
from interpreter.recording.operations import Operation, answer_key
from interpreter.recording.program import Replay, cut
from interpreter.recording.prologue import Prologue
from interpreter.recording.record import Recorded
from interpreter.recording.switches import ALL, still_entered
from interpreter.recording.torch_calls import mutates

BRANCHES = 8


class Entry:
    """A program and when it serves. See API.md for the public attributes."""

    def __init__(self, recorded: Recorded, missed: list[str], executor=None, call=((), {})):
        self.missed = missed
        self.instructions = recorded.instructions
        self.tail = recorded.tail
        self.raised = recorded.error is not None
        self.phases = {"interpret": recorded.seconds - recorded.trace.operating, "operations": recorded.trace.operating}
        self.recorded_guards = recorded.trace.guards
        self.chain = cut(recorded.trace, recorded.result, recorded.writes, recorded.tail)
        self.root = self.chain[0]
        self.operations = [operation for segment in self.chain for operation in segment.operations]
        self.logged = len(self.chain) > 1 or any(operation.effect for operation in self.operations)
        self.switches = switched(recorded.trace)
        started = time.perf_counter()
        if self.tail is None:
            sources: dict = {}
            for segment in self.chain:
                sources.update(segment.inputs())
            self.inputs = {identity: number for number, identity in enumerate(sources)}
        else:
            sources, self.inputs = {}, {}
        self.prologue = Prologue(self.recorded_guards, list(sources.values()))
        built = time.perf_counter()
        if self.tail is None:
            for segment in self.chain:
                eager.lower(segment, self.inputs, self.logged)
        self.phases["prologue"] = built - started
        self.phases["lower"] = time.perf_counter() - built
        self.phases["backend"] = 0.0
        self.program = None
        if executor is not None and self.tail is None:
            self.program = executor.program(recorded.trace, self.chain, sources, call, self.phases)

    @property
    def guards(self):
        """What must hold for this entry to serve."""
        return self.prologue.guards

    @property
    def checks(self):
        """The questions that Python asked of tensors, with the answers that were recorded."""
        return [segment.check for segment in self.root.walk() if segment.check is not None]

    @property
    def fallbacks(self) -> list[str]:
        """Why the eager executor runs it, or a part of it, though another one was asked for; empty where it doesn't."""
        return [] if self.program is None else [*self.program.fallbacks, *self.program.failures]

    @property
    def graphs(self):
        """`fx.GraphModule`s: one a stretch between checks; one in all where nothing is checked."""
        from interpreter.executors.graphs import graphs_of

        if self.program is not None and self.program.compiled:
            return [graph for compiled in self.program.compiled for graph in compiled.graphs]
        return graphs_of(self.root.walk()) if self.tail is None else []

    def add_branch(self, exit: SideExit, recorded: Recorded, call):
        """Attach what was recorded after a side exit to the check it left by."""
        exit_segment, answer = exit.segment, exit.answer
        chain = cut(recorded.trace, recorded.result, recorded.writes, recorded.tail)
        alternatives = exit_segment.branches.setdefault(answer_key(answer), [])
        if len(exit_segment.branches) > BRANCHES or len(alternatives) > BRANCHES:
            check = exit_segment.check
            if len(exit_segment.branches) > BRANCHES:
                self.tail = f"{check.question} has had more than {BRANCHES} answers, at {check.where}"
            else:
                self.tail = f"what is read after {check.question} was {answer!r} keeps changing, at {check.where}"
            return
        branch = chain[exit.depth + 1:]
        if not branch:
            return
        if not self.begins_alike(chain, exit_segment, exit.depth):
            check = exit_segment.check
            self.tail = f"{check.question}: taken up, the call went another way, at {check.where}"
            return
        known = {guard_key(guard) for guard in self.recorded_guards}
        new = [guard for guard in recorded.trace.guards if guard_key(guard) not in known]
        sources: dict = {}
        for segment in branch if self.program is None else chain:
            sources.update(segment.inputs())
        inputs = {identity: number for number, identity in enumerate(sources)}
        branch[0].prologue = Prologue(new, list(sources.values()))
        for segment in branch:
            if segment.tail is None:
                eager.lower(segment, inputs, True)
            if any(each.effect and mutates(each.function, each.kwargs) for each in segment.operations):
                segment.undo = None
        alternatives.append(branch[0])
        self.switches = self.switches or switched(recorded.trace)
        if self.program is not None:
            self.program.add_branch(exit.segments, branch, recorded.trace, sources, call)

    def given(self, inputs: tuple) -> dict:
        """What the prologue of the program gave, by identity of the source."""
        return {identity: inputs[number] for identity, number in self.inputs.items()}

    def begins_alike(self, chain, exit_segment, depth) -> bool:
        """Whether a recording that took a call up has the operations of the program up to where it left it, with the
        same numbers."""
        left = exit_segment if exit_segment.origin is None else exit_segment.origin[-1]
        before = [(operation.index, operation.function, repr(operation.args)) for operation in chain[depth].operations]
        return before == [(operation.index, operation.function, repr(operation.args)) for operation in left.operations]


def switched(trace) -> bool:
    """Whether a call switches modes of torch."""
    return any(type(step) is Operation and step.function in ALL for step in trace.steps)


def guard_key(guard):
    """Equal for guards that say the same; those of the global state and the call hold since the entry was taken."""
    if guard.source is None:
        return type(guard)
    value = getattr(guard, "value", None)
    known = id(value) if isinstance(guard, guards.Identity) else None
    key = getattr(guard, "key", None)
    key = (type(key), key) if type(key) in (str, int, bool) else id(key)
    return type(guard), guard.source.identity(), guard.expected(), known, key


class SideExit(Exception):
    """A program can't go on: what it has done so far is in `values`. `segments` are those that ran, recorded or
    compiled, the last one perhaps in part."""

    def __init__(self, segments, values, depth, answer, error, recordable, given=None):
        self.given = given
        self.segments = segments
        self.values = values
        self.depth = depth
        self.answer = answer
        self.error = error
        self.recordable = recordable

    @property
    def segment(self):
        return self.segments[-1]

    def entered(self) -> list:
        """The inference modes that have been entered and not left."""
        return still_entered([event for segment in self.segments for event in segment.events], self.values)

    def replay(self) -> Replay:
        """What the interpreter, taking the call up, is not to do again."""
        path = [event for segment in self.segments for event in segment.events]
        if any(segment.origin is not None for segment in self.segments):
            redone = frozenset().union(*(segment.redone for segment in self.segments))
            kept = [
                event.index
                for event in path
                if event.index in self.values and event.index not in redone and effectful(event)
            ]
            done = {index: self.values[index] for index in kept}
            return Replay(path, done, None, pure=True)
        told = [value for segment in self.segments for value in segment.told]
        failed = next((event for event in path if event.index not in self.values and not event.dropped), None)
        error = None if failed is not None and failed.number else self.error  # numbers are computed anew
        return Replay(path, self.values, error, told=told, given=self.given)


def execute(entry: Entry, inputs: tuple, args, kwargs):
    """Run an entry's program. Raises SideExit where the interpreter has to take the call up."""
    segment, first = entry.root, inputs
    program = entry.program
    if program is not None:
        segment, inputs = program.first(segment, inputs, args, kwargs)
    copies: list = []
    if not (entry.logged if segment.origin is None else segment.logged):
        copies = copied(segment.undo, inputs) if program is not None and segment.undo else []
        try:
            return segment.run(inputs, None)
        except Exception as error:
            if segment.origin is not None:
                put_back(copies)
            raise SideExit([segment], {}, 0, None, error, False) from None
    values: dict = {}
    segments: list = []
    depth = -1

    def left(answer=None, error=None, recordable=False) -> SideExit:
        if any(each.origin is not None for each in segments):
            put_back(copies)
        return SideExit(segments, values, depth, answer, error, recordable, entry.given(first))

    while True:
        segments.append(segment)
        depth += 1 if segment.origin is None else len(segment.origin)
        if segment.tail is not None:
            raise left()
        if program is not None and segment.undo:
            copies += copied(segment.undo, inputs)
        try:
            answer = segment.run(inputs, values)
        except Exception as error:
            raise left(error=error) from None
        if segment.check is None:
            return answer
        for following in segment.branches.get(answer_key(answer), ()):
            if following.prologue is None:
                break
            found = following.prologue.check(args, kwargs)
            if type(found) is tuple:
                inputs = found
                break
        else:
            raise left(answer=answer, recordable=True)
        segment = following
        if program is not None and all(each.undo is not None for each in segments):
            segment = program.following(following, inputs)
        if segment.undo is None and any(each.origin is not None for each in segments):
            raise left()
