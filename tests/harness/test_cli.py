"""What the command line refuses, and how it says so: one line that names what was wrong, and status 2."""

import json

import pytest

import harness as package


@pytest.mark.parametrize(("arguments", "said"), [
    (["run", "--models", "pythai-14m"], "pythia-14m"),
    (["run", "--models", "nosuch.py:*"], "nosuch.py: no such file"),
    (["run", "--workloads", "forwrd"], "forward"),
    (["run", "--device", "cuda:99"], "not there"),
    (["run", "--device", "tpu"], "auto, cpu, cuda"),
    (["run", "--subjects", "dinamo"], "nearest: dynamo"),
    (["run", "--subjects", "nosuchpackage:Jit"], "nosuchpackage"),
    (["run", "--subjects", "json:JSONDecoder"], "not a class derived from harness.subjects.Subject"),
    (["run", "--executors", "egaer"], "nearest: eager"),
    (["run", "--executors", "json:nothing"], "AttributeError"),
    (["run", "--dtype", "float23"], "float32"),
    (["run", "--dtype", "float16", "--workloads", "train-autocast"], "train-autocast takes float32, not float16"),
    (["repro", "pythia-14m/forward-autocast/interpreter/eager/bfloat16/cpu/tiny"], "takes float32, not bfloat16"),
    (["run", "--scale", "huge"], "tiny, full"),
    (["run", "--depth", "0"], "positive"),
    (["run", "--depth", "two"], "positive"),
    (["run", "--timeout", "-1"], "positive"),
    (["run", "--memory", "lots"], "4G"),
    (["run", "--shard", "3/2", "--models", "LLaMAMoE"], "I/N"),
    (["run", "--out", "/dev/null"], "is a file"),
    (["run", "--out", "/proc/nowhere", "--models", "LLaMAMoE"], "cannot be made"),
    (["run", "--resume"], "--out"),
    (["run", "--baseline", "/nonexistent"], "holds no baseline"),
    (["run", "--resume", "--out", "/nonexistent"], "holds no run"),
    (["run", "--modles", "x"], "--modles"),
    (["run", "surplus"], "surplus"),
    (["run", "--workloads", "all", "forwrd"], "did you mean forward"),
    (["run", "--executors", "all", "egaer"], "nearest: eager"),
    (["run", "--models", "qqqq"], "`python -m harness list` lists the models"),
    (["run", "--workloads", "zork"], "there are forward"),
    (["run", "--models", "tests/harness/zoo/models.py"], "tests/harness/zoo/models.py:Name is one"),
    (["run", "--without", "zork", "--models", "LLaMAMoE"], "no such lookaside"),
    (["report", "/nonexistent"], "holds no run"),
    (["reprot", "x"], "report)"),
    ([], "COMMAND"),
])
def test_wrong_usage(harness, arguments, said):
    finished = harness(*arguments)
    assert finished.status == 2
    assert said in finished.err
    assert finished.err.startswith("harness: ")
    assert len(finished.err.splitlines()) == 1
    assert finished.out == ""


def test_a_model_file_is_imported_at_its_own_risk(harness, tmp_path):
    """What it does to the process does not reach other files, and one that exits is refused in one line."""
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "moves.py").write_text(MOVES)
    (tmp_path / "stays.py").write_text(MOVES.replace("MOVE = True", "MOVE = False"))
    refused = harness("run", "--models", "exits.py:*", cwd=tmp_path)
    assert refused.status == 2
    assert refused.err == "harness: --models: exits.py: importing it failed: SystemExit: 0\n"
    finished = harness("run", "--models", "moves.py:Net", "stays.py:Net", "--workloads", "forward", "--subjects",
                       "eager", "--budget", "0", "--out", tmp_path / "run", cwd=tmp_path)
    assert finished.status == 0, finished.err
    assert "2 of 2 cells pass" in finished.out
    assert finished.err == "hello\n"


MOVES = """
import io
import os
import sys

import torch

MOVE = True
if MOVE:
    print("hello")
    sys.stdout = io.StringIO()
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    os.chdir("/")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        assert torch.get_default_dtype() == torch.float32
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x)

    def example_inputs(self):
        return torch.randn(3, 2)
"""


def test_list_counts_all_configuration_names(harness):
    from models import config_names
    finished = harness("list")
    assert finished.status == 0
    assert f"stand for {len(config_names())} configuration names" in finished.out


def test_shards_are_the_plan(harness, zoo, tmp_path):
    shards = []
    for part in (1, 2, 3):
        assert harness("run", "--models", zoo("models.py:*"), "--subjects", "eager", "--workloads", "forward", "train",
                       "--budget", "0", "--shard", f"{part}/3", "--out", tmp_path / str(part)).status in {0, 1}
        shards.append({cell.id for cell in package.load(tmp_path / str(part)).plan})
    assert sum(len(s) for s in shards) == len(set.union(*shards)) >= 10


