"""The ratchet: the exact facts that a commit is held against, in `results/baseline/`, one readable file per family.

Facts are those that do not depend on the machine's speed: status, parity class, counters, and the routes of callables
that are not interpreted. They may only get better, and when they do, `make baseline` belongs to the same change. They
hold for the versions they were taken with; under others nothing is judged, and that is said.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.compare import FEWER_IS_BETTER
from harness.environment import ROOT
from harness.frames import Run
from harness.parity import CLASSES
from harness.plan import Cell
from harness.summary import known

FOLDER = ROOT / "results" / "baseline"
#: The counters that are kept. Those of CPython itself are not ours to hold.
KEPT = (*FEWER_IS_BETTER, "hits")
#: Routes of which single callables are kept; of the others the number of calls.
BY_NAME = ("lookaside", "opaque")


def versions(run: Run) -> dict:
    """What the facts depend on besides this repository."""
    where = run.info["environment"]
    python = ".".join(where["python"].split(".")[:2])
    return {"python": python, **{name: where["packages"].get(name) for name in ("torch", "litgpt")}}


def facts(run: Run) -> dict[str, dict[str, dict]]:
    """Family -> "model/workload" -> facts, of the interpreter's cells with the eager executor at the usual size."""
    calls: dict[str, dict] = {}
    for line in run.ledger.to_dict("records"):
        routes = calls.setdefault(line["cell"], {})
        if line["route"] in BY_NAME:
            name = line["callable"] + (" (sharp)" if line["sharp"] else "")
            by_name = routes.setdefault(line["route"], {})
            by_name[name] = by_name.get(name, 0) + line["calls"]
        else:
            routes[line["route"]] = routes.get(line["route"], 0) + line["calls"]
    found: dict[str, dict[str, dict]] = {}
    for row in run.cells.to_dict("records"):
        if not usual(row):
            continue
        kept = {name: int(row[name]) for name in KEPT if known(row[name])}
        entry = {"status": row["status"], "parity": row["parity"], **kept}
        if known(row["tail"]):
            entry["tail"] = row["tail"]
        routes = calls.get(row["cell"], {})
        entry["routes"] = {route: dict(sorted(value.items())) if isinstance(value, dict) else value
                           for route, value in sorted(routes.items())}
        found.setdefault(row["family"], {})[f"{row['model']}/{row['workload']}"] = entry
    return found


def usual(row: dict) -> bool:
    plain = Cell(row["model"], row["workload"], "interpreter")
    return row["cell"] == plain.id and ".py:" not in row["model"]


def write(run: Run, folder: Path = FOLDER) -> list[Path]:
    """Writes the run's facts; entries of cells that the run does not have stay as they are. Returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for family, entries in facts(run).items():
        path = folder / f"{family}.json"
        whole = {**read_file(path), **entries}
        path.write_text(json.dumps(dict(sorted(whole.items())), indent=1) + "\n")
        paths.append(path)
    (folder / "versions.json").write_text(json.dumps(versions(run), indent=1) + "\n")
    return paths


def read_file(path: Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def check(run: Run, folder: Path = FOLDER) -> tuple[list[tuple[str, str]], str | None]:
    """What departs from the baseline, as (cell, sentence), and what could not be judged and why, if anything.

    A departure for the better is one too: it asks for `make baseline` in the same change. So does a model that is
    missing. Cells of workloads for which the baseline was never set are not judged: it holds those of `make bench`.
    """
    if not (folder / "versions.json").exists():
        return [], "there is no baseline yet (make baseline)"
    taken = read_file(folder / "versions.json")
    if taken != versions(run):
        return [], f"the baseline was taken with {spelled(taken)}, this run with {spelled(versions(run))}"
    found: list[tuple[str, str]] = []
    files = [path for path in folder.glob("*.json") if path.name != "versions.json"]
    held = {workload_of(name) for path in files for name in read_file(path)}
    others: list[str] = []
    for family, entries in facts(run).items():
        kept = read_file(folder / f"{family}.json")
        for name, now in entries.items():
            if workload_of(name) not in held:
                others.append(workload_of(name))
            elif name not in kept:
                found.append((name, "not in the baseline yet; make baseline"))
            elif kept[name] != now:
                found.append((name, departure(kept[name], now)))
    if others:
        cells = "1 cell" if len(others) == 1 else f"{len(others)} cells"
        return found, f"{cells} of workloads that it is not set for ({', '.join(sorted(set(others)))})"
    return found, None


def workload_of(name: str) -> str:
    """The workload of "model/workload"."""
    return name.rpartition("/")[2]


def spelled(taken: dict) -> str:
    return ", ".join(f"{name} {version}" for name, version in taken.items())


def departure(was: dict, now: dict) -> str:
    """What changed, and whether it is a regression or asks for a new baseline."""
    worse: list[str] = []
    better: list[str] = []
    if (was["status"], was["parity"]) != (now["status"], now["parity"]):
        text = f"{was['status']} {was['parity']} became {now['status']} {now['parity']}"
        lower = now["status"] != "pass" or (was["status"] == "pass"
                                            and CLASSES.index(now["parity"]) > CLASSES.index(was["parity"]))
        (worse if lower else better).append(text)
    for name in KEPT:
        if was.get(name) != now.get(name):
            fewer = (now.get(name) or 0) < (was.get(name) or 0)
            text = f"{name} {was.get(name)} became {now.get(name)}"
            (better if fewer == (name != "hits") else worse).append(text)
    if was.get("tail") != now.get("tail"):
        (worse if now.get("tail") else better).append(f"tail: {now.get('tail') or 'none any more'}")
    for route in sorted({*was["routes"], *now["routes"]}):
        text, lower = route_departure(route, was["routes"].get(route, {}), now["routes"].get(route, {}))
        if text:
            (worse if lower else better).append(text)
    if worse:
        return "; ".join(worse + better)
    return "; ".join(better) + ": better, so `make baseline` belongs to this change"


def route_departure(route: str, was, now) -> tuple[str, bool]:
    """What changed about a route; worse where more is opaque, or fewer callables have a lookaside."""
    if was == now:
        return "", False
    if not isinstance(was, dict) or not isinstance(now, dict):
        return f"{route}: {was or 0} calls became {now or 0}", False
    parts = [f"{name} {was.get(name, 0)} became {now.get(name, 0)}" for name in sorted({*was, *now})
             if was.get(name) != now.get(name)]
    lower = any(now.get(name, 0) > was.get(name, 0) for name in now) if route == "opaque" else bool(was.keys() - now)
    return f"{route}: {', '.join(parts)}", lower
