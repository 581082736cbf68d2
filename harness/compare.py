"""What changed between two runs, worst first: facts that are exact, then times, as far as noise lets them be judged."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field

import pandas as pd

from harness import coverage
from harness.environment import incomparable
from harness.frames import Run
from harness.parity import CLASSES
from harness.row import COUNTERS
from harness.summary import known

#: Counters where fewer is better. `hits` is not one, and more operations or guards may be the price of a cure.
FEWER_IS_BETTER = ("instructions", "checks", "entries", "sharp_edges", "breaks", "graphs", "operations", "guards")
#: No time is called changed for less than this, whatever the run says of its noise: processes differ by a few percent.
LEAST_CHANGE = 0.05

SLOWER, WORSE, INCOMPARABLE = 3, 1, 4


@dataclass
class Comparison:
    """Two runs side by side. `frames` are named status, missing, coverage, programs, entries, counters, times."""

    base: Run
    head: Run
    names: tuple[str, str]
    frames: dict[str, pd.DataFrame]
    reasons: list[str]
    noise: float
    diffs: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    anyway: bool = False

    @property
    def worse(self) -> list[str]:
        """What got worse, as sentences; a run that has none of these did not fall short by its facts."""
        found = [f"{row['cell']}: {row['base']} became {row['head']}"
                 for row in self.frames["status"].to_dict("records") if row["worse"]]
        found += [f"{row['cell']}: only in {row['only_in']}" for row in self.frames["missing"].to_dict("records")
                  if row["only_in"] == self.names[0]]
        if coverage.got_worse(self.frames["coverage"]):
            found += [f"{row['callable']}: {row['base'] or 'not called'} became {row['head'] or 'not called'} "
                      f"in {row['models']} at {row['where']}"
                      for row in coverage.summary_by_callable(lost(self.frames["coverage"])).to_dict("records")]
        return found

    @property
    def slower(self) -> pd.DataFrame:
        times = self.frames["times"]
        return times[times["verdict"] == "slower"] if len(times) else times

    @property
    def changed(self) -> bool:
        """Whether anything at all differs beyond noise."""
        return any(len(frame) for name, frame in self.frames.items() if name != "times") or bool(
            len(self.frames["times"]) and (self.frames["times"]["verdict"] != "").any())

    @property
    def status(self) -> int:
        """The exit status: 4 where times can't be compared, unless that was allowed; then 1, then 3."""
        if self.reasons and not self.anyway:
            return INCOMPARABLE
        if self.worse:
            return WORSE
        return SLOWER if len(self.slower) and not self.reasons else 0

    @property
    def verdict(self) -> str:
        parts = []
        if self.reasons:
            parts.append(f"times can't be compared ({'; '.join(self.reasons)})")
        if self.worse:
            parts.append(f"{len(self.worse)} {'thing' if len(self.worse) == 1 else 'things'} got worse")
        if len(self.slower) and not self.reasons:
            parts.append(f"{len(self.slower)} cells got slower")
        if not parts:
            parts.append("nothing got worse" if self.changed else "nothing changed")
        return f"{self.names[0]} to {self.names[1]}: {', '.join(parts)}"


def lost(moved: pd.DataFrame) -> pd.DataFrame:
    """The rows of a coverage comparison that are for the worse."""
    keep = [coverage.got_worse(moved.iloc[[number]]) for number in range(len(moved))]
    return moved[keep]


def compare(base: Run, head: Run, names: tuple[str, str] = ("base", "head"), *, anyway: bool = False) -> Comparison:
    """Joins the cells of two runs by id and says what differs."""
    measured = [run.info["noise"]["smallest_change"] for run in (base, head) if run.info.get("noise")]
    noise = max([LEAST_CHANGE, *measured])
    reasons = incomparable(base.info["environment"], head.info["environment"])
    found = Comparison(base, head, names, {}, reasons, noise, anyway=anyway)
    pairs = joined(base, head)
    if not pairs and len(base.cells) and len(head.cells):
        reasons.append("no cell is in both runs")
    found.frames = {
        "status": statuses(pairs),
        "missing": missing(base, head, names),
        "coverage": coverage.frame(base, head),
        "programs": programs(pairs, base, head, found.diffs),
        "entries": entries(pairs),
        "counters": counters(pairs),
        "times": times(pairs, noise) if not reasons else times(pairs, noise).iloc[:0],
    }
    return found


def frames(base: Run, head: Run) -> dict[str, pd.DataFrame]:
    """The frames of a comparison: status, missing, coverage, programs, entries, counters, times."""
    return compare(base, head, anyway=True).frames


def joined(base: Run, head: Run) -> list[tuple[dict, dict]]:
    """Rows of cells that both have, in the order of the head's plan."""
    before = {row["cell"]: row for row in base.cells.to_dict("records")}
    return [(before[row["cell"]], row) for row in head.cells.to_dict("records") if row["cell"] in before]


def statuses(pairs) -> pd.DataFrame:
    """Cells whose status or parity class changed; those that got worse first."""
    columns = ["cell", "base", "head", "worse", "detail"]
    rows = []
    for was, now in pairs:
        if (was["status"], was["parity"]) == (now["status"], now["parity"]):
            continue
        rows.append({"cell": now["cell"], "base": describe(was), "head": describe(now), "worse": is_worse(was, now),
                     "detail": now["detail"] or was["detail"]})
    rows.sort(key=lambda row: not row["worse"])
    return pd.DataFrame(rows, columns=columns)


