"""The commit, or the lookasides, that a change of a cell's facts comes from."""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.bench import Prepared
from harness.errors import UsageError, nearest
from harness.measure import Options
from harness.plan import Cell
from harness.revisions import REPEATS, servers
from harness.row import COUNTERS
from harness.runner import leaving_on_signals
from harness.summary import known
from harness.worktrees import Revision, git, resolve, worktrees

#: Facts of a row, the one that is looked at first comes first.
FACTS = ("status", "parity", "tail", *COUNTERS, "raises", "first_difference", "program_hash")


@dataclass
class Measured:
    """What one revision gave: its row and ledger, or why it could not be run."""

    row: dict
    routes: dict[str, str]
    refused: str | None
    ratios: list[float]

    def value(self, fact: str):
        if fact.startswith("route:"):
            return self.routes.get(fact.removeprefix("route:"), "not called")
        if fact == "ratio":
            return statistics.median(self.ratios) if self.ratios else None
        value = self.row.get(fact)
        return value if known(value) else None


@dataclass
class Found:
    """The end of a search. `commits` has the first bad one, or those among which it must be where some were skipped."""

    fact: str
    commits: list[str]
    good: Measured
    bad: Measured
    steps: list[tuple[str, str]]


#: A name in a cell's id: of something in a file, which may lie in folders, or without any slash.
NAME = r"((?:.*?\.py:)?[^/]+)"
ID = re.compile(rf"{NAME}/([\w-]+)/{NAME}/{NAME}/(\w+)/(cpu|cuda:\d+)/(\w+?)(?:-(\d+))?")
SHORT = re.compile(rf"{NAME}/([\w-]+)")


def cell_of(text: str) -> Cell:
    """The cell of this id; "model/workload" stands for the interpreter with the eager executor. UsageError."""
    if found := SHORT.fullmatch(text):
        return Cell(found[1], found[2], "interpreter")
    if found := ID.fullmatch(text):
        model, workload, subject, executor, dtype, device, size, depth = found.groups()
        return Cell(model, workload, subject, executor, dtype, device, size, int(depth) if depth else None)
    raise UsageError(f"{text} is not a cell: expected MODEL/WORKLOAD, or an id as `run` prints them")


class Bench:
    """Runs one cell with the interpreters of revisions."""

    def __init__(self, cell: Cell, prepared: Prepared, options: Options, root: Path):
        self.cell, self.prepared, self.options, self.root = cell, prepared, options, root

    def measure(self, revision: Revision, fact: str | None = None) -> Measured:
        """The cell's facts. Times are taken only for the fact `ratio`, in several processes."""
        timed = fact == "ratio"
        options = dataclasses.replace(self.options, timed=timed)
        with (leaving_on_signals(), worktrees(self.root) as trees,
              servers([trees.interpreter(revision)], self.prepared) as [server]):
            refused = server.answer()["refused"].get(self.cell.subject)
            row, details = server.run(self.cell, options)
            rows = [row] + [server.run(self.cell, options)[0] for _ in range(REPEATS if timed else 0)]
        routes: dict[str, set[str]] = {}
        for line in details.get("ledger", []):
            routes.setdefault(line["callable"], set()).add(line["route"] + (" sharp" if line["sharp"] else ""))
        return Measured(row, {name: " and ".join(sorted(taken)) for name, taken in routes.items()}, refused,
                        [r["ratio"] for r in rows if r["ratio"]])


def differing(good: Measured, bad: Measured) -> list[str]:
    """The facts in which two measurements differ, the most telling first."""
    facts = [fact for fact in FACTS if good.value(fact) != bad.value(fact)]
    routes = [f"route:{name}" for name in sorted({*good.routes, *bad.routes})
              if good.routes.get(name) != bad.routes.get(name)]
    place = sum(fact in {"status", "parity", "tail"} for fact in facts)
    return [*facts[:place], *routes, *facts[place:]]


