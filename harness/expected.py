"""What is known to fall short, and until when that is accepted: `models/expected.toml`.

    [[expected]]
    cell = "Gemma*/train/dynamo/*"                  # a glob over cell ids
    status = "raised"                               # or "skipped": the cell is then not run at all
    reason = "why"
    link = "an issue's number or address"
    until = 2027-03-01                              # from this day on it counts as falling short again

Expectations work both ways: a cell that passes although a failure was expected, and an entry whose day has come, are
errors too. So the list can only describe the present.
"""

from __future__ import annotations

import datetime
import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.row import STATUSES

DEFAULT = Path(__file__).resolve().parent.parent / "models" / "expected.toml"
KEYS = {"cell", "status", "reason", "link", "until"}


@dataclass(frozen=True)
class Expected:
    """One accepted failure."""

    cell: str
    status: str
    reason: str
    link: str
    until: datetime.date

    def covers(self, cell: str) -> bool:
        return fnmatch.fnmatchcase(cell, self.cell)

    def expired(self, today: datetime.date) -> bool:
        return today >= self.until

    def __str__(self):
        return f"{self.reason} ({self.link}, until {self.until})"


def read(path: Path | None = None) -> list[Expected]:
    """The entries of the file; none where there is no such file. UsageError: an entry that is not complete."""
    path = path or DEFAULT
    try:
        entries = tomllib.loads(path.read_text()).get("expected", [])
    except FileNotFoundError:
        return []
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    return [entry(path, number, values) for number, values in enumerate(entries, 1)]


def entry(path, number, values) -> Expected:
    wrong = [f"{key} is missing" for key in sorted(KEYS - values.keys())]
    wrong += [f"{key} is not known" for key in sorted(values.keys() - KEYS)]
    if not wrong and values["status"] not in STATUSES[1:]:
        wrong.append(f"status {values['status']!r} is none of {', '.join(STATUSES[1:])}")
    if not wrong and type(values["until"]) is not datetime.date:
        wrong.append(f"until {values['until']!r} is not a date such as 2027-03-01")
    wrong += [f"{key} is empty" for key in ("cell", "reason", "link") if not wrong and not str(values[key]).strip()]
    if wrong:
        raise UsageError(f"{path}, entry {number}: {'; '.join(wrong)}")
    return Expected(values["cell"], values["status"], values["reason"], str(values["link"]), values["until"])


def skips(cells, expected: list[Expected], today: datetime.date | None = None) -> dict[str, str]:
    """Cells that are not to be run, with the reason. An expired skip is none: the cell runs."""
    today = today or datetime.date.today()
    return {cell.id: str(e) for cell in cells for e in expected
            if e.status == "skipped" and e.covers(cell.id) and not e.expired(today)}


def shortcomings(rows: list[dict], missing: list[str], expected: list[Expected],
                 today: datetime.date | None = None) -> list[tuple[str, str]]:
    """All that makes a run fall short: (cell, why). Empty: everything that was planned is as it should be."""
    today = today or datetime.date.today()
    found = [(cell, "planned, but there is no row") for cell in missing]
    for row in rows:
        entries = [e for e in expected if e.covers(row["cell"])]
        live = [e for e in entries if not e.expired(today)]
        if row["status"] == "pass":
            found += [(row["cell"], f"passes, though it was expected to be {e.status}: take the entry out ({e.reason})")
                      for e in entries]
        elif not any(e.status == row["status"] for e in live):
            why = row["detail"] or row["status"]
            past = [f"; accepted only until {e.until} ({e.link})" for e in entries if e.expired(today)]
            other = [f"; {e.status} was expected" for e in live]
            found.append((row["cell"], f"{row['status']}: {why}" + "".join(past + other)))
    return found
