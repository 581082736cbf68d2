"""The folder survives kills, full disks and rivals."""

import json
import multiprocessing
import os
import random
import signal
import time

import pytest

import harness as package
from harness.errors import StoreError, UsageError
from harness.store import Store, read_lines


def well_behaved(zoo):
    """Models that pass under any subject that does its work."""
    return [zoo(f"models.py:{name}") for name in ("Good", "Nested", "Counts", "Draws")]


PLAN = {"plan": [], "environment": {}, "options": {}, "started": "", "outcome": "running"}


def test_rows_are_there_as_soon_as_they_are_added(tmp_path):
    with Store.create(tmp_path / "run", PLAN) as store:
        for number in range(3):
            store.add({"cell": f"c{number}"}, ledger=[{"callable": "len"}])
            assert [row["cell"] for row in read_lines(tmp_path / "run/cells.jsonl")] == [
                f"c{n}" for n in range(number + 1)]


def test_a_folder_that_holds_a_run_is_refused(tmp_path):
    Store.create(tmp_path, PLAN).close()
    with pytest.raises(UsageError, match="already holds a run"):
        Store.create(tmp_path, PLAN)


def test_a_folder_in_use_is_refused(tmp_path):
    with Store.create(tmp_path, PLAN), pytest.raises(UsageError, match=f"another run .process {os.getpid()}."):
        Store.resume(tmp_path)
    Store.resume(tmp_path).close()


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_cut_line_is_dropped_with_what_belongs_to_it(tmp_path, cut):
    with Store.create(tmp_path, PLAN) as store:
        store.add({"cell": "a", "x": "y" * 20}, ledger=[{"callable": "len"}])
        store.add({"cell": "b", "x": "y" * 20}, ledger=[{"callable": "zip"}], samples=[{"eager_s": [1.0]}])
    path = tmp_path / "cells.jsonl"
    os.truncate(path, path.stat().st_size - cut)
    with Store.resume(tmp_path) as store:
        assert [row["cell"] for row in store.rows()] == ["a"]
        store.add({"cell": "b"}, ledger=[{"callable": "zip"}])
    assert [row["cell"] for row in read_lines(path)] == ["a", "b"]
    assert [line["callable"] for line in read_lines(tmp_path / "ledger.jsonl")] == ["len", "zip"]
    assert read_lines(tmp_path / "samples.jsonl") == []


def test_a_doubled_row_is_joined(tmp_path):
    with Store.create(tmp_path, PLAN) as store:
        store.add({"cell": "a", "n": 1})
        store.add({"cell": "a", "n": 2})
    with Store.resume(tmp_path) as store:
        assert store.rows() == [{"cell": "a", "n": 2}]


def full_disk(folder, size, answer):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    with Store.create(folder, PLAN) as store:
        number = 0
        try:
            while number < 10_000:
                store.add({"cell": f"c{number}", "x": "y" * 100}, ledger=[{"callable": "len"}])
                number += 1
            answer.put("no error")
        except StoreError as error:
            answer.put((number, str(error)))


@pytest.mark.parametrize("size", [400, 1000, 4096, 10_000])
def test_a_full_disk_keeps_the_rows_so_far(tmp_path, size):
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    process = context.Process(target=full_disk, args=(tmp_path, size, answer))
    process.start()
    number, text = answer.get(timeout=30)
    process.join()
    assert "can't be written" in text
    raw = (tmp_path / "cells.jsonl").read_text() if number else ""
    assert len([json.loads(line) for line in raw.splitlines()]) == number
    with Store.resume(tmp_path) as store:
        assert len(store.rows()) == len(read_lines(tmp_path / "ledger.jsonl")) == number


def test_a_run_on_a_full_disk_says_so_and_its_rows_are_readable(harness, zoo, tmp_path):
    finished = harness("run", "--models", *well_behaved(zoo), "--workloads", "forward", "train", "--subjects",
                       "eager", "--budget", "0", "--out", tmp_path / "run", file_limit=8000)
    assert finished.status == 1
    assert "can't be written: File too large" in finished.err
    loaded = package.load(tmp_path / "run")
    assert 0 < len(loaded.cells) < len(loaded.plan)
    assert len(loaded.missing) == len(loaded.plan) - len(loaded.cells)


def killed_at_random_times(harness, arguments, folder, moments, kill):
    """Begins, kills, resumes, kills ... and at last lets it finish. Returns the last command."""
    finished = harness.start("run", *arguments, "--out", folder)
    for moment in moments:
        deadline = time.monotonic() + 10
        while not (folder / "run.json").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moment)
        kill(finished)
        ended = finished.wait()
        if ended.status != -signal.SIGKILL:
            return ended
        finished = harness.start("run", "--resume", "--budget", "0", "--out", folder)
    return finished.wait()


@pytest.mark.parametrize("runs", [4, pytest.param(13, marks=pytest.mark.long)])
def test_resume_after_kill_at_random_times_loses_and_doubles_nothing(harness, zoo, tmp_path, runs):
    """Four kills a run, fifty in all where there is time for it."""
    chance = random.Random(runs)
    kills = 0
    for run in range(runs):
        folder = tmp_path / str(run)
        counted = []
        models = [zoo(f"models.py:{name}") for name in ("Good", "Counts", "Draws")]
        arguments = ["--models", *models, "--workloads", "forward", "--subjects", "eager",
                     zoo("subjects.py:Ledgered"), "--budget", "0", "--jobs", "2"]

        def kill(started):
            counted.append(1)
            started.kill(signal.SIGKILL)

        ended = killed_at_random_times(harness, arguments, folder, [chance.uniform(0, 0.2) for _ in range(4)], kill)
        kills += len(counted)
        assert ended.status == 0, ended.err + ended.out
        raw = [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]
        loaded = package.load(folder)
        assert sorted(row["cell"] for row in raw) == sorted(cell.id for cell in loaded.plan)
        assert loaded.missing == []
        assert loaded.info["outcome"] == "finished"
        ledgered = [cell.id for cell in loaded.plan if cell.subject.endswith("Ledgered")]
        ledger = [json.loads(line)["cell"] for line in (folder / "ledger.jsonl").read_text().splitlines()]
        assert sorted(ledger) == sorted(ledgered * 2)
    assert kills >= 3 * runs


