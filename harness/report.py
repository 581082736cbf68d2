"""Shows a run: tables on the terminal, report.md, report.html. What they say is worked out in summary.py."""

from __future__ import annotations

import contextlib
from pathlib import Path

import jinja2
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.coverage import few
from harness.summary import Summary, cost_of_tails, known

COLOURS = {"pass": "green", "bitwise": "green", "close": "cyan", "parity": "red", "raised": "red", "crash": "red",
           "timeout": "yellow", "oom": "yellow", "eager_failed": "magenta", "skipped": "dim"}


#: Runs of so few cells are shown with all that is known of each.
FEW = 4


def console() -> Console:
    """Standard output; wide enough for the tables where it is a file."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=200)


def terminal(summary: Summary, out: Console | None = None):
    """The end of a run: what fell short, the table, routes, sharp edges, and the verdict last, where it is seen."""
    out = out or console()
    out.print()
    out.print(rich_table(summary.table, styled=True))
    if len(summary.first_calls):
        out.print(rich_table(summary.first_calls, title="first call, ms"))
    if 0 < len(summary.run.cells) <= FEW:
        out.print(rich_table(facts(summary)))
        if len(stand_ins := by_callable(summary)):
            out.print(rich_table(stand_ins, title="callables that were not simply interpreted or operations"))
    if len(summary.growth):
        out.print(rich_table(growth_table(summary), title="growth with depth"))
    if len(summary.routes):
        out.print(rich_table(summary.routes, title="ledger"))
    if len(summary.edges):
        out.print(rich_table(summary.edges.head(12), title="sharp edges"))
    if cost := cost_of_tails(summary.run):
        out.print(cost)
    for why, cells in by_reason(summary.shortcomings).items():
        which = cells[0] if len(cells) == 1 else f"{len(cells)} cells ({cells[0]} ...)"
        out.print(Text(f"{which}: {why.splitlines()[0]}", style="red"))
    out.print(Text(summary.status_line))
    out.print(Text(summary.configurations))
    out.print(Text(summary.noise_line))
    if "BUSY" in summary.environment_line or "other processes" in summary.environment_line:
        out.print(Text(summary.environment_line, style="yellow"))
    out.print(Text(summary.verdict, style="red" if summary.shortcomings else "green"))


def by_reason(shortcomings: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The cells that share each reason: forty cells which lack one subject are one line."""
    found: dict[str, list[str]] = {}
    for cell, why in shortcomings:
        found.setdefault(why, []).append(cell)
    return found


def write(summary: Summary, folder: Path | None = None):
    """report.md and report.html into the run's folder; a saved file of benchmarks has none. OSError: no room for them,
    and then there is none rather than half of one.
    """
    folder = folder or summary.run.folder
    if not folder.is_dir():
        return
    for name in ("report.md", "report.html"):
        text = render(summary, name)
        try:
            (folder / name).write_text(text)
        except OSError:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
            raise


def render(summary: Summary, name: str) -> str:
    environment = jinja2.Environment(loader=templates(), autoescape=name.endswith(".html"), trim_blocks=True)
    environment.filters.update(table=markdown_table, html=html_table, cell=markdown_cell)
    return environment.get_template(f"{name}.j2").render(
        s=summary, figures=figures(summary), models=models(summary), growth=growth_table(summary),
        cost=cost_of_tails(summary.run))


def templates() -> jinja2.FileSystemLoader:
    return jinja2.FileSystemLoader(Path(__file__).parent / "templates")


