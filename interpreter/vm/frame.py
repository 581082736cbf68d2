"""Frames: one for each call of a Python function in the machine, linked by ``back`` from callee to caller."""

from types import CellType

from .limits import host_depth
from .values import NULL

iterator_of = iter
"""Kept here, as the user's program may change its builtins while the machine runs."""


class Frame:
    """A call in progress.

    ``iterator`` runs over the decoded instructions; its ``__setstate__`` is a jump. ``hook``, where there is one, is
    asked what becomes of the value returned or the exception raised. ``ticks`` corrects the count of instructions by
    the jumps taken. ``handling`` is the exception that this very frame handles now. The slots ``generator``, ``owner``,
    ``priming`` and ``delegating`` are set for generators only, ``snapshot`` when ``locals()`` is called,
    ``traced`` while the program traces.
    """

    __slots__ = (
        "__weakref__", "back", "builtins", "code", "delegating", "depth", "fast", "function", "generator", "globals",
        "handling", "hook", "iterator", "machine", "namespace", "owner", "plan", "priming", "shown",
        "snapshot", "stack", "state", "ticks", "traced",
    )  # fmt: skip

    def __init__(self, machine, code, plan, function, global_names, builtin_names, fast, namespace=None):
        back = machine.frame
        self.machine, self.code, self.plan, self.function = machine, code, plan, function
        self.globals, self.builtins, self.fast, self.namespace = global_names, builtin_names, fast, namespace
        self.back = back
        self.depth = depth = back.depth + 1
        self.stack = []
        self.iterator = iterator_of(plan.instructions)
        self.handling = self.hook = self.shown = self.state = None
        self.ticks = 0
        if depth > machine.limit:
            raise RecursionError("maximum recursion depth exceeded")

    @property
    def index(self):
        """Index of the instruction that is being executed (-1 before the first)."""
        return self.plan.count - self.iterator.__length_hint__() - 1

    @property
    def offset(self):
        """Byte offset of the instruction that is being executed: CPython's ``f_lasti``."""
        restored = self.machine.restored
        if restored is not None and self.machine.frame is self:
            return restored
        index = self.index
        return self.plan.offsets[index] if index >= 0 else -1

    @property
    def line(self):
        """The user's line that is being executed."""
        return self.plan.line_at(self.code, self.offset) or self.code.co_firstlineno

    @property
    def where(self):
        """The user's line as ``file:line``."""
        return f"{self.code.co_filename}:{self.line}"

    def __repr__(self):
        return f"<interpreted frame of {self.code.co_qualname} at {self.where}>"

    def bound(self):
        """The names of bound local, cell and free variables with their values, in the order of the slots."""
        names, cells, found = self.plan.names, self.plan.cells, {}
        for name, value in zip(names, self.fast):
            if value is NULL:
                continue
            if name in cells and type(value) is CellType:
                try:
                    value = value.cell_contents
                except ValueError:
                    continue
            found[name] = value
        return found


class Root:
    """The lowest frame of a nested run: what it calls comes back here, and the loop ends as its iterator has nothing.

    ``drives`` is true where native code steps a generator: it is given the value that the generator returns.
    """

    __slots__ = ("back", "depth", "drives", "error", "handling", "iterator", "machine", "namespace", "stack")

    code = function = hook = generator = None

    def __init__(self, machine, back, handling=None):
        self.machine, self.back, self.handling = machine, back, handling
        self.depth = back.depth + 1 if back is not None else host_depth()
        self.stack, self.iterator, self.error, self.drives = [], iterator_of(()), None, False


__all__ = ["CellType", "Frame", "Root", "iterator_of"]
