"""Runs as pandas frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from harness.errors import UsageError
from harness.plan import Cell
from harness.row import BLANK, STATUSES
from harness.store import DETAILS, read_info, read_lines


@dataclass(repr=False)
class Run:
    """A run, read back. Frames have a row per cell (`cells`), per call site (`ledger`), per sample (`samples`)."""

    folder: Path
    info: dict
    cells: pd.DataFrame
    ledger: pd.DataFrame
    samples: pd.DataFrame
    programs: dict[str, str] = field(default_factory=dict)

    def __repr__(self):
        counts = ", ".join(f"{count} {status}" for status, count in self.counts().items() if count)
        return f"<run in {self.folder}: {counts}>"

    @property
    def plan(self) -> list[Cell]:
        return [Cell.fromdict(values) for values in self.info["plan"]]

    @property
    def missing(self) -> list[str]:
        """Ids of planned cells that have no row."""
        there = set(self.cells["cell"])
        return [cell.id for cell in self.plan if cell.id not in there]

    def counts(self) -> dict[str, int]:
        """Cells by status, all statuses named, and `missing`: they add up to the plan."""
        found = self.cells["status"].value_counts()
        return {**{status: int(found.get(status, 0)) for status in STATUSES}, "missing": len(self.missing)}


def load(folder) -> Run:
    """The run in `folder`, whether it is finished, going on or was killed; or a file that pytest-benchmark saved.

    Raises UsageError where there is no run.
    """
    folder = Path(folder)
    if folder.is_file():
        from harness.saved import read
        info, rows, samples = read(folder)
        return assemble(folder, info, rows, {"samples": samples})
    info = read_info(folder)
    details = {name: read_lines(folder / f"{name}.jsonl") for name in DETAILS}
    return assemble(folder, info, read_lines(folder / "cells.jsonl"), details)


def assemble(place: Path, info: dict, rows: list[dict], details: dict[str, list[dict]]) -> Run:
    """Frames from lines: rows in the order of the plan, one each, with those details that belong to them."""
    order = {Cell.fromdict(values).id: number for number, values in enumerate(info["plan"])}
    rows = [row for row in rows if row.get("cell") in order and row.get("status") in STATUSES]
    rows = sorted({row["cell"]: row for row in rows}.values(), key=lambda row: order[row["cell"]])
    done = {row["cell"] for row in rows}
    details = {name: [line for line in details.get(name, []) if line.get("cell") in done] for name in DETAILS}
    samples = [{"cell": line["cell"], "number": number, "eager_s": eager, "run_s": run} for line in details["samples"]
               for number, (eager, run) in enumerate(zip(line["eager_s"], line["run_s"]))]
    return Run(place, info, frame(rows, ["cell", *Cell.__dataclass_fields__, "family", *BLANK]),
               frame(details["ledger"], ["cell", "callable", "route", "calls", "where", "sharp"]),
               frame(samples, ["cell", "number", "eager_s", "run_s"]),
               {line["cell"]: line["program"] for line in details["programs"]})


def newest(folder: Path) -> Path:
    """The run in `folder` that was begun last. UsageError: there is none."""
    runs = [path.parent for path in folder.glob("*/run.json")]
    if not runs:
        raise UsageError(f"{folder} holds no run yet: make one by `python -m harness run`, or name another folder")
    return max(runs, key=lambda run: read_info(run)["started"])


def frame(rows: list[dict], columns: list[str]) -> pd.DataFrame:
    """The rows with these columns first, and any further ones that they have."""
    more = dict.fromkeys(key for row in rows for key in row if key not in columns)
    return pd.DataFrame(rows, columns=[*columns, *more])
