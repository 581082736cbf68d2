"""Shows a comparison: on the terminal, as Markdown for a job summary or a comment, as JSON."""

from __future__ import annotations

import jinja2
import pandas as pd
from rich.console import Console
from rich.text import Text

from harness import coverage
from harness.compare import Comparison, joined, to_json
from harness.report import console, markdown_cell, markdown_table, rich_table, templates

#: Lines of a program's difference that are shown; the JSON has them all.
DIFF_LINES = 60


def show(found: Comparison, form: str, out: Console | None = None):
    """Prints the comparison in one of the forms terminal, markdown, json."""
    if form == "json":
        print(to_json(found))
    elif form == "markdown":
        print(markdown(found))
    else:
        terminal(found, out or console())


def sections(found: Comparison) -> list[tuple[str, pd.DataFrame]]:
    """Titles and tables, worst first."""
    moved, times = coverage.of_the_user(found.frames["coverage"]), found.frames["times"]
    judged = times[times["verdict"] != ""] if len(times) else times
    return [
        ("Status and parity", found.frames["status"].drop(columns="worse")),
        ("Only in one run", found.frames["missing"]),
        ("Routes that moved", coverage.summary_by_callable(moved[moved["change"] == "moved"])),
        ("Callables gained and lost", coverage.summary_by_callable(moved[moved["change"] != "moved"])),
        ("Programs that changed", found.frames["programs"]),
        ("Recorded anew", found.frames["entries"]),
        ("Exact counts", found.frames["counters"].drop(columns="worse")),
        ("Times", judged.drop(columns=["base_low", "base_high", "head_low", "head_high"])),
    ]


def terminal(found: Comparison, out: Console):
    for title, frame in sections(found):
        if len(frame):
            out.print(rich_table(frame.head(40), title=f"{title} ({len(frame)})"))
    for cell, diff in list(found.diffs.items())[:3]:
        out.print(Text(f"{cell}:", style="bold"))
        out.print(Text("\n".join(diff.splitlines()[:DIFF_LINES])))
    for line in [*found.notes, *found.worse[:20]]:
        out.print(Text(line, style="red" if line in found.worse else ""))
    out.print(Text(found.verdict, style="green" if found.status == 0 else "red"))


def markdown(found: Comparison) -> str:
    environment = jinja2.Environment(loader=templates(), autoescape=False, trim_blocks=True)
    environment.filters.update(table=markdown_table, cell=markdown_cell)
    diffs = [(cell, "\n".join(diff.splitlines()[:DIFF_LINES])) for cell, diff in list(found.diffs.items())[:10]]
    return environment.get_template("compare.md.j2").render(
        c=found, sections=sections(found), diffs=diffs, cells=len(joined(found.base, found.head)))