def describe(row) -> str:
    return row["parity"] if row["status"] == "pass" else row["status"]


def is_worse(was, now) -> bool:
    """A pass that is none any more or is less exact, or another failure than before."""
    if now["status"] != "pass":
        return was["status"] != now["status"]
    return was["status"] == "pass" and CLASSES.index(now["parity"]) > CLASSES.index(was["parity"])


def missing(base: Run, head: Run, names) -> pd.DataFrame:
    """Cells that only one of the runs has, planned or not."""
    a, b = set(base.cells["cell"]), set(head.cells["cell"])
    rows = [{"cell": cell, "only_in": names[0]} for cell in sorted(a - b)]
    rows += [{"cell": cell, "only_in": names[1]} for cell in sorted(b - a)]
    return pd.DataFrame(rows, columns=["cell", "only_in"])


def programs(pairs, base: Run, head: Run, diffs: dict[str, str]) -> pd.DataFrame:
    """Cells whose program is another; `diffs` gets the difference of the operations of each, as text."""
    rows = []
    for was, now in pairs:
        if known(was["program_hash"]) and known(now["program_hash"]) and was["program_hash"] != now["program_hash"]:
            before = base.programs.get(now["cell"], "").splitlines()
            after = head.programs.get(now["cell"], "").splitlines()
            lines = list(difflib.unified_diff(before, after, "base", "head", n=1, lineterm=""))
            diffs[now["cell"]] = "\n".join(lines)
            body = lines[2:]
            rows.append({"cell": now["cell"], "base": was["program_hash"], "head": now["program_hash"],
                         "removed": sum(line.startswith("-") for line in body),
                         "added": sum(line.startswith("+") for line in body)})
    return pd.DataFrame(rows, columns=["cell", "base", "head", "removed", "added"])


def entries(pairs) -> pd.DataFrame:
    """Cells that record more or fewer programs than before, and why earlier ones did not serve."""
    rows = [{"cell": now["cell"], "base": was["entries"], "head": now["entries"],
             "why": "; ".join((now["missed"] or was["missed"] or [])[:3])} for was, now in pairs
            if known(was["entries"]) and known(now["entries"]) and was["entries"] != now["entries"]]
    return pd.DataFrame(rows, columns=["cell", "base", "head", "why"])


def counters(pairs) -> pd.DataFrame:
    """Exact counts that differ, in cells that passed in both; the largest relative increase first."""
    rows = []
    for was, now in pairs:
        if was["status"] != "pass" or now["status"] != "pass":
            continue
        for counter in COUNTERS:
            a, b = was[counter], now[counter]
            if (known(a) or known(b)) and a != b:
                change = b / a - 1 if known(a) and known(b) and a else None
                rows.append({"cell": now["cell"], "counter": counter, "base": a, "head": b, "change": change,
                             "worse": counter in FEWER_IS_BETTER and known(a) and known(b) and b > a})
    rows.sort(key=lambda row: -(row["change"] or 0))
    return pd.DataFrame(rows, columns=["cell", "counter", "base", "head", "change", "worse"])


def times(pairs, noise: float) -> pd.DataFrame:
    """Warm calls, as ratios to eager. A verdict needs disjoint intervals and a change beyond what noise explains.

    `change` is the head's ratio over the base's. Where a run repeated a cell in several processes (`repeats` in its
    row), all of those of one side must lie beyond all of the other's.
    """
    rows = []
    for was, now in pairs:
        if was["status"] != "pass" or now["status"] != "pass" or not (known(was["ratio"]) and known(now["ratio"])):
            continue
        if was["subject"] == "eager":
            continue
        change = now["ratio"] / was["ratio"]
        verdict = ""
        if now["ratio_low"] > was["ratio_high"] * (1 + noise) and apart(now, was):
            verdict = "slower"
        elif now["ratio_high"] * (1 + noise) < was["ratio_low"] and apart(was, now):
            verdict = "faster"
        rows.append({"cell": now["cell"], "base": was["ratio"], "head": now["ratio"], "change": change,
                     "base_low": was["ratio_low"], "base_high": was["ratio_high"], "head_low": now["ratio_low"],
                     "head_high": now["ratio_high"], "verdict": verdict})
    order = {"slower": 0, "faster": 1, "": 2}
    rows.sort(key=lambda row: (order[row["verdict"]], -row["change"]))
    return pd.DataFrame(rows, columns=["cell", "base", "head", "change", "base_low", "base_high", "head_low",
                                       "head_high", "verdict"])


def apart(slow, fast) -> bool:
    """Whether each repetition of the one was slower than each of the other; true where there were no repetitions."""
    slow_all, fast_all = slow.get("repeats"), fast.get("repeats")
    if not isinstance(slow_all, list) or not isinstance(fast_all, list):
        return True
    return min(slow_all) > max(fast_all)


def to_json(found: Comparison) -> str:
    """All of it, for programs."""
    return json.dumps({
        "base": found.names[0], "head": found.names[1], "verdict": found.verdict, "exit_status": found.status,
        "incomparable": found.reasons, "noise": found.noise, "worse": found.worse, "notes": found.notes,
        "diffs": found.diffs,
        **{name: json.loads(frame.to_json(orient="records")) for name, frame in found.frames.items()},
    }, indent=1)