def test_resume_runs_only_what_is_missing(harness, zoo, tmp_path):
    arguments = ["run", "--models", *well_behaved(zoo), "--workloads", "forward", "--subjects", "eager", "--budget",
                 "0", "--out", tmp_path]
    assert harness(*arguments).status == 0
    lines = (tmp_path / "cells.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cells.jsonl").write_text("".join(lines[:2]))
    resumed = harness(*arguments, "--resume")
    assert resumed.status == 0
    assert f"2 of {len(lines)} cells are there already" in resumed.out
    again = (tmp_path / "cells.jsonl").read_text().splitlines(keepends=True)
    assert again[:2] == lines[:2]
    assert len(again) == len(lines)


def test_resume_measures_as_was_begun(harness, tmp_path):
    arguments = ["--models", "LLaMAMoE", "StaticExperts", "--workloads", "forward", "--budget", "0", "--out", tmp_path]
    assert harness("run", *arguments, "--without", "zip").status == 1
    lines = (tmp_path / "cells.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cells.jsonl").write_text(lines[0])
    assert harness("run", "--resume", "--out", tmp_path).status == 1
    rows = package.load(tmp_path).cells
    assert list(rows["hits"]) == [0, 0]
    assert rows["ratio"].isna().all()


@pytest.mark.parametrize(("text", "said"), [
    ("garbage", "can't be read"), ("[]", "is not of a run"), ('{"format": 1}', "is not of a run"),
    (None, "holds no run"),
    ('{"format": 99, "started": "", "plan": [], "options": {}, "environment": {}}', "was written in format 99"),
])
def test_a_damaged_run_is_said_to_be(harness, tmp_path, text, said):
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    for command in (["report", tmp_path], ["coverage", tmp_path], ["compare", tmp_path, tmp_path],
                    ["run", "--resume", "--out", tmp_path]):
        if command[0] == "compare" and text is None:
            continue
        finished = harness(*command)
        assert finished.status == 2
        assert said in finished.err
        assert len(finished.err.splitlines()) == 1


def test_lines_that_are_no_rows_are_left_out(harness, zoo, tmp_path):
    arguments = ["run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects",
                 zoo("subjects.py:Ledgered"), "--budget", "0", "--out", tmp_path]
    assert harness(*arguments).status == 0
    before = (tmp_path / "cells.jsonl").read_text()
    for name in ("cells", "ledger", "samples"):
        with open(tmp_path / f"{name}.jsonl", "a") as file:
            file.write('5\n{"x": 1}\nnonsense\n\n[1, 2]\n{"cell": "another"}\n')
    assert harness("report", tmp_path).status == 0
    assert harness("run", "--resume", "--out", tmp_path).status == 0
    assert (tmp_path / "cells.jsonl").read_text().startswith(before)
    assert list(package.load(tmp_path).cells["status"]) == ["pass"]


def test_a_run_is_not_compared_with_a_revision(harness, zoo, tmp_path):
    harness("run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects", "eager", "--budget", "0",
            "--out", tmp_path)
    finished = harness("compare", tmp_path, "HEAD")
    assert finished.status == 2
    assert "compare two runs, or two revisions" in finished.err


def test_resume_of_another_plan_is_refused(harness, zoo, tmp_path):
    base = ["run", "--workloads", "forward", "--subjects", "eager", "--budget", "0", "--out", tmp_path]
    assert harness(*base, "--models", zoo("models.py:Good")).status == 0
    refused = harness(*base, "--models", zoo("models.py:Draws"), "--resume")
    assert refused.status == 2
    assert "was planned otherwise (2 cells differ" in refused.err


def test_two_runs_into_one_folder_are_refused(harness, zoo, tmp_path):
    first = harness.start("run", "--models", zoo("misbehaving.py:HangsAsleep"), "--workloads", "forward", "--subjects",
                          "eager", "--timeout", "60", "--out", tmp_path)
    while not (tmp_path / "run.json").exists():
        time.sleep(0.01)
    for more in ([], ["--resume"]):
        second = harness("run", "--models", zoo("misbehaving.py:HangsAsleep"), "--workloads", "forward", "--subjects",
                         "eager", "--out", tmp_path, *more)
        assert second.status == 2
    assert f"another run (process {first.pid}) is writing to it" in second.err
    first.kill(signal.SIGKILL)
    first.wait()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_ends_with_its_rows_and_a_summary(harness, zoo, tmp_path, number, status):
    started = harness.start("run", "--models", zoo("models.py:Good"), zoo("misbehaving.py:HangsAsleep"), "--workloads",
                            "forward", "--subjects", "eager", "--timeout", "60", "--budget", "0", "--out", tmp_path)
    while not (tmp_path / "cells.jsonl").exists():
        time.sleep(0.01)
    started.kill(number)
    finished = started.wait()
    assert finished.status == status
    assert "1 pass, 1 missing (of 2 planned)" in finished.out
    loaded = package.load(tmp_path)
    assert loaded.info["outcome"] == "interrupted"
    assert [cell.rpartition(":")[2].split("/")[0] for cell in loaded.missing] == ["HangsAsleep"]
