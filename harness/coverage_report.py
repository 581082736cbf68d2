"""Shows coverage: of a run, or what moved between two."""

from __future__ import annotations

import json

import pandas as pd
from rich.text import Text

from harness import coverage
from harness.frames import Run
from harness.report import console, markdown_table, rich_table


def show_one(run: Run, form: str) -> int:
    """Routes by cell, totals by callable, and which lookasides would cure most. Returns 1 where edges are sharp."""
    ledger = coverage.of_one(run)
    cures, unknown = coverage.cures(run), coverage.missing_ledgers(run)
    totals = ledger.groupby(["callable", "route"], sort=False).agg(
        calls=("calls", "sum"), models=("model", "nunique"), where=("where", coverage.few)).reset_index()
    totals = totals[totals["route"] != "interpreted"].sort_values(["route", "calls"], ascending=[True, False])
    sections = [("By cell", coverage.by_model(run)), ("Callables that were not interpreted", totals),
                ("Sharp edges, by what a lookaside for them would make whole", cures)]
    sharp = int(ledger["sharp"].astype(bool).sum()) if len(ledger) else 0
    verdict = f"{sharp} sharp edges in {ledger['model'].nunique()} models" if sharp else "no sharp edge"
    if not len(ledger):
        verdict = "no subject of this run keeps a ledger"
    if unknown:
        verdict += f"; {len(unknown)} cells of the interpreter have no ledger: {coverage.few(unknown)}"
    show(verdict, sections, form)
    return 1 if sharp or unknown or not len(ledger) else 0


def show_two(base: Run, head: Run, form: str) -> int:
    """What moved, by callable. 1: something became opaque or a sharp edge that was not."""
    moved = coverage.frame(base, head)
    seen = coverage.of_the_user(moved)
    sections = [("Routes that moved", coverage.summary_by_callable(seen[seen["change"] == "moved"])),
                ("No longer called", coverage.summary_by_callable(seen[seen["change"] == "lost"])),
                ("Called anew", coverage.summary_by_callable(seen[seen["change"] == "gained"]))]
    worse = coverage.got_worse(moved)
    names = coverage.few(moved["callable"]) if len(moved) else ""
    verdict = f"{moved['callable'].nunique()} callables moved: {names}" if len(moved) else "nothing moved"
    show(verdict, sections, form)
    return 1 if worse else 0


def show_inventory(form: str) -> int:
    """Every callable written in C that a traced function is likely to meet, by status: opaque, lookaside, pure."""
    from interpreter.lookasides import inventory
    listed = pd.DataFrame(inventory.rows())
    sections = [(status, listed[listed["status"] == status].drop(columns="status"))
                for status in ("opaque", "lookaside", "pure")]
    counts = ", ".join(f"{len(frame)} {status}" for status, frame in sections)
    show(f"{len(listed)} callables written in C: {counts}", sections, form)
    return 0


def show(verdict: str, sections: list[tuple[str, pd.DataFrame]], form: str):
    if form == "json":
        tables = {title: json.loads(frame.to_json(orient="records")) for title, frame in sections}
        print(json.dumps({"verdict": verdict, **tables}, indent=1))
    elif form == "markdown":
        print(f"**{verdict}**\n")
        for title, frame in sections:
            if len(frame):
                print(f"<details><summary>{title} ({len(frame)})</summary>\n\n{markdown_table(frame)}\n\n</details>\n")
    else:
        out = console()
        for title, frame in sections:
            if len(frame):
                out.print(rich_table(frame, title=f"{title} ({len(frame)})"))
        out.print(Text(verdict))
