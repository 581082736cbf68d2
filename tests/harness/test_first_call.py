"""The first call has an interval, and its phases account for it."""

import statistics

import pytest

import harness as package
from harness import first_call
from harness.store import read_lines


@pytest.fixture(scope="module")
def rows(harness, zoo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "first"
    finished = harness("run", "--models", "pythia-14m", "--workloads", "forward", "train", "decode", "--subjects",
                       "interpreter", zoo("subjects.py:Right"), "--budget", "0.1", "--jobs", "1", "--out", folder)
    assert "6 of 6 cells pass" in finished.out, finished.out + finished.err
    assert "by phases %" in (folder / "report.md").read_text()
    kept = {line["cell"]: line for line in read_lines(folder / "samples.jsonl")}
    return [{**row, "kept": kept[row["cell"]]} for row in package.load(folder).cells.to_dict("records")]


def test_it_is_repeated_on_fresh_copies(rows):
    for row in rows:
        assert row["first_calls"] >= first_call.FEWEST
        assert row["first_call_low"] <= row["first_call_s"] <= row["first_call_high"]
        assert row["cold_call_s"] == row["kept"]["first_calls_s"][0]
        assert len(row["kept"]["first_calls_s"]) == row["first_calls"]
        assert row["first_call_s"] in row["kept"]["first_calls_s"]


def test_phases_add_up_to_it(rows):
    for row in rows:
        if row["subject"] != "interpreter":
            assert row["phases"] == {}
            continue
        assert {"interpret", "operations", "record", "prologue", "lower", "backend", "workload"} <= row["phases"].keys()
        assert min(row["phases"].values()) >= 0
        assert (row["phases"]["serving"] > 0) == (row["workload"] == "decode")
        # One call may lose its core between two phases; that doesn't happen to most of them.
        shares = [sum(phases.values()) / spent
                  for spent, phases in zip(row["kept"]["first_calls_s"], row["kept"]["phases"])]
        assert statistics.median(shares) == pytest.approx(1, abs=0.05)


def test_what_the_workload_does_by_itself_is_named():
    class Slow:
        calls = 0

        def mark(self, jitted):
            return {"hits": 0, "misses": min(self.calls, 1)}

        def phases(self, jitted):
            return {"interpret": 1.0}

    subject = Slow()

    def jitted():
        subject.calls += 1

    watch = first_call.Watch(subject, jitted)
    watch()
    watch()
    assert watch.recording > 0
    assert watch.serving > 0
    phases = watch.phases(watch.recording + watch.serving + 2.0)
    assert phases == {"interpret": 1.0, "serving": watch.serving, "workload": pytest.approx(2.0)}


def test_a_single_call_has_no_interval():
    found = first_call.summary([(2.0, {})])
    assert (found["first_call_s"], found["first_call_low"], found["first_calls"]) == (2.0, None, 1)


def test_the_phases_are_those_of_the_call_that_is_reported():
    found = first_call.summary([(9.0, {"lower": 9.0}), (2.0, {"lower": 2.0}), (1.0, {"lower": 1.0})])
    assert (found["first_call_s"], found["cold_call_s"], found["lower_s"]) == (2.0, 9.0, 2.0)
    assert found["phases"] == {"lower": 2.0}
