"""The current commit beside the last night's: run both, compare, report, and add a line to the history."""

from __future__ import annotations

import json
from pathlib import Path

from harness import compare, compare_report, history, report
from harness.bench import Prepared
from harness.environment import ROOT
from harness.errors import UsageError
from harness.measure import Options
from harness.revisions import run_both
from harness.store import read_lines
from harness.summary import summarise
from harness.worktrees import Revision, git, resolve

MARK = "nightly.json"


def nightly(prepared: Prepared, options: Options, say, *, root: Path = ROOT, results: Path | None = None,
            base: str | None = None, head: str = "HEAD") -> int:
    """Runs the plan on `head` and on the last night's commit (or `base`), in turn, and returns the comparison's status.

    The first night has nothing to compare with: it takes the commit itself, which also shows that nothing is found
    where nothing is different. Written are `results/nightly/` with both runs' reports and the comparison as Markdown
    and JSON, a line of history per cell, and which commit was run.
    """
    results = results or root / "results"
    current = resolve(head, root)
    last = resolve(base or last_commit(results, root) or head, root)
    names = (short(last), short(current))
    say(f"{names[0]} beside {names[1]}")
    before, after = run_both((last, current), prepared, options, say, root, results / "cache")
    found = compare.compare(before, after, names)
    folder = results / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.md").write_text(compare_report.markdown(found))
    (folder / "compare.json").write_text(compare.to_json(found))
    summary = summarise(after)
    report.write(summary, folder)
    history.append(after, results / "history")
    (results / "history" / MARK).write_text(json.dumps({"commit": current.commit}) + "\n")
    report.terminal(summary)
    compare_report.show(found, "terminal")
    say(str(folder / "compare.md"))
    if found.status:
        return found.status
    return 1 if summary.shortcomings else 0


def last_commit(results: Path, root: Path) -> str | None:
    """The commit of the last night, if it is still there: after a history was rewritten it may not be."""
    marks = read_lines(results / "history" / MARK)
    if not marks or not marks[-1].get("commit"):
        return None
    try:
        return git("rev-parse", "--verify", "--quiet", f"{marks[-1]['commit']}^{{commit}}", root=root)
    except UsageError:
        return None


def short(revision: Revision) -> str:
    return revision.commit[:12] if revision.commit else revision.name
