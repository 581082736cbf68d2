"""The user's line, kept cheaply and worked out when somebody asks."""

from __future__ import annotations


class Position:
    """A place in a code object: `str()` gives "file:line"."""

    __slots__ = ("code", "index", "plan")

    def __init__(self, frame):
        self.code = frame.code
        self.plan = frame.plan
        self.index = frame.index

    @property
    def line(self) -> int:
        return self.plan.line(self.code, self.index) or self.code.co_firstlineno

    def __str__(self):
        return f"{self.code.co_filename}:{self.line}"

    __repr__ = __str__
