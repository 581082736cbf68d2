"""Subjects that are wrong by construction are found out, and named; right ones pass."""

import pytest
import torch

import harness as package


@pytest.fixture(scope="module")
def judge(harness, zoo, tmp_path_factory):
    """One run of several subjects on one model; the rows by subject."""
    def run(model, *subjects, workload="forward"):
        folder = tmp_path_factory.mktemp("runs") / "run"
        finished = harness("run", "--models", model if ":" not in model else zoo(model), "--workloads", workload,
                           "--subjects", *[zoo(f"subjects.py:{s}") if s[0].isupper() else s for s in subjects],
                           "--budget", "0", "--jobs", "2", "--out", folder)
        rows = {r["subject"].rpartition(":")[2]: r for r in package.load(folder).cells.to_dict("records")}
        return finished, rows
    return run


@pytest.fixture(scope="module")
def good(judge):
    return judge("models.py:Good", "Right", "Wrong", "Rounds", "WrongDtype", "DrawsMore", "NeverHits")


@pytest.mark.parametrize(("subject", "status", "parity"), [
    ("Right", "pass", "bitwise"),
    ("Rounds", "pass", "close"),
    ("Wrong", "parity", "differs"),
    ("WrongDtype", "parity", "differs"),
    ("DrawsMore", "parity", "differs"),
    ("NeverHits", "parity", "none"),
])
def test_class(good, subject, status, parity):
    row = good[1][subject]
    assert (row["status"], row["parity"]) == (status, parity), row["detail"]


def test_says_what_differs(good):
    rows = good[1]
    assert "output: off by up to 0.001 where rounding explains" in rows["Wrong"]["detail"]
    assert "on a call that hit" in rows["Wrong"]["detail"]
    assert "dtype torch.float64 where eager has torch.float32" in rows["WrongDtype"]["detail"]
    assert "random" in rows["DrawsMore"]["detail"]


def test_a_cell_without_hits_cannot_pass_and_says_why_it_missed(good):
    row = good[1]["NeverHits"]
    assert row["hits"] == 0
    assert "served from the cache: args[0].shape was another" in row["detail"]


def test_parity_gives_status_1(good):
    assert good[0].status == 1


def test_names_the_first_submodule_that_is_wrong(judge):
    _, rows = judge("models.py:Nested", "WrongPart")
    assert rows["WrongPart"]["first_difference"] == "blocks.1.0"
    assert "first in blocks.1.0" in rows["WrongPart"]["detail"]


def test_a_forgotten_write_is_a_difference(judge):
    _, rows = judge("models.py:Counts", "Forgets", "Right")
    assert rows["Right"]["status"] == "pass"
    assert rows["Forgets"]["status"] == "parity"
    assert "buffer.calls" in rows["Forgets"]["detail"]


def test_random_numbers_are_compared_under_a_seed(judge):
    _, rows = judge("models.py:Draws", "Right")
    assert (rows["Right"]["status"], rows["Right"]["parity"]) == ("pass", "bitwise")


def test_an_eager_that_does_not_repeat_itself_is_said_to(judge):
    _, rows = judge("models.py:Unrepeatable", "Right", "Wrong")
    assert rows["Right"]["nondeterministic"]
    assert (rows["Right"]["status"], rows["Right"]["parity"]) == ("pass", "close")
    assert "eager does not repeat itself: two runs of it differ by up to" in rows["Right"]["detail"]
    assert rows["Wrong"]["status"] == "parity"


def test_what_no_run_repeats_is_not_excused(judge):
    _, rows = judge("models.py:Drifts", "Right")
    assert (rows["Right"]["status"], rows["Right"]["parity"]) == ("parity", "differs")
    assert "eager does not repeat itself" in rows["Right"]["detail"]


def test_a_token_that_rounding_decides_is_held_against_nobody(judge):
    _, rows = judge("models.py:Picks", "OtherToken", "WrongToken", "OtherTokenAndMore", "Right")
    assert (rows["Right"]["status"], rows["Right"]["detail"]) == ("pass", "")
    row = rows["OtherToken"]
    assert (row["status"], row["parity"]) == ("pass", "bitwise")
    assert "inputs 2 were not judged: rounding decides" in row["detail"]
    for subject in ("WrongToken", "OtherTokenAndMore"):
        assert (rows[subject]["status"], rows[subject]["parity"]) == ("parity", "differs")
    assert "unequal torch.int64 values" in rows["WrongToken"]["detail"]


def test_a_cell_without_inputs_that_could_be_judged_does_not_pass(judge):
    _, rows = judge("models.py:AlwaysAlike", "OtherToken", "Right")
    assert rows["Right"]["status"] == "pass"
    assert (rows["OtherToken"]["status"], rows["OtherToken"]["parity"]) == ("parity", "differs")
    assert "only 0 of 8 inputs could be judged" in rows["OtherToken"]["detail"]


def test_the_expected_error_must_be_the_same(judge):
    finished, rows = judge("StaticExperts-out-of-range", "Right", "OtherMessage", "eager")
    assert (rows["Right"]["status"], rows["Right"]["raises"]) == ("pass", "IndexError")
    assert rows["eager"]["status"] == "pass"
    assert rows["OtherMessage"]["status"] == "raised"
    assert "something else" in rows["OtherMessage"]["detail"]


def test_training_compares_gradients_and_parameters(judge):
    _, rows = judge("models.py:Good", "Right", "Wrong", workload="train")
    assert (rows["Right"]["status"], rows["Right"]["parity"]) == ("pass", "bitwise")
    assert rows["Wrong"]["status"] == "parity"


def test_dynamo_beside_eager_on_the_real_layer(judge):
    _, rows = judge("LLaMAMoE", "eager", "dynamo")
    assert rows["eager"]["parity"] == "bitwise"
    assert rows["dynamo"]["status"] == "pass"
    assert rows["dynamo"]["graphs"] >= 1
    assert rows["dynamo"]["native_instructions"] == rows["eager"]["native_instructions"] > 1000


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_what_needs_a_device_is_skipped(harness, tmp_path):
    harness("run", "--models", "RMSNorm", "--workloads", "forward", "--subjects", "interpreter", "dynamo",
            "--executors", "cudagraphs", "--budget", "0", "--out", tmp_path / "run")
    for row in package.load(tmp_path / "run").cells.to_dict("records"):
        assert (row["status"], row["detail"]) == ("skipped", "cudagraphs need a CUDA device, and torch finds none here")


def test_what_the_eager_executor_did_instead_is_no_pass_of_another(harness, zoo, tmp_path):
    """Its results are right, and say nothing of the executor that the row names."""
    finished = harness("run", "--models", "RMSNorm", "--workloads", "forward", "--budget", "0",
                       "--executors", zoo("backends.py:refuses"), "--out", tmp_path / "run")
    (row,) = package.load(tmp_path / "run").cells.to_dict("records")
    assert (finished.status, row["status"], row["parity"]) == (1, "parity", "none")
    assert "run by the eager executor: NotImplementedError: not on a Tuesday" in row["detail"]