def figures(summary: Summary) -> pd.DataFrame:
    """A line per cell with what was counted and measured, in units people read."""
    rows = []
    for row in summary.run.cells.to_dict("records"):
        interval = f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}" if known(row["ratio"]) else None
        first = " to ".join(text(scaled(row[key], 1e3)) for key in ("first_call_low", "first_call_high")
                            if known(row[key]))
        rows.append({
            "cell": row["cell"], "status": row["status"], "parity": row["parity"], "hits": row["hits"],
            "first call ms": scaled(row["first_call_s"], 1e3), "first 95 %": first or None,
            "cold ms": scaled(row["cold_call_s"], 1e3), "phases ms": phases_text(row), "by phases %": phases_share(row),
            "warm ms": scaled(row["run_s"], 1e3), "eager ms": scaled(row["eager_s"], 1e3),
            "ratio": scaled(row["ratio"], 1), "95 %": interval, "pays after": scaled(row["break_even"], 1),
            "peak KB": scaled(row["peak_bytes"], 1e-3), "eager peak KB": scaled(row["eager_peak_bytes"], 1e-3),
            "process MB": scaled(row["process_peak_bytes"], 1e-6),
            "instructions": row["instructions"], "native": row["native_instructions"], "graphs": row["graphs"],
            "operations": row["operations"], "guards": row["guards"], "checks": row["checks"],
            "entries": row["entries"], "sharp": row["sharp_edges"]})
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def facts(summary: Summary) -> pd.DataFrame:
    """The figures of a few cells, a column each."""
    cells = summary.run.cells
    shown = figures(summary).drop(columns=["cell", "status"])
    shown["tail"] = [tail if known(tail) else "none" for tail in cells["tail"]]
    turned = shown.T.reset_index()
    turned.columns = ["", *cells["cell"]]
    return turned


def by_callable(summary: Summary) -> pd.DataFrame:
    """Lookasides and opaque calls with the lines that made them, sharp edges first."""
    ledger = summary.run.ledger
    chosen = ledger[ledger["route"].isin(["lookaside", "opaque"])]
    if chosen.empty:
        return chosen
    grouped = chosen.groupby(["callable", "route", "sharp"], sort=False)
    found = grouped.agg(calls=("calls", "sum"), where=("where", few)).reset_index()
    return found.sort_values(["sharp", "route", "calls"], ascending=False)


def models(summary: Summary) -> pd.DataFrame:
    rows = [{"model": name, "family": m["family"], "stands for": len(m["stands_for"]) or "itself",
             "names": ", ".join(m["stands_for"][:6]) + (" ..." if len(m["stands_for"]) > 6 else "")}
            for name, m in summary.run.info.get("models", {}).items()]
    return pd.DataFrame(rows)


def growth_table(summary: Summary) -> pd.DataFrame:
    if not len(summary.growth):
        return summary.growth
    shown = summary.growth.copy()
    for column in ("fixed", "per_layer"):
        shown[column] = [f"{1e3 * v:.3g} ms" if q.endswith("_s") else f"{v:.0f}"
                         for v, q in zip(shown[column], shown["quantity"])]
    return shown


def phases_text(row: dict) -> str | None:
    """The phases of the first call that took any time, in their order."""
    phases = row["phases"] or {}
    return ", ".join(f"{name} {1e3 * seconds:.2f}" for name, seconds in phases.items() if seconds) or None


def phases_share(row: dict):
    """How much of the first call its phases account for, in percent: what is missing is time that nobody names."""
    if not row["phases"] or not known(row["first_call_s"]):
        return None
    return round(100 * sum(row["phases"].values()) / row["first_call_s"], 1)


def scaled(value, factor: float):
    return float(f"{value * factor:.3g}") if known(value) else None


def text(value) -> str:
    """A value in a table: nothing for nothing, whole numbers whole."""
    if not known(value):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def rich_table(frame: pd.DataFrame, *, title: str | None = None, styled: bool = False) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in frame.columns:
        table.add_column(str(column), overflow="fold")
    for values in frame.itertuples(index=False):
        cells = [text(value) for value in values]
        table.add_row(*(Text(cell, style=COLOURS.get(cell.split(" ")[0], "") if styled else "") for cell in cells))
    return table


def markdown_cell(value) -> str:
    return text(value).replace("|", "\\|").replace("\n", " ")


def markdown_table(frame: pd.DataFrame) -> str:
    lines = [[markdown_cell(c) for c in frame.columns], ["---"] * len(frame.columns)]
    lines += [[markdown_cell(value) for value in values] for values in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def html_table(frame: pd.DataFrame):
    escape = jinja2.utils.markupsafe.escape
    head = "".join(f"<th>{escape(column)}" for column in frame.columns)
    rows = "\n".join("<tr>" + "".join(html_cell(value) for value in values) for values in frame.itertuples(index=False))
    return jinja2.utils.markupsafe.Markup(f"<table><tr>{head}\n{rows}</table>")


def html_cell(value) -> str:
    shown = text(value)
    colour = COLOURS.get(shown.split(" ")[0])
    style = {"red": ' class="bad"', "green": ' class="good"'}.get(colour or "", "")
    return f"<td{style}>{jinja2.utils.markupsafe.escape(shown)}"
