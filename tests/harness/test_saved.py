"""Cells as benchmarks of pytest-benchmark, and their saved file as a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import harness as package

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def saved(zoo, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "bench.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "benchmarks/zoo", "--benchmark-only", "-q", "--benchmark-max-time", "0.05",
         "--benchmark-json", str(path), "--models", zoo("models.py:Good"), "--subjects", "eager", "--subjects",
         zoo("subjects.py:Ledgered"), "-p", "no:cacheprovider"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr
    return path


def test_benchmarks_are_named_by_cell_and_carry_its_facts(saved):
    benchmarks = json.loads(saved.read_text())["benchmarks"]
    assert len(benchmarks) == 2
    for bench in benchmarks:
        assert bench["extra_info"]["row"]["cell"] in bench["name"]
        assert bench["extra_info"]["parity"] == "bitwise"
    assert {bench["extra_info"]["operations"] for bench in benchmarks} == {None, 3}


def test_the_saved_file_is_a_run(saved, harness):
    run = package.load(saved)
    assert run.missing == []
    assert list(run.cells["status"]) == ["pass", "pass"]
    assert (run.cells["ratio"] > 0).all()
    assert len(run.samples) > 10
    assert harness("compare", saved, saved).status == 0
    assert harness("report", saved).status == 0


def test_another_file_is_refused(harness, tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    finished = harness("report", path)
    assert finished.status == 2
    assert "not saved by" in finished.err
