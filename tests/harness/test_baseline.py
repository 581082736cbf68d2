"""The ratchet turns one way, and says so; history marks what it was told of."""

import copy
import json

import pytest

from harness import baseline, history
from harness.frames import load
from harness.plan import Cell
from harness.row import blank

CELL = Cell("m", "forward", "interpreter")
ROW = {**blank(CELL, "fam"), "status": "pass", "parity": "bitwise", "instructions": 100, "guards": 7, "hits": 2,
       "ratio": 0.8, "ratio_low": 0.79, "ratio_high": 0.81}
LEDGER = [{"callable": "builtins.zip", "route": "lookaside", "calls": 1, "where": "m.py:1", "sharp": False},
          {"callable": "math.sqrt", "route": "opaque", "calls": 2, "where": "m.py:2", "sharp": False},
          {"callable": "torch.add", "route": "torch", "calls": 5, "where": "m.py:3", "sharp": False}]
INFO = {"format": 1, "started": "2026-01-01T00:00:00+00:00", "outcome": "finished", "plan": [CELL.asdict()],
        "models": {"m": {"family": "fam", "stands_for": []}}, "noise": {"smallest_change": 0.02, "cells": []},
        "options": {"without": []},
        "environment": {"python": "3.11.7", "packages": {"torch": "2", "litgpt": "1"}, "git": {}, "device": {},
                        "machine": {"cpu": "x", "cores": 2, "architecture": "y"}, "load": {"busy": False}}}


@pytest.fixture
def make(tmp_path):
    """A stored run, with changes to its row, its ledger or its info."""
    def run(name="run", ledger=LEDGER, info=None, **changes):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({**copy.deepcopy(INFO), **(info or {})}))
        (folder / "cells.jsonl").write_text(json.dumps({**ROW, **changes}) + "\n")
        (folder / "ledger.jsonl").write_text("".join(json.dumps({"cell": CELL.id, **line}) + "\n" for line in ledger))
        return load(folder)
    return run


def of(cell):
    """Changes that make the row one of this cell."""
    return {**cell.asdict(), "cell": cell.id, "info": {"plan": [cell.asdict()]}}


def test_what_was_written_holds(make, tmp_path):
    run = make()
    assert baseline.check(run, tmp_path / "b") == ([], "there is no baseline yet (make baseline)")
    baseline.write(run, tmp_path / "b")
    assert baseline.check(run, tmp_path / "b") == ([], None)


@pytest.mark.parametrize(("changes", "better"), [
    ({"instructions": 99}, True), ({"instructions": 101}, False),
    ({"parity": "close"}, False), ({"status": "crash", "parity": "none"}, False), ({"hits": 1}, False),
    ({"tail": "zip"}, False),
    ({"ledger": LEDGER[1:]}, False), ({"ledger": [LEDGER[0], LEDGER[2]]}, True),
    ({"ledger": [*LEDGER, {**LEDGER[1], "callable": "new"}]}, False),
])
def test_both_ways(make, tmp_path, changes, better):
    baseline.write(make("before"), tmp_path / "b")
    [(cell, text)], unjudged = baseline.check(make("after", **changes), tmp_path / "b")
    assert cell == "m/forward"
    assert unjudged is None
    assert ("make baseline" in text) == better


def test_times_are_not_held(make, tmp_path):
    baseline.write(make("before"), tmp_path / "b")
    assert baseline.check(make("after", ratio=3.0, first_call_s=9.0), tmp_path / "b") == ([], None)
    assert "ratio" not in (tmp_path / "b" / "fam.json").read_text()


def test_other_versions_are_not_judged(make, tmp_path):
    baseline.write(make("before"), tmp_path / "b")
    other = {**copy.deepcopy(INFO)["environment"], "python": "3.12.1"}
    found, unjudged = baseline.check(make("after", info={"environment": other}, instructions=5), tmp_path / "b")
    assert found == []
    assert "3.12" in unjudged


def test_a_cell_of_its_own_kind_is_left_alone(make, tmp_path):
    baseline.write(make("before"), tmp_path / "b")
    run = make("after", **of(Cell("m", "forward", "interpreter", depth=4)))
    assert len(run.cells) == 1
    assert baseline.facts(run) == {}


def test_a_workload_it_was_never_set_for_is_said_and_no_shortcoming(make, tmp_path):
    baseline.write(make("before"), tmp_path / "b")
    run = make("other", **of(Cell("m", "generate", "interpreter")))
    assert baseline.check(run, tmp_path / "b") == ([], "1 cell of workloads that it is not set for (generate)")


def test_a_model_that_is_missing_is_a_shortcoming(make, tmp_path):
    baseline.write(make("before"), tmp_path / "b")
    run = make("other", **of(Cell("n", "forward", "interpreter")), family="another")
    assert baseline.check(run, tmp_path / "b") == ([("n/forward", "not in the baseline yet; make baseline")], None)


def test_history_marks_steps(make, tmp_path):
    moments = [(0.80, 100), (0.81, 100), (1.20, 100), (1.20, 150)]
    for number, (ratio, instructions) in enumerate(moments):
        make(str(number), info={"started": f"2026-01-0{number + 1}"}, ratio=ratio, ratio_low=ratio - 0.01,
             ratio_high=ratio + 0.01, instructions=instructions)
    found = history.history("m", tmp_path / "results")
    assert list(found["step"]) == ["", "", "slower, 0.81 to 1.20", "instructions 100 to 150"]


def test_history_is_appended_once(make, tmp_path):
    run = make()
    path = history.append(run, tmp_path / "h")
    before = path.read_text()
    assert history.append(run, tmp_path / "h").read_text() == before
    history.append(make("second", info={"started": "2026-02-01"}), tmp_path / "h")
    assert path.read_text().startswith(before)
    assert len(path.read_text().splitlines()) == 2


def test_history_names_the_nearest(harness, make, tmp_path):
    make()
    finished = harness("history", "q", "--results", tmp_path / "results")
    assert finished.status == 2
    assert harness("history", "m", "--results", tmp_path / "results").status == 0
