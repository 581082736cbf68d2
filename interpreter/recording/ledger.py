"""The ledger of a recording: it also knows which calls were sharp edges."""

from __future__ import annotations

from interpreter.vm.ledger import Ledger, qualified_name


class RecordingLedger(Ledger):
    """A ledger with sharp edges: calls of native code that could see or do what isn't recorded."""

    __slots__ = ("edges",)

    def __init__(self):
        super().__init__()
        self.edges: set = set()

    def sharp(self, callable, where):
        """The call of `callable` at the user's line `where` is a sharp edge."""
        self.edges.add((qualified_name(callable), str(where)))

    def rows(self):
        rows = super().rows()
        known = {(row["callable"], row["where"]) for row in rows}
        for row in rows:
            row["sharp"] = (row["callable"], row["where"]) in self.edges
        rows.extend({"callable": name, "route": "opaque", "calls": 1, "where": where, "sharp": True}
                    for name, where in sorted(self.edges - known))
        return rows
