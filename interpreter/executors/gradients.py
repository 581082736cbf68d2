"""Which fake values need a gradient, and since which operation: a tensor comes to need one when it is written to.

A fake is one object from the first operation to the last, so what it is like at the end says nothing of what a graph in
the middle takes and gives. A graph does not write to what it takes where autograd follows the write: AOTAutograd writes
the final value back without its history where the graph took a leaf or what needed no gradient, and over what it has
saved for the backward pass.
"""

from __future__ import annotations

from interpreter.executors.fake_values import history, memory, tensors_in


class Gradients:
    """What is known of the gradients of fakes. `followed` is the memory to which writes are followed by autograd,
    `writes` that of each operation."""

    def __init__(self):
        self.followed: set = set()
        self.writes: dict[int, set] = {}
        self.changes: dict[int, list[tuple[int, bool]]] = {}  # by a fake's id: since when it needs one, or none

    def note(self, index: int, values):
        """Note which of the values came to need a gradient, or to need none, by the operation at `index`; -1 is before
        the first."""
        for value in tensors_in(values):
            known = self.changes.setdefault(id(value), [])
            if not known or known[-1][1] is not value.requires_grad:
                known.append((index, value.requires_grad))

    def needed(self, value, index: int) -> bool:
        """Whether a fake needed a gradient when the operation at `index` had been done."""
        return next((needs for since, needs in reversed(self.changes[id(value)]) if since <= index), False)

    def follow(self, index: int, before, values: list) -> bool:
        """Note what autograd follows of an operation: `before` has the tensors it was given and their histories then,
        `values` all there are. False where it leaves tensors that need a gradient and others that need none in one
        memory: results that are views of each other could not be made so."""
        followed = {memory(value) for value, _, node in before if history(value) is not node}
        if not followed:
            return True
        self.followed |= followed
        self.writes[index] = followed
        self.note(index, values)
        return len({value.requires_grad for value in tensors_in(values) if memory(value) in followed}) < 2
