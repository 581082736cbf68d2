"""Two runs of which it is known what differs: the second is the first with known changes."""

import json
import shutil

import pytest

import harness as package


@pytest.fixture(scope="module")
def base(harness, zoo, tmp_path_factory):
    """A run whose noise and intervals are set to known values."""
    folder = tmp_path_factory.mktemp("runs") / "base"
    finished = harness("run", "--models", zoo("models.py:Good"), zoo("models.py:Draws"), "--workloads", "forward",
                       "--subjects", zoo("subjects.py:Ledgered"), zoo("subjects.py:Right"), "--budget", "0.02", "--out",
                       folder)
    assert finished.status == 0
    change(folder, lambda row: row.update(ratio=1.0, ratio_low=0.99, ratio_high=1.01))
    change_info(folder, noise={"smallest_change": 0.02, "cells": []})
    return folder


def change(folder, how, only=""):
    lines = [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]
    for row in lines:
        if only in row["cell"]:
            how(row)
    (folder / "cells.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))


def change_info(folder, **values):
    info = json.loads((folder / "run.json").read_text())
    info.update(values)
    (folder / "run.json").write_text(json.dumps(info))


@pytest.fixture
def head(base, tmp_path):
    shutil.copytree(base, tmp_path / "head")
    return tmp_path / "head"


@pytest.fixture
def compare(harness, base, head):
    def run(*more):
        finished = harness("compare", base, head, "--format", "json", *more)
        return finished.status, json.loads(finished.out)
    return run


CELL = "Good/forward/tests/harness/zoo/subjects.py:Ledgered"


def test_a_run_and_itself(compare):
    status, found = compare()
    assert status == found["exit_status"] == 0
    assert found["verdict"].endswith("nothing changed")
    assert not any(found[name] for name in ("status", "missing", "coverage", "programs", "entries", "counters"))
    assert found["worse"] == []


@pytest.mark.parametrize(("was", "now", "worse"), [
    ({"status": "pass", "parity": "bitwise"}, {"status": "pass", "parity": "close"}, True),
    ({"status": "pass", "parity": "bitwise"}, {"status": "parity", "parity": "differs"}, True),
    ({"status": "pass", "parity": "bitwise"}, {"status": "crash", "parity": "none"}, True),
    ({"status": "raised", "parity": "none"}, {"status": "crash", "parity": "none"}, True),
    ({"status": "pass", "parity": "close"}, {"status": "pass", "parity": "bitwise"}, False),
    ({"status": "crash", "parity": "none"}, {"status": "pass", "parity": "close"}, False),
])
def test_status_and_parity(base, head, harness, tmp_path, was, now, worse):
    before = tmp_path / "before"
    shutil.copytree(base, before)
    change(before, lambda row: row.update(was), CELL)
    change(head, lambda row: row.update(now), CELL)
    finished = harness("compare", before, head, "--format", "json")
    found = json.loads(finished.out)
    assert [CELL in row["cell"] for row in found["status"]] == [True]
    assert found["status"][0]["worse"] == worse
    assert finished.status == (1 if worse else 0)


def test_a_cell_that_vanished_is_worse_and_a_new_one_is_not(harness, base, head):
    lines = (head / "cells.jsonl").read_text().splitlines(keepends=True)
    (head / "cells.jsonl").write_text("".join(lines[1:]))
    assert harness("compare", base, head).status == 1
    assert harness("compare", head, base).status == 0
    assert "only in" in harness("compare", base, head).out


def test_counters_are_named_and_do_not_fail_by_themselves(compare, head):
    change(head, lambda row: row.update(instructions=107), CELL)
    status, found = compare()
    assert status == 0
    [row] = found["counters"]
    assert (row["counter"], row["base"], row["head"]) == ("instructions", 100, 107)
    assert row["change"] == pytest.approx(0.07)


def test_recording_anew_is_said_with_its_reason(compare, head):
    change(head, lambda row: row.update(entries=3, missed=["x.shape was (2,)"]), CELL)
    _, found = compare()
    assert found["entries"] == [{"cell": found["entries"][0]["cell"], "base": 1, "head": 3, "why": "x.shape was (2,)"}]


@pytest.mark.parametrize(("low", "ratio", "high", "verdict", "status"), [
    (1.20, 1.25, 1.30, "slower", 3),
    (0.70, 0.75, 0.80, "faster", 0),
    (1.02, 1.04, 1.06, "", 0),
    (0.90, 1.25, 1.30, "", 0),
])
def test_times_are_judged_by_interval_and_noise(compare, head, low, ratio, high, verdict, status):
    change(head, lambda row: row.update(ratio_low=low, ratio=ratio, ratio_high=high), CELL)
    exit_status, found = compare()
    assert exit_status == status
    assert next(row["verdict"] for row in found["times"] if CELL in row["cell"]) == verdict


def test_a_noisy_run_sees_less(compare, head):
    change(head, lambda row: row.update(ratio_low=1.20, ratio=1.25, ratio_high=1.30), CELL)
    change_info(head, noise={"smallest_change": 0.3, "cells": []})
    assert compare()[0] == 0


def test_repetitions_must_lie_apart(harness, base, head, tmp_path):
    before = tmp_path / "before"
    shutil.copytree(base, before)
    change(before, lambda row: row.update(repeats=[1.0, 1.0, 1.3]), CELL)
    change(head, lambda row: row.update(ratio_low=1.2, ratio=1.25, ratio_high=1.3, repeats=[1.2, 1.25, 1.3]), CELL)
    assert harness("compare", before, head).status == 0
    change(before, lambda row: row.update(repeats=[1.0, 1.0, 1.01]), CELL)
    assert harness("compare", before, head).status == 3


def test_other_versions_cannot_be_compared_unless_anyway(compare, head):
    info = json.loads((head / "run.json").read_text())
    info["environment"]["packages"]["torch"] = "0.0.1"
    change_info(head, environment=info["environment"])
    change(head, lambda row: row.update(instructions=50, ratio_low=1.2, ratio=1.25, ratio_high=1.3), CELL)
    status, found = compare()
    assert status == 4
    assert "torch" in found["verdict"]
    status, found = compare("--anyway")
    assert status == 0
    assert [row["counter"] for row in found["counters"]] == ["instructions"]
    assert found["times"] == []


def move_zip(folder):
    lines = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    for line in lines:
        if line["callable"] == "builtins.len" and "Good" in line["cell"]:
            line.update(route="opaque", sharp=True)
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_lost_lookaside_is_named_with_model_and_line(compare, harness, base, head):
    move_zip(head)
    status, found = compare()
    assert status == 1
    [row] = found["coverage"]
    assert (row["callable"], row["base"], row["head"]) == ("builtins.len", "lookaside", "opaque sharp")
    assert row["model"].endswith("Good")
    assert row["where"] == "model.py:8"
    assert "builtins.len: lookaside became opaque sharp" in found["worse"][0]
    moved = harness("coverage", base, head)
    assert moved.status == 1
    assert "builtins.len" in moved.out
    back = harness("coverage", head, base)
    assert back.status == 0


def test_programs_are_shown_line_by_line(compare, head):
    text = (head / "programs.jsonl").read_text()
    (head / "programs.jsonl").write_text(text.replace("def program(x): ...", "def program(x):\\n    return x"))
    change(head, lambda row: row.update(program_hash="other"), CELL)
    _, found = compare()
    [diff] = found["diffs"].values()
    assert "-def program(x): ..." in diff
    assert "+    return x" in diff


def test_markdown_begins_with_the_verdict(harness, base, head):
    change(head, lambda row: row.update(status="crash", detail="SIGSEGV | here"), CELL)
    finished = harness("compare", base, head, "--format", "markdown")
    assert finished.status == 1
    assert finished.out.startswith("**")
    assert "1 thing got worse" in finished.out.splitlines()[0]
    assert "<details>" in finished.out
    assert "SIGSEGV \\| here" in finished.out


def test_frames(base, head):
    change(head, lambda row: row.update(instructions=107), CELL)
    frames = package.compare.frames(package.load(base), package.load(head))
    assert list(frames) == ["status", "missing", "coverage", "programs", "entries", "counters", "times"]
    assert len(frames["counters"]) == 1


def test_coverage_of_one_run(harness, base):
    finished = harness("coverage", base)
    assert finished.status == 1
    assert "2 sharp edges in 2 models" in finished.out
    frame = package.coverage.frame(package.load(base))
    assert set(frame["callable"]) == {"builtins.zip", "builtins.len"}
    cures = package.coverage.cures(package.load(base))
    assert cures.to_dict("records")[0]["callable"] == "builtins.zip"
    assert cures.to_dict("records")[0]["alone"] == 2


def test_wrong_names(harness, base, tmp_path):
    for arguments in (["compare", base, "no-such-revision"], ["compare", tmp_path, tmp_path], ["coverage", *"abc"],
                      ["coverage", tmp_path], ["compare", base]):
        finished = harness(*arguments)
        assert finished.status == 2
        assert len(finished.err.splitlines()) == 1


def test_inventory(harness):
    finished = harness("coverage", "--inventory", "--format", "json")
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)
    assert "zip" in {row["callable"].removeprefix("builtins.") for row in found["lookaside"]}
    assert sum(len(found[status]) for status in ("lookaside", "pure", "opaque")) > 300
    assert harness("coverage", "--inventory", "some-run").status == 2
