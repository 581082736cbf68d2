"""A line per run and cell, kept for ever: `results/history/`, append-only JSON lines, one file per machine."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from pathlib import Path

import pandas as pd

from harness.compare import LEAST_CHANGE
from harness.environment import ROOT
from harness.errors import UsageError, nearest
from harness.frames import Run, load
from harness.store import read_lines
from harness.summary import known

FOLDER = ROOT / "results" / "history"
KEPT = ("cell", "model", "workload", "subject", "executor", "status", "parity", "instructions", "operations", "guards",
        "checks", "entries", "sharp_edges", "ratio", "ratio_low", "ratio_high", "first_call_s", "program_hash")
#: Facts in which a change is a step, however small.
EXACT = ("status", "parity", "instructions", "operations", "guards", "checks", "entries", "sharp_edges", "program_hash")


def machine_name(info: dict) -> str:
    """A name for the machine of a run, the same for the same machine: its processor, cores and device."""
    where = info["environment"]
    facts = [where["machine"].get(key) for key in ("cpu", "cores", "architecture")]
    facts.append(where.get("device", {}).get("name"))
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]
    words = "".join(c if c.isalnum() else "-" for c in (where["machine"]["cpu"] or "machine"))[:40].strip("-")
    return f"{words}-{digest}"


def lines(run: Run) -> list[dict]:
    """The run as lines of history."""
    where, git = run.info["environment"], run.info["environment"].get("git") or {}
    head = {"started": run.info["started"], "machine": machine_name(run.info), "commit": git.get("commit"),
            "dirty": bool(git) and any(state["dirty"] for room, state in git["rooms"].items() if room != "results"),
            "versions": where["packages"], "noise": (run.info.get("noise") or {}).get("smallest_change")}
    if run.info.get("revision"):
        head.update(commit=run.info["revision"]["commit"], dirty=run.info["revision"]["commit"] is None)
    return [{**head, **{key: row[key] if known(row[key]) else None for key in KEPT}}
            for row in run.cells.to_dict("records")]


def append(run: Run, folder: Path = FOLDER) -> Path:
    """Adds the run to its machine's file, once."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{machine_name(run.info)}.jsonl"
    there = {(line["started"], line["commit"]) for line in read_lines(path)}
    new = [line for line in lines(run) if (line["started"], line["commit"]) not in there]
    with open(path, "a") as file:
        file.write("".join(json.dumps(line) + "\n" for line in new))
    return path


def history(model: str, results: Path, folder: Path | None = None) -> pd.DataFrame:
    """All that is known of a model's cells: the history files and the runs in `results`, oldest first.

    `model` is a name, a glob, or a cell's id. `step` says what differs from the line before of the same cell and
    machine: exact facts by name, and the ratio where it moved beyond its interval and the runs' noise. UsageError:
    nothing is known of it.
    """
    folder = folder or results / "history"
    known_lines = [line for path in sorted(folder.glob("*.jsonl")) for line in read_lines(path)
                   if line.keys() >= {"started", "machine", "commit", *KEPT}]
    for path in sorted(results.glob("*/run.json")):
        run = load(path.parent)
        if not run.info["options"].get("without"):
            known_lines += lines(run)
    unique = {(line["started"], line["commit"], line["cell"]): line for line in known_lines}
    chosen = [line for line in unique.values() if model in {line["model"], line["cell"]}
              or fnmatch.fnmatchcase(line["model"].lower(), model.lower())]
    if not chosen:
        names = {line["model"] for line in unique.values()}
        raise UsageError(f"history: no stored run has {model!r}{nearest(model, names)}" if names
                         else f"history: no run is stored in {results}")
    chosen.sort(key=lambda line: (line["cell"], line["machine"], line["started"]))
    before: dict[tuple, dict] = {}
    for line in chosen:
        place = (line["cell"], line["machine"])
        line["step"] = step(before[place], line) if place in before else ""
        before[place] = line
    return pd.DataFrame(chosen)


def step(was: dict, now: dict) -> str:
    """What differs between two lines of one cell, in words."""
    parts = [f"{name} {was[name]} to {now[name]}" for name in EXACT if was[name] != now[name]]
    if was["ratio"] and now["ratio"]:
        noise = max(LEAST_CHANGE, was["noise"] or 0, now["noise"] or 0)
        if now["ratio_low"] > was["ratio_high"] * (1 + noise):
            parts.append(f"slower, {was['ratio']:.2f} to {now['ratio']:.2f}")
        if now["ratio_high"] * (1 + noise) < was["ratio_low"]:
            parts.append(f"faster, {was['ratio']:.2f} to {now['ratio']:.2f}")
    return ", ".join(parts)
