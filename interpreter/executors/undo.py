"""Taking back what a compiled program wrote to tensors from outside the call, when it is left.

The interpreter does such a call again from its start, writes included. Most often that is harmless: a cache that is
written in some places and read only afterwards holds the same when it is written again. Where it isn't, the memory is
copied before the program runs, and put back before the call is taken up.
"""

from __future__ import annotations

import torch

from interpreter.executors.fake_values import UNKNOWN, memory, tensors_in
from interpreter.executors.fakes import Fakes, Unfit
from interpreter.executors.graphable import draws
from interpreter.executors.pieces import Piece
from interpreter.recording.operations import Operation
from interpreter.recording.torch_calls import mutates, plain_name
from interpreter.recording.trace import same

# What they write does not depend on what was there.
OVERWRITING = {"copy_", "fill_", "zero_", "index_copy_", "index_fill_", "masked_fill_", "__setitem__"}


def plan(compiled, earlier: list[Operation], job, fakes: Fakes, outside):
    """Note which memory has to be put back where the call is left: in the compiled form, and in the recorded segments
    that serve where it doesn't fit. `earlier` are the operations before it, `outside` the memory of the inputs. Raises
    Unfit where the call could be left after a change that can't be taken back."""
    operations = [each for segment in compiled.origin for each in segment.operations]
    reason = lasting(compiled, operations, fakes, outside)
    if reason is not None:
        raise Unfit(f"tensors from outside the call are changed {reason}")
    written = written_by(operations, fakes, outside)
    inside = [each for piece in compiled.pieces for each in piece.operations]
    compiled.redone = frozenset(each.index for each in inside if writes(each, fakes, outside))
    compiled.undo = places(
        {each for each in written if not repeatable(each, [*earlier, *operations], fakes)}, job, fakes
    )
    if job.gate is None:
        for segment in compiled.origin:
            done = segment.operations
            takeable = all(known(each, fakes, outside) for each in done)
            segment.redone = frozenset(each.index for each in done if writes(each, fakes, outside))
            segment.undo = places(written_by(done, fakes, outside), job, fakes) if takeable else None


def lasting(compiled, operations: list[Operation], fakes: Fakes, outside) -> str | None:
    """Why the call could be left after a change that can't be taken back; None where it can't."""
    for each in operations:
        if written_by([each], fakes, outside) & fakes.gradients.followed:
            return f"in a way that autograd follows ({each}, at {each.where}), which can't be taken back"
    changed = None
    for step in compiled.steps:
        if changed is not None and not (
            type(step) is Operation and (step.number or step.element or step.function is same)
        ):
            return (
                f"by what is no part of a graph ({changed}, at {changed.where}) before something that may fail "
                f"({describe(step, fakes)})"
            )
        if type(step) is Operation and not known(step, fakes, outside):
            changed = step
    if changed is not None and compiled.check is not None:
        return f"by what is no part of a graph ({changed}, at {changed.where}) before a check: {compiled.check}"
    return None


def places(memories: set, job, fakes: Fakes) -> tuple[int, ...]:
    """The numbers of the inputs whose memory is one of these."""
    return tuple(
        job.inputs[identity]
        for identity, fake in fakes.inputs.items()
        if isinstance(fake, torch.Tensor) and memory(fake) in memories
    )


def describe(step, fakes: Fakes) -> str:
    """A step, with its line and why it is no part of a graph."""
    if type(step) is Piece:
        return f"a graph that begins with {step.operations[0]}, at {step.operations[0].where}"
    reason = fakes.reasons.get(step.index)
    return f"{step}, at {step.where}" + (f": {reason}" if reason else "")


def writes(operation: Operation, fakes: Fakes, outside) -> bool:
    """Whether an operation writes to memory from outside."""
    return any(memory(value) in outside for value in fakes.written.get(operation.index, ()))


def written_by(operations, fakes: Fakes, outside) -> set:
    """The memories from outside that operations write to."""
    return {memory(value) for each in operations for value in fakes.written.get(each.index, ())} & outside


def known(operation: Operation, fakes: Fakes, outside) -> bool:
    """Whether it is known what an operation writes outside the call, so that it can be taken back: a graph's writes
    are; a change to a tensor object is none to its memory, and random numbers would be drawn again."""
    if writes(operation, fakes, outside):
        return fakes.in_graph[operation.index] and not draws(operation)
    return not (operation.effect and mutates(operation.function, operation.kwargs))


def repeatable(shared, operations: list[Operation], fakes: Fakes) -> bool:
    """Whether doing the operations again, after all or a part of them, leaves the same in a memory: it is only
    overwritten before it is read."""
    read = False
    for operation in operations:
        if operation.number or operation.element:
            continue
        target, *others = [holds(value_of(part, fakes), shared) for part in (*operation.args, operation.kwargs)]
        if any(memory(value) == shared for value in fakes.written.get(operation.index, ())):
            if read or any(others) or plain_name(operation.function) not in OVERWRITING:
                return False
        elif any(others) or target and not is_view(operation, shared, fakes):
            read = True
    return True


def is_view(operation: Operation, shared, fakes: Fakes) -> bool:
    """Whether an operation only gives another view of a memory."""
    found = list(tensors_in(fakes.values[operation.index]))
    return bool(found) and all(memory(value) == shared for value in found)


def holds(value, shared) -> bool:
    return value is UNKNOWN or any(memory(tensor) == shared for tensor in tensors_in(value))


def value_of(template, fakes: Fakes):
    """The fake that a template stands for; UNKNOWN where there is none."""
    if type(template) is dict:
        found = [value_of(part, fakes) for part in template.values()]
        return UNKNOWN if UNKNOWN in found else found
    try:
        return fakes.value(template)
    except Unfit:
        return UNKNOWN


def copied(numbers, inputs) -> list:
    """The memories of these inputs, each with a copy of what it holds now."""
    storages = {storage._cdata: storage for storage in (inputs[number].untyped_storage() for number in numbers)}
    return [(storage, storage.clone()) for storage in storages.values()]


def put_back(copies: list):
    """Let memories hold again what they held. Autograd is not told: for it nothing has happened."""
    for storage, copy in reversed(copies):
        storage.copy_(copy)
