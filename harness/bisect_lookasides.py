"""Which lookasides make or cure a failure of a cell: the smallest set whose removal changes what becomes of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from harness import runner
from harness.bench import Prepared
from harness.bisect import smallest
from harness.errors import UsageError
from harness.measure import Options
from harness.plan import Cell


@dataclass
class Culprits:
    """The lookasides, and the cell's row with and without them."""

    names: list[str]
    with_all: dict
    without: dict
    tried: int


def bisect_lookasides(cell: Cell, prepared: Prepared, options: Options, say) -> Culprits:
    """Searches among the lookasides that the cell uses. UsageError: its status is the same with none of them."""
    tried = 0

    def run(without) -> tuple[dict, list[dict]]:
        nonlocal tried
        tried += 1
        settings = dataclasses.replace(options, timed=False, without=tuple(without))
        [(row, details)] = list(runner.run([cell], prepared.models, prepared.subjects, settings,
                                           refused=prepared.refused))
        return row, details.get("ledger", [])

    from interpreter.lookasides import lookasides
    whole, _ = run(())
    names = list(lookasides())
    without_all, _ = run(names)
    if outcome(whole) == outcome(without_all):
        raise UsageError(f"{cell.id} is {outcome(whole)[0]} with and without lookasides: they are not the cause")
    say(f"{outcome(whole)[0]} with all {len(names)} lookasides, {outcome(without_all)[0]} with none")

    def changes(some) -> bool:
        row, _ = run(some)
        found = outcome(row) == outcome(without_all)
        say(f"without {len(some)} of them: {outcome(row)[0]}")
        return found

    found = smallest(names, changes)
    row, _ = run(found)
    return Culprits(sorted(found), whole, row, tried)


def outcome(row: dict) -> tuple[str, str]:
    """What became of a cell, as far as it can be the same twice."""
    return row["status"], row["parity"]
