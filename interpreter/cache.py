"""Entries: recorded programs, each behind its prologue, and how a call goes through one."""

from __future__ import annotations

import time

from interpreter.executors import eager
from interpreter.recording import guards
from interpreter.recording.operations import Operation, answer_key
from interpreter.recording.program import Segment, cut, inputs_of_segment
from interpreter.recording.prologue import Prologue
from interpreter.recording.record import Recorded

BRANCHES = 8


class Entry:
    """A program and when it serves. See API.md for the public attributes."""

    def __init__(self, recorded: Recorded, missed: list[str]):
        self.missed = missed
        self.instructions = recorded.instructions
        self.tail = recorded.tail
        self.phases = {"interpret": recorded.seconds - recorded.trace.operating, "operations": recorded.trace.operating}
        self.recorded_guards = recorded.trace.guards
        self.chain = cut(recorded.trace, recorded.result, recorded.writes, recorded.tail)
        self.root = self.chain[0]
        self.operations = [operation for segment in self.chain for operation in segment.operations]
        self.logged = len(self.chain) > 1 or any(operation.effect for operation in self.operations)
        started = time.perf_counter()
        if self.tail is None:
            sources: dict = {}
            for segment in self.chain:
                sources.update(inputs_of_segment(segment))
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

    @property
    def guards(self):
        """What must hold for this entry to serve."""
        return self.prologue.guards

    @property
    def checks(self):
        """The questions that Python asked of tensors, with the answers that were recorded."""
        return [segment.check for segment in self.root.walk() if segment.check is not None]

    @property
    def graphs(self):
        """`fx.GraphModule`s: one a stretch between checks; one in all where nothing is checked."""
        from interpreter.executors.graphs import graph_of

        return [graph_of(segment) for segment in self.root.walk()] if self.tail is None else []

    def add_branch(self, exit_segment: Segment, depth: int, answer, recorded: Recorded):
        """Attach what was recorded after a side exit to the check it left by."""
        chain = cut(recorded.trace, recorded.result, recorded.writes, recorded.tail)
        alternatives = exit_segment.branches.setdefault(answer_key(answer), [])
        if len(exit_segment.branches) > BRANCHES or len(alternatives) > BRANCHES:
            self.tail = f"{exit_segment.check.question}: the answer keeps changing, at {exit_segment.check.where}"
            return
        branch = chain[depth + 1:]
        if not branch:
            return
        known = {guard_key(guard) for guard in self.recorded_guards}
        new = [guard for guard in recorded.trace.guards if guard_key(guard) not in known]
        sources: dict = {}
        for segment in branch:
            sources.update(inputs_of_segment(segment))
        inputs = {identity: number for number, identity in enumerate(sources)}
        branch[0].prologue = Prologue(new, list(sources.values()))
        for segment in branch:
            if segment.tail is None:
                eager.lower(segment, inputs, True)
        alternatives.append(branch[0])


def guard_key(guard):
    """Equal for guards that say the same; those of the global state and the call hold since the entry was taken."""
    if guard.source is None:
        return type(guard)
    value = getattr(guard, "value", None)
    return type(guard), guard.source.identity(), guard.expected(), id(value) if isinstance(guard, guards.Identity) else None


class SideExit(Exception):
    """A program can't go on: what it has done so far is in `values`."""

    def __init__(self, path, values, segment, depth, answer, error, recordable):
        self.path = path
        self.values = values
        self.segment = segment
        self.depth = depth
        self.answer = answer
        self.error = error
        self.recordable = recordable


def execute(entry: Entry, inputs: tuple, args, kwargs):
    """Run an entry's program. Raises SideExit where the interpreter has to take the call up."""
    segment = entry.root
    if not entry.logged:
        try:
            return segment.run(inputs, None)
        except Exception as error:
            raise SideExit([], {}, segment, 0, None, error, False) from None
    values: dict = {}
    path: list[Operation] = []
    depth = 0
    while True:
        path.extend(segment.events)
        if segment.tail is not None:
            raise SideExit(path, values, segment, depth, None, None, False)
        try:
            answer = segment.run(inputs, values)
        except Exception as error:
            raise SideExit(path, values, segment, depth, None, error, False) from None
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
            raise SideExit(path, values, segment, depth, answer, None, True)
        segment = following
        depth += 1
