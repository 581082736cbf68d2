"""The prologue: whether an entry serves a call, and the program's inputs if it does.

It has three gears. *Cold*, right after recording, the guards are evaluated one by one: nothing is generated for a
program that may never be used again. The first time that all of them hold, a *snapshot* is taken (`warm.py`) and a
check is generated that proves most of them by the versions of the dicts they speak of. Where the dicts keep changing,
or their versions can't be had, all guards are *generated* (`generated.py`).
"""

from __future__ import annotations

from interpreter.recording import warm
from interpreter.recording.generated import Generator
from interpreter.recording.guards import Distinct, Guard, Same, other_state, why_not
from interpreter.recording.layout import Layout
from interpreter.recording.sources import Source

SNAPSHOTS = 12


class Prologue:
    """`check(args, kwargs)` returns the tuple of inputs, or None where a guard does not hold."""

    def __init__(self, checked: list[Guard], inputs: list[Source]):
        self.guards = checked
        self.layout = Layout(checked, inputs)
        self.snapshot: warm.Snapshot | None = None
        self.snapshots = 0
        self.seen_changing: set = set()
        self.volatile: set = set()
        self.text = ""
        self.check = self.cold

    def cold(self, args, kwargs):
        """Evaluate the guards one by one; where all hold, take a snapshot for the next call."""
        values = self.values(args, kwargs)
        if values is None:
            return None
        inputs = tuple(values[id(source)] for source in self.layout.inputs)
        self.warm_up(values)
        return inputs

    def values(self, args, kwargs) -> dict | None:
        """What is at each source, or None where a guard does not hold or a path can't be walked."""
        layout = self.layout
        try:
            if layout.state is not None and not (layout.state.guard.check() and other_state() == layout.state.others):
                return None
            if layout.call is not None and not (len(args) == layout.call.count and tuple(kwargs) == layout.call.names):
                return None
            values: dict = {}
            for node in layout.order:
                source = node.source
                value = (
                    source.take(values[id(source.parent)]) if source.parent is not None else source.walk((args, kwargs))
                )
                values[id(source)] = value
                for guard in node.guards:
                    if not guard.holds(value):
                        return None
            for guard in layout.relations:
                if not related(guard, [values[id(source)] for source in guard.all_sources()]):
                    return None
            if layout.tensors and not layout.tensor_check(*[values[id(guard.source)] for guard in layout.tensors]):
                return None
            return values
        except Exception:
            return None

    def warm_up(self, values):
        """Make the check for the calls to come."""
        self.snapshots += 1
        if not warm.AVAILABLE or self.snapshots > SNAPSHOTS:
            self.snapshot = None
            self.check, self.text = Generator(self.layout).write()
            return
        self.snapshot = warm.Snapshot(self.layout, values, self.volatile)
        generator = Generator(self.layout, self.snapshot)
        generator.names["changed"] = self.changed
        self.check, self.text = generator.write()

    def changed(self, args, kwargs):
        """Something is not as in the snapshot: the guards decide. A dict that has changed twice is volatile from then
        on.
        """
        changes = self.snapshot.changes() if self.snapshot is not None else set()
        self.volatile |= changes & self.seen_changing
        self.seen_changing |= changes
        return self.cold(args, kwargs)

    def relax(self):
        """Back to cold where the snapshot no longer fits: it holds on to modules that may be gone."""
        if self.snapshot is not None and not self.snapshot.fits():
            self.snapshot = None
            self.text = ""
            self.check = self.cold

    def explain(self, args, kwargs) -> str:
        """Why the prologue missed: the first guard that does not hold, with both values."""
        for guard in self.guards:
            text = why_not(guard, (args, kwargs))
            if text is not None:
                return text
        return "a guard that no longer fails when it is looked at again"

    def changed_sources(self, args, kwargs) -> list[Source]:
        """The sources of the guards that do not hold, but for what hangs on another of them."""
        found: list[Source] = []
        for guard in self.guards:
            source = guard.source
            if source is None or why_not(guard, (args, kwargs)) is None:
                continue
            above = source
            while above is not None and above not in found:
                above = above.parent
            if above is None:
                found.append(source)
        return found

    def failing(self, args, kwargs) -> Guard | None:
        """The first guard that does not hold."""
        for guard in self.guards:
            if why_not(guard, (args, kwargs)) is not None:
                return guard
        return None


def related(guard, values) -> bool:
    """Whether a guard between sources holds of their values."""
    if isinstance(guard, Same):
        return values[0] is values[1]
    assert isinstance(guard, Distinct)
    return len(set(map(id, values))) == len(values)
