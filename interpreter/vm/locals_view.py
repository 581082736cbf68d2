"""``f_locals`` of 3.13 and later: a view of a frame's variables which reads and writes them as they are."""

from collections.abc import MutableMapping

from .frame import CellType, Frame
from .values import NULL


class LocalsView(MutableMapping):
    """The variables of an interpreted frame by name; names that it has no variable for are kept with the
    frame."""

    __slots__ = ("extra", "frame")

    def __init__(self, frame: Frame):
        self.frame = frame
        if frame.namespace is None and not hasattr(frame, "snapshot"):
            frame.snapshot = {}
        self.extra: dict = frame.snapshot if frame.namespace is None else frame.namespace

    def slot(self, name):
        """Index of the variable, or None."""
        names = self.frame.plan.names
        return names.index(name) if name in names else None

    def __getitem__(self, name):
        bound = self.frame.bound()
        if name in bound:
            return bound[name]
        return self.extra[name]

    def __setitem__(self, name, value):
        index, fast = self.slot(name), self.frame.fast
        if index is None or index >= len(fast):
            self.extra[name] = value
        elif name in self.frame.plan.cells and type(fast[index]) is CellType:
            fast[index].cell_contents = value
        else:
            fast[index] = value

    def __delitem__(self, name):
        if self.slot(name) is not None and self.frame.fast[self.slot(name)] is not NULL:
            raise ValueError("cannot remove local variables from FrameLocalsProxy")
        del self.extra[name]

    def __iter__(self):
        bound = self.frame.bound()
        yield from bound
        yield from (name for name in self.extra if name not in bound)

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return repr(dict(self))

    def copy(self):
        """A dict of the variables as they are now."""
        return dict(self)