@pytest.fixture(scope="module")
def run(harness, zoo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    finished = harness("run", "--models", "LLaMAMoE", zoo("models.py:Good"), "--workloads", "forward", "--subjects",
                       "eager", zoo("subjects.py:Threefold"), zoo("subjects.py:Ledgered"), "--out", folder)
    return finished, folder, package.load(folder)


def rows(run):
    return {(row["model"].rpartition(":")[2], row["subject"].rpartition(":")[2]): row
            for row in run[2].cells.to_dict("records")}


def test_the_run_passes(run):
    assert run[0].status == 0, run[0].out + run[0].err


def test_what_is_slower_by_construction_is_found_to_be(run):
    for model in ("LLaMAMoE", "Good"):
        slow, same = rows(run)[model, "Threefold"], rows(run)[model, "eager"]
        assert slow["ratio_low"] <= slow["ratio"] <= slow["ratio_high"]
        # A long call loses its core more often than a short one: on a busy machine there is no upper bound.
        assert slow["ratio"] > 1.5
        assert slow["ratio_low"] > 1
        assert same["ratio_low"] < 1.5
        assert same["ratio_high"] > 1 / 1.5


def test_raw_samples_are_kept_and_give_the_figures(run):
    import statistics
    samples = run[2].samples
    for row in run[2].cells.to_dict("records"):
        mine = samples[samples["cell"] == row["cell"]]
        assert len(mine) == row["pairs"] >= 10
        assert statistics.median(mine["run_s"]) == row["run_s"]
        assert statistics.median(mine["run_s"] / mine["eager_s"]) == pytest.approx(row["ratio"])


def test_the_run_knows_its_noise(run):
    noise = run[2].info["noise"]
    assert 0 <= noise["smallest_change"] < 2
    assert "smallest change this run could have seen" in run[0].out


def test_the_environment_is_recorded(run):
    import torch
    where = run[2].info["environment"]
    assert where["packages"]["torch"] == torch.__version__
    assert where["machine"]["cores"] >= 1
    assert set(where["git"]["rooms"]) == {"interpreter", "models", "harness", "results"}


def test_reports_say_the_same(run):
    for name in ("report.md", "report.html"):
        text = (run[1] / name).read_text()
        assert "6 of 6 cells pass, nothing falls short" in text
        assert "6 pass (of 6 planned)" in text
        assert "builtins.zip" in text
        assert "model.py:7" in text
        assert "runs as it is on every call" in text


def test_report_can_be_made_again(harness, run):
    before = (run[1] / "report.md").read_text()
    (run[1] / "report.md").unlink()
    assert harness("report", run[1]).status == 0
    assert (run[1] / "report.md").read_text() == before


def test_a_run_without_rows_has_a_report(harness, run, tmp_path):
    (tmp_path / "run.json").write_bytes((run[1] / "run.json").read_bytes())
    for arguments in (["report"], ["coverage"], ["compare", run[1]]):
        finished = harness(*arguments, tmp_path)
        assert finished.status == 1, finished.err
        assert finished.err == ""
    assert "0 of 6 cells pass; 6 fall short" in (tmp_path / "report.md").read_text()


def test_html_escapes_what_models_say(harness, zoo, tmp_path):
    from harness.report import html_cell, markdown_cell
    assert html_cell("<script>") == "<td>&lt;script&gt;"
    assert markdown_cell("a|b\nc") == "a\\|b c"


def test_rows_have_all_fields(run):
    asked = """model family workload subject executor dtype device scale depth status detail parity max_abs_err
        first_call_s interpret_s lower_s instructions native_instructions run_s eager_s ratio ratio_low ratio_high
        peak_bytes graphs operations guards checks entries hits tail sharp_edges program_hash""".split()
    for line in (run[1] / "cells.jsonl").read_text().splitlines():
        assert set(asked) <= set(json.loads(line))


def test_ledger_is_read_back(run):
    ledger = run[2].ledger
    assert set(ledger["route"]) == {"opaque", "lookaside"}
    assert list(ledger[ledger["sharp"]]["callable"].unique()) == ["builtins.zip"]


def test_growth_fits_fixed_and_per_layer(harness, tmp_path):
    finished = harness("run", "--models", "pythia-14m", "--workloads", "forward", "--subjects", "eager", "--depth", "1",
                       "2", "4", "--budget", "0.05", "--out", tmp_path)
    assert finished.status == 0
    from harness.growth import growth
    fitted = growth(package.load(tmp_path).cells).set_index("quantity")
    native = fitted.loc["native_instructions"]
    assert native["r2"] == pytest.approx(1, abs=1e-3)
    assert native["per_layer"] > 100
    assert native["depths"] == [1, 2, 4]
    assert "growth with depth" in finished.out


def test_an_executor_of_ones_own(harness, zoo, tmp_path):
    finished = harness("run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects", "dynamo",
                       "--executors", zoo("subjects.py:counting"), "--budget", "0", "--out", tmp_path)
    assert finished.status == 0, finished.out + finished.err
    assert package.load(tmp_path).cells["executor"].tolist() == [zoo("subjects.py:counting")]
