"""What this machine's noise looks like during a run: eager against eager (A/A), on a few of the run's own models."""

from __future__ import annotations

from harness.plan import Cell

#: How many models are timed against themselves: the first, the middle and the last of the plan.
MODELS = 3


def cells(plan: list[Cell]) -> list[Cell]:
    """A/A cells for the plan. They are no part of it."""
    if not plan:
        return []
    places = sorted({0, len(plan) // 2, len(plan) - 1})
    return list(dict.fromkeys(Cell(c.model, c.workload, "eager", "eager", c.dtype, c.device, c.scale, c.depth)
                              for c in (plan[place] for place in places)))[:MODELS]


def summary(rows: list[dict]) -> dict | None:
    """The smallest change of a ratio that the run could have seen, as a part of it: how far A/A intervals reach from 1.

    None where nothing could be timed.
    """
    timed = [row for row in rows if row["ratio"]]
    if not timed:
        return None
    reach = [max(abs(row["ratio_high"] - 1), abs(1 - row["ratio_low"])) for row in timed]
    return {"smallest_change": max(reach),
            "cells": [{"cell": row["cell"], "ratio": row["ratio"], "low": row["ratio_low"], "high": row["ratio_high"]}
                      for row in timed]}
