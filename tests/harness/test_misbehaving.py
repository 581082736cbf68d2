"""Whatever a model does to its process, its cell has a row with the right status, and the others go on."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

import harness as package


@pytest.fixture(scope="module")
def run(harness, zoo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "misbehaving"
    finished = harness("run", "--models", zoo("misbehaving.py:*"), zoo("models.py:Good"), "--workloads", "forward",
                       "--subjects", "eager", "--timeout", "8", "--memory", "300M", "--budget", "0", "--jobs", "5",
                       "--out", folder, env={"ZOOBENCH_TEST_SLEEP": "98765"})
    return finished, package.load(folder)


@pytest.fixture(scope="module")
def rows(run):
    return {row["model"].rpartition(":")[2]: row for row in run[1].cells.to_dict("records")}


def test_every_planned_cell_has_one_row(run):
    finished, loaded = run
    assert loaded.missing == []
    assert len(loaded.cells) == len(loaded.plan) == sum(loaded.counts().values())
    assert finished.status == 1
    assert f"of {len(loaded.plan)} planned" in finished.out


@pytest.mark.parametrize(("model", "status", "said"), [
    ("Aborts", "crash", "SIGABRT in phase eager at tests/harness/zoo/misbehaving.py"),
    ("Segfaults", "crash", "SIGSEGV in phase eager at tests/harness/zoo/misbehaving.py"),
    ("HangsAsleep", "timeout", "in phase eager at tests/harness/zoo/misbehaving.py"),
    ("HangsBusy", "timeout", "in phase eager at tests/harness/zoo/misbehaving.py"),
    ("HangsDeaf", "timeout", "in phase eager"),
    ("Stops", "timeout", "in phase eager"),
    ("EatsMemory", "oom", "misbehaving.py"),
    ("EatsSharedMemory", "oom", "in phase eager"),
    ("KillsItsGroup", "crash", "SIGKILL in phase eager"),
    ("Raises", "eager_failed", "ValueError: not today (tests/harness/zoo/misbehaving.py:"),
    ("Exits", "eager_failed", "SystemExit: 3 (tests/harness/zoo/misbehaving.py:"),
    ("LeavesAtOnce", "crash", "exit status 0 and no result in phase eager"),
    ("ClosesFiles", "crash", "no result"),
    ("CannotBeBuilt", "eager_failed", "RuntimeError: no such weights"),
    ("Prints", "pass", ""),
    ("LeavesThreads", "pass", ""),
    ("LeavesProcesses", "pass", ""),
    ("LeavesDaemonsAndHangs", "timeout", "in phase eager at tests/harness/zoo/misbehaving.py"),
    ("KillsItsParent", "crash", "the process that watches over it was killed in phase eager"),
    ("StopsItsParent", "timeout", "in phase eager"),
    ("ForksAndComesBack", "pass", ""),
    ("ReplacesStreams", "pass", ""),
    ("LeavesHooks", "pass", ""),
    ("ChangesDefaults", "pass", ""),
    ("IgnoresSignals", "timeout", "in phase eager"),
    ("FillsTemporaryFiles", "pass", ""),
    ("GivesNoInputs", "eager_failed", "GivesNoInputs.example_inputs() returned None"),
    ("ForgesRows", "pass", ""),
    ("LeavesDaemons", "pass", ""),
    ("ChangesDirectory", "pass", ""),
    ("Good", "pass", ""),
])
def test_status(rows, model, status, said):
    row = rows[model]
    assert row["status"] == status, row["detail"]
    assert said in row["detail"]


def test_signal_is_in_the_row(rows):
    assert rows["Aborts"]["signal"] == "SIGABRT"
    assert rows["KillsItsGroup"]["signal"] == "SIGKILL"


def test_scribbling_over_all_files_does_not_forge_a_row(rows):
    assert rows["ScribblesEverywhere"]["status"] in {"pass", "crash"}


def test_what_cells_leave_running_is_killed(run):
    for _ in range(50):
        left = subprocess.run(["pgrep", "-f", "^sleep 98765$"], capture_output=True, text=True, check=False).stdout
        if not left:
            return
        time.sleep(0.1)
    pytest.fail(f"processes left: {left}")


def test_temporary_files_of_cells_are_removed(run):
    assert not list(Path(tempfile.gettempdir()).glob("zoobench-*/zoobench-test-*"))
    assert not list(Path(tempfile.gettempdir()).glob("zoobench-test-*"))


def test_the_output_that_a_row_keeps_is_bounded(run):
    loaded = run[1]
    for line in (loaded.folder / "cells.jsonl").read_text().splitlines():
        assert len(line) < 20_000
        json.loads(line)


def test_failure_while_jitted_is_not_blamed_on_eager(harness, zoo, tmp_path):
    subjects = [zoo(f"subjects.py:{name}") for name in ("FailsAtOnce", "FailsOnHits", "HangsOnHits", "Absent")]
    harness("run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects", *subjects, "--jobs", "2",
            "--timeout", "2", "--budget", "0", "--out", tmp_path / "run")
    rows = package.load(tmp_path / "run").cells.to_dict("records")
    found = {row["subject"].rpartition(":")[2]: (row["status"], row["phase"], row["detail"]) for row in rows}
    assert found["FailsAtOnce"][:2] == ("raised", "first_call")
    assert "NotADirectoryError: no way (tests/harness/zoo/subjects.py:" in found["FailsAtOnce"][2]
    assert found["FailsOnHits"][:2] == ("raised", "parity")
    assert found["HangsOnHits"][:2] == ("timeout", "parity")
    assert "subjects.py" in found["HangsOnHits"][2]
    assert found["Absent"][0] == "skipped"
    assert found["Absent"][2] == "its library is not here"