def bisect(cell: Cell, good: str, bad: str, prepared: Prepared, options: Options, root: Path, say,
           fact: str | None = None) -> Found:
    """The first commit after `good` up to `bad` in which the fact is no longer what it was at `good`.

    `fact` is a field of the row, "route:CALLABLE" or "ratio"; by default the most telling one that differs. Commits
    whose interpreter can't be run are skipped, as `git bisect skip` does. UsageError: the two don't differ in it.
    """
    bench = Bench(cell, prepared, options, root)
    ends = [resolve(name, root) for name in (good, bad)]
    if None in {end.commit for end in ends}:
        raise UsageError("bisect needs commits, not the working tree")
    at_good, at_bad = (bench.measure(end, fact) for end in ends)
    fact = chosen(fact, at_good, at_bad, good, bad)
    is_bad = judge(fact, at_good, at_bad)
    say(f"{fact}: {at_good.value(fact)} at {good}, {at_bad.value(fact)} at {bad}")
    steps: list[tuple[str, str]] = []

    def verdict(commit: str) -> str:
        found = bench.measure(Revision(commit, commit), fact)
        # A revision that can't run says nothing, unless not being able to run is what is searched for.
        word = "skip" if found.refused and not at_bad.refused else "bad" if is_bad(found) else "good"
        steps.append((commit, word))
        say(f"{commit[:12]} {word}: {found.refused or found.value(fact)}")
        return word

    commits = search(ends[0].commit or "", ends[1].commit or "", verdict, root)
    return Found(fact, commits, at_good, at_bad, steps)


def chosen(fact: str | None, good: Measured, bad: Measured, good_name: str, bad_name: str) -> str:
    """The fact to search by. UsageError: it is the same at both ends, or there is no such fact."""
    differ = differing(good, bad)
    if fact is None:
        if not differ:
            raise UsageError(f"no exact fact of the cell differs between {good_name} and {bad_name}; "
                             "--fact ratio searches by time")
        return differ[0]
    if fact != "ratio" and not fact.startswith("route:") and fact not in FACTS:
        raise UsageError(f"--fact {fact}: unknown{nearest(fact, [*FACTS, 'ratio'])}; or route:CALLABLE")
    if fact == "ratio":
        if not good.ratios or not bad.ratios or min(bad.ratios) <= max(good.ratios):
            raise UsageError(f"the times at {good_name} and {bad_name} don't lie apart: {good.ratios} and {bad.ratios}")
    elif fact not in differ:
        raise UsageError(f"{fact} is {good.value(fact)} at both {good_name} and {bad_name}"
                         + (f"; what differs: {', '.join(differ[:6])}" if differ else ""))
    return fact


def judge(fact: str, good: Measured, bad: Measured) -> Callable[[Measured], bool]:
    """Tells bad from good: an exact fact is bad once it is no longer what it was, a time when it is nearer to bad."""
    if fact == "ratio":
        middle = math.sqrt(good.value(fact) * bad.value(fact))
        return lambda found: (found.value(fact) or math.inf) > middle
    return lambda found: found.value(fact) != good.value(fact)


def search(good: str, bad: str, verdict: Callable[[str], str], root: Path) -> list[str]:
    """`git bisect` in a worktree of its own, which is removed afterwards. Returns the commits that it is left with.

    git gives status 2 when only skipped commits are left.
    """
    with leaving_on_signals(), worktrees(root) as trees:
        tree = trees.whole(bad)
        answer = git("bisect", "start", bad, good, "--", "interpreter", root=tree)
        while True:
            left = re.findall(r"^([0-9a-f]{40}) is the first bad commit", answer, re.MULTILINE)
            if left:
                return left
            if "'skip'ped commits left" in answer:
                return re.findall(r"^([0-9a-f]{40})$", answer, re.MULTILINE)
            commit = git("rev-parse", "HEAD", root=tree)
            answer = git("bisect", verdict(commit), root=tree, accepted=(0, 2))


def smallest(names: Sequence[str], holds: Callable[[Sequence[str]], bool]) -> list[str]:
    """A smallest subset of `names` for which `holds`, in the sense that no single name can be left out of it.

    Delta debugging: `holds(names)` must be true. Parts are left out while it holds, ever finer ones.
    """
    kept, parts = list(names), 2
    while len(kept) >= 2:
        size = math.ceil(len(kept) / parts)
        pieces = [kept[i:i + size] for i in range(0, len(kept), size)]
        for piece in pieces:
            rest = [name for name in kept if name not in piece]
            if len(pieces) <= 2 and holds(piece):
                kept, parts = piece, 2
                break
            if rest and holds(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(kept):
                break
            parts = min(len(kept), 2 * parts)
    return kept

