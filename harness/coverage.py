"""Which callables took which route, where a recording had to end, and what moved between two runs."""

from __future__ import annotations

import pandas as pd

from harness.frames import Run

IDENTITY = ["model", "workload", "subject", "executor"]


def frame(run: Run, head: Run | None = None) -> pd.DataFrame:
    """Of one run: a row per cell, callable, route and line. Of two: a row per callable and line whose route moved.

    Columns of one: model, workload, subject, executor, callable, route, calls, where, sharp. Of two: model, workload,
    subject, executor, callable, where, base, head (routes, "sharp" added where a recording ended there, "" where the
    callable was not called), base_calls, head_calls, change (moved, gained, lost).
    """
    return of_one(run) if head is None else of_two(run, head)


def of_one(run: Run) -> pd.DataFrame:
    columns = [*IDENTITY, "callable", "route", "calls", "where", "sharp"]
    if run.ledger.empty:
        return pd.DataFrame(columns=columns)
    return run.ledger.merge(run.cells[["cell", *IDENTITY]], on="cell")[columns]


def of_two(base: Run, head: Run) -> pd.DataFrame:
    columns = ["cell", *IDENTITY, "callable", "where", "base", "head", "base_calls", "head_calls", "change"]
    shared = set(base.cells["cell"]) & set(head.cells["cell"])
    before, after = routes_by_site(base, shared), routes_by_site(head, shared)
    names = {row["cell"]: {key: row[key] for key in IDENTITY} for row in head.cells.to_dict("records")}
    rows = []
    for site in sorted({*before, *after}):
        (was, was_calls), (now, now_calls) = before.get(site, ("", 0)), after.get(site, ("", 0))
        if was == now:
            continue
        cell, callable_, where = site
        change = "moved" if was and now else "gained" if now else "lost"
        rows.append({"cell": cell, **names[cell], "callable": callable_, "where": where, "base": was, "head": now,
                     "base_calls": was_calls, "head_calls": now_calls, "change": change})
    order = {"moved": 0, "lost": 1, "gained": 2}
    rows.sort(key=lambda row: (order[row["change"]], "lookaside" not in row["base"], row["callable"], row["cell"]))
    return pd.DataFrame(rows, columns=columns)


def routes_by_site(run: Run, cells: set[str]) -> dict[tuple, tuple[str, int]]:
    """(cell, callable, line) -> (routes taken there, calls)."""
    found: dict[tuple, tuple[set, int]] = {}
    for row in run.ledger.to_dict("records"):
        if row["cell"] not in cells:
            continue
        site = (row["cell"], row["callable"], row["where"] or "")
        routes, calls = found.get(site, (set(), 0))
        found[site] = (routes | {row["route"] + (" sharp" if row["sharp"] else "")}, calls + row["calls"])
    return {site: (" and ".join(sorted(routes)), calls) for site, (routes, calls) in found.items()}


def by_model(run: Run) -> pd.DataFrame:
    """A row per cell: calls by route and sharp edges."""
    ledger = of_one(run)
    if ledger.empty:
        return pd.DataFrame(columns=[*IDENTITY, "sharp"])
    table = ledger.pivot_table(index=IDENTITY, columns="route", values="calls", aggfunc="sum", fill_value=0, sort=False)
    table["sharp"] = ledger.groupby(IDENTITY, sort=False)["sharp"].sum()
    return table.reset_index().rename_axis(None, axis=1)


def cures(run: Run) -> pd.DataFrame:
    """Which missing lookasides would remove most sharp edges, best first.

    `alone` is the number of cells of which the callable is the only sharp edge: a lookaside for it would make those
    whole. `cells` counts all cells that it cuts.
    """
    columns = ["callable", "alone", "cells", "calls", "where"]
    ledger = run.ledger
    if ledger.empty or not ledger["sharp"].astype(bool).any():
        return pd.DataFrame(columns=columns)
    sharp = ledger[ledger["sharp"].astype(bool)]
    culprits = sharp.groupby("cell")["callable"].agg(frozenset)
    rows = []
    for name, group in sharp.groupby("callable"):
        rows.append({"callable": name, "alone": sum(names == {name} for names in culprits),
                     "cells": group["cell"].nunique(), "calls": int(group["calls"].sum()),
                     "where": ", ".join(sorted(set(group["where"]))[:3])})
    return pd.DataFrame(rows, columns=columns).sort_values(["alone", "cells", "calls"], ascending=False)


def missing_ledgers(run: Run) -> list[str]:
    """Cells of the interpreter that have no ledger: their coverage is not known, which is not the same as good."""
    interpreted = run.cells[run.cells["subject"] == "interpreter"]["cell"]
    return sorted(set(interpreted) - set(run.ledger["cell"]))


def summary_by_callable(moved: pd.DataFrame) -> pd.DataFrame:
    """Of two runs: a row per callable, with the models in which it moved and the lines."""
    columns = ["callable", "base", "head", "cells", "models", "where"]
    if moved.empty:
        return pd.DataFrame(columns=columns)
    grouped = moved.groupby(["callable", "base", "head"], sort=False)
    found = grouped.agg(cells=("cell", "nunique"), models=("model", few), where=("where", few)).reset_index()
    return found[columns]


def of_the_user(moved: pd.DataFrame) -> pd.DataFrame:
    """Without the calls that the interpreter's own lookasides make: those follow from the user's."""
    return moved[~moved["where"].astype(str).str.startswith("interpreter/")] if len(moved) else moved


def few(values, most: int = 4) -> str:
    """The first few of the different values, and how many more there are."""
    different = list(dict.fromkeys(value for value in values if value))
    more = f" and {len(different) - most} more" if len(different) > most else ""
    return ", ".join(different[:most]) + more


def got_worse(moved: pd.DataFrame) -> bool:
    """Whether a route was lost: something became a sharp edge, or opaque where it was not."""
    if moved.empty:
        return False
    return any(("sharp" in row["head"] and "sharp" not in row["base"])
               or (row["change"] == "moved" and "opaque" in row["head"] and "opaque" not in row["base"])
               for row in moved.to_dict("records"))
