"""What a run says, worked out once: the terminal, the Markdown and the HTML report show the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from harness import expected as expectations
from harness.frames import Run
from harness.growth import growth


@dataclass
class Summary:
    """The facts of a report. Frames may be empty; texts are complete sentences."""

    run: Run
    counts: dict[str, int]
    shortcomings: list[tuple[str, str]]
    noise: dict | None
    table: pd.DataFrame
    first_calls: pd.DataFrame
    routes: pd.DataFrame
    edges: pd.DataFrame
    tails: pd.DataFrame
    growth: pd.DataFrame

    @property
    def planned(self) -> int:
        return len(self.run.info["plan"])

    @property
    def verdict(self) -> str:
        passed = self.counts["pass"]
        text = f"{passed} of {self.planned} cells pass"
        if self.shortcomings:
            cells = len({cell for cell, _ in self.shortcomings})
            return f"{text}; {cells} {'falls' if cells == 1 else 'fall'} short of what is expected"
        return f"{text}, nothing falls short" if passed == self.planned else f"{text}, the others as expected"

    @property
    def status_line(self) -> str:
        """All statuses that occur, out of the plan."""
        parts = [f"{number} {status}" for status, number in self.counts.items() if number or status == "pass"]
        return f"{', '.join(parts)} (of {self.planned} planned)"

    @property
    def configurations(self) -> str:
        models = self.run.info.get("models", {})
        counted = [len(m["stands_for"]) for m in models.values() if m["stands_for"]]
        others = len(models) - len(counted)
        parts = []
        if counted:
            stand = "architecture stands" if len(counted) == 1 else "architectures stand"
            parts.append(f"{len(counted)} {stand} for {sum(counted)} configuration names")
        if others:
            parts.append("1 model stands for itself" if others == 1 else f"{others} models stand for themselves")
        if unknown := self.run.info.get("unknown_names"):
            parts.append(f"{len(unknown)} names of this LitGPT are stood for by no model: {', '.join(unknown)}")
        return "; ".join(parts)

    @property
    def noise_line(self) -> str:
        if not self.noise:
            return "noise was not measured"
        smallest = self.noise["smallest_change"]
        return (f"smallest change this run could have seen: {100 * smallest:.1f} % "
                f"(eager against eager, {len(self.noise['cells'])} times)")

    @property
    def environment_line(self) -> str:
        where = self.run.info["environment"]
        machine, load = where["machine"], where["load"]
        versions = ", ".join(f"{name} {version}" for name, version in where["packages"].items())
        busy = f"; the machine was BUSY (load {load['average']} before the run)" if load["busy"] else ""
        device = where.get("device", {})
        gpu = f", {device['name']} at {device['clock_sm']} MHz" if device.get("name") else ""
        if device.get("other_processes"):
            busy += f"; {device['other_processes']} other processes were on the GPU"
        return f"{machine['cpu']}, {machine['usable_cores']} cores{gpu}; Python {where['python']}, {versions}{busy}"

    @property
    def commit_line(self) -> str:
        git = self.run.info["environment"].get("git") or {}
        if not git:
            return "not in a git checkout"
        dirty = [room for room, state in git["rooms"].items() if state["dirty"] and room != "results"]
        return f"commit {git['commit'][:12]}" + (f", with uncommitted changes in {', '.join(dirty)}" if dirty else "")


def summarise(run: Run, expected=None) -> Summary:
    """Works the run out. `expected` are the entries of models/expected.toml, read when they are not given."""
    expected = expectations.read() if expected is None else expected
    rows = run.cells.to_dict("records")
    return Summary(run, run.counts(), expectations.shortcomings(rows, run.missing, expected), run.info.get("noise"),
                   table(run, brief), first_calls(run), routes(run), edges(run), tails(run), growth(run.cells))


def table(run: Run, told: Callable[[dict], str]) -> pd.DataFrame:
    """A row per model and workload (and depth, dtype, scale where they vary), a column per subject and executor.

    `told` says what is shown of a cell.
    """
    cells = run.cells
    keys = [key for key in ("model", "workload", "dtype", "device", "scale", "depth")
            if key in {"model", "workload"} or cells[key].nunique(dropna=False) > 1]
    columns = list(dict.fromkeys(zip(cells["subject"], cells["executor"])))
    rows: dict[tuple, dict] = {}
    for cell in cells.to_dict("records"):
        key = tuple(cell[k] for k in keys)
        rows.setdefault(key, dict(zip(keys, key)))[f"{cell['subject']} {cell['executor']}"] = told(cell)
    return pd.DataFrame(list(rows.values()), columns=[*keys, *(f"{s} {e}" for s, e in columns)])


def first_calls(run: Run) -> pd.DataFrame:
    """The same rows and columns with the first calls, in milliseconds; empty where nothing is set side by side."""
    found = table(run, first)
    sides = run.cells[["subject", "executor"]].drop_duplicates()
    return found if len(sides) > 1 and run.cells["first_call_s"].notna().any() else found.iloc[:0]


def first(cell: dict) -> str:
    """The first call of a cell and its interval, in milliseconds."""
    if not known(cell["first_call_s"]):
        return ""
    text = f"{1e3 * cell['first_call_s']:.3g}"
    if known(cell["first_call_low"]):
        text += f" ({1e3 * cell['first_call_low']:.3g} to {1e3 * cell['first_call_high']:.3g})"
    return text


def brief(cell: dict) -> str:
    """A cell in a few words: parity and ratio where it passed, else its status."""
    if cell["status"] != "pass":
        return cell["status"]
    text = cell["parity"]
    if known(cell["raises"]):
        text += f" {cell['raises']}"
    if known(cell["ratio"]):
        text += f" {cell['ratio']:.2f}" + ("?" if cell["noisy"] else "")
    return text + (" tail" if known(cell["tail"]) else "")


def known(value) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def routes(run: Run) -> pd.DataFrame:
    """Calls by route, and how many callables took it, per subject."""
    if run.ledger.empty:
        return pd.DataFrame(columns=["subject", "route", "callables", "calls", "sharp"])
    ledger = run.ledger.merge(run.cells[["cell", "subject"]], on="cell")
    grouped = ledger.groupby(["subject", "route"], sort=True)
    return grouped.agg(callables=("callable", "nunique"), calls=("calls", "sum"), sharp=("sharp", "sum")).reset_index()


def edges(run: Run) -> pd.DataFrame:
    """Sharp edges: the callable, the user's line, in how many cells, calls, and the worst ratio of those cells."""
    columns = ["callable", "route", "where", "cells", "calls", "models", "ratio"]
    ledger = run.ledger
    if ledger.empty:
        return pd.DataFrame(columns=columns)
    sharp = ledger[ledger["sharp"].astype(bool)].merge(run.cells[["cell", "model", "ratio"]], on="cell")
    if sharp.empty:
        return pd.DataFrame(columns=columns)
    grouped = sharp.groupby(["callable", "route", "where"], sort=False)
    found = grouped.agg(cells=("cell", "nunique"), calls=("calls", "sum"),
                        models=("model", lambda m: ", ".join(sorted(set(m))[:4])), ratio=("ratio", "median"))
    return found.reset_index().sort_values(["cells", "calls"], ascending=False)[columns]


def tails(run: Run) -> pd.DataFrame:
    """Cells whose calls run unrecorded every time, and why: what it costs is their ratio beside the others'."""
    cells = run.cells
    return cells[cells["tail"].notna() & cells["raises"].isna()][["cell", "tail", "ratio", "ratio_low", "ratio_high"]]


def cost_of_tails(run: Run) -> str:
    """What tails cost, as a sentence; "" where there are none."""
    cells = run.cells[run.cells["subject"] != "eager"]
    timed = cells[cells["ratio"].notna()]
    cut, whole = timed[timed["tail"].notna()]["ratio"], timed[timed["tail"].isna()]["ratio"]
    number = len(tails(run))
    if not number:
        return ""
    text = "1 cell has" if number == 1 else f"{number} cells have"
    text += " a part that is not recorded and runs as it is on every call"
    if len(cut):
        text += f"; the median ratio to eager there is {cut.astype(float).median():.2f}"
        text += f", where that of the others is {whole.astype(float).median():.2f}" if len(whole) else ""
    return text + "."

