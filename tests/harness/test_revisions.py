"""Revisions of a small repository, made from this one's interpreter with known changes."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOOKASIDES = "interpreter/lookasides/__init__.py"

NO_ZIP = """
from interpreter.lookasides.registry import REGISTRY
del REGISTRY[zip]
"""
SQRT = """
import math
from interpreter.lookasides.registry import REGISTRY, lookaside
REGISTRY.pop(math.sqrt, None)
@lookaside(math.sqrt)
def sqrt_(x):
    for _ in range({loops}):
        pass
    return x ** 0.5 + {error}
"""


SLOW = """
import time
unhurried = execute
def execute(*arguments):
    time.sleep(0.01)
    return unhurried(*arguments)
"""


class Repository:
    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(ROOT / "interpreter", folder / "interpreter", ignore=shutil.ignore_patterns("__pycache__"))
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("whole")

    def git(self, *arguments):
        settings = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *settings, *arguments], cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self, name):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", name)
        self.git("tag", name)

    def change(self, name, text, path=LOOKASIDES):
        """A commit on top of the present one in which `path` has `text` appended."""
        with open(self.folder / path, "a") as file:
            file.write(text)
        self.commit(name)

    def back(self, name):
        self.git("checkout", "--quiet", "--detach", name)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    made = Repository(tmp_path_factory.mktemp("repository"))
    made.change("comment", "# nothing\n")
    made.change("no-zip", NO_ZIP)
    made.change("broken", "raise ImportError('broken on purpose')\n")
    for loops in (50, 60, 80):
        made.back("comment")
        made.change(f"loops-{loops}", SQRT.format(loops=loops, error=0))
    made.back("comment")
    made.change("wrong", SQRT.format(loops=0, error=0.01))
    made.back("comment")
    shutil.rmtree(made.folder / "interpreter")
    made.commit("none")
    return made


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    """whole, one, two, three (no lookaside for zip), four, five (does not import), six (imports, sqrt is wrong)."""
    made = Repository(tmp_path_factory.mktemp("linear"))
    for name, text in (("one", "# 1\n"), ("two", "# 2\n"), ("three", NO_ZIP), ("four", "# 4\n"),
                       ("five", "raise ImportError('broken')\n")):
        made.change(name, text)
    path = made.folder / LOOKASIDES
    path.write_text(path.read_text().replace("raise ImportError('broken')\n", "") + SQRT.format(loops=0, error=0.01))
    made.commit("six")
    return made


def bisected(harness, repository, *arguments):
    finished = harness("bisect", *arguments, "--repository", repository.folder)
    assert repository.git("worktree", "list").count("\n") == 0
    assert "bisect" not in repository.git("for-each-ref")
    return finished


def test_bisect_finds_the_commit(harness, linear):
    finished = bisected(harness, linear, "LLaMAMoE/forward", "--good", "whole", "--bad", "four")
    assert finished.status == 0, finished.err
    assert f"{linear.git('rev-parse', 'three')} is the first bad commit" in finished.out
    assert "status: pass at whole, parity at four" in finished.out


def test_bisect_by_a_route(harness, linear):
    finished = bisected(harness, linear, "LLaMAMoE/forward", "--good", "one", "--bad", "four", "--fact",
                        "route:builtins.zip")
    assert f"{linear.git('rev-parse', 'three')} is the first bad commit" in finished.out, finished.out + finished.err


@pytest.mark.long
def test_bisect_by_time(harness, tmp_path):
    made = Repository(tmp_path)
    for name, text, path in (("one", "# 1\n", LOOKASIDES), ("slow", SLOW, "interpreter/cache.py"),
                             ("two", "# 2\n", LOOKASIDES), ("three", "# 3\n", LOOKASIDES)):
        made.change(name, text, path)
    arguments = ["pythia-14m/forward", "--good", "whole", "--budget", "0.05"]
    finished = bisected(harness, made, *arguments, "--bad", "three", "--fact", "ratio")
    assert finished.status == 0, finished.err
    assert f"{made.git('rev-parse', 'slow')} is the first bad commit" in finished.out
    same = bisected(harness, made, *arguments, "--bad", "one", "--fact", "ratio")
    assert same.status == 2
    assert "don't lie apart" in same.err


def test_bisect_skips_what_cannot_run(harness, linear):
    finished = bisected(harness, linear, "pythia-14m/forward", "--good", "two", "--bad", "six")
    assert finished.status == 0, finished.err
    assert "one of these 2" in finished.out
    assert linear.git("rev-parse", "five") in finished.out
    assert linear.git("rev-parse", "six") in finished.out
    assert "skip: this revision's interpreter does not import" in finished.out


def test_bisect_refuses_what_makes_no_sense(harness, linear):
    for arguments, said in ((["LLaMAMoE/forward"], "--good"),
                            (["LLaMAMoE/forward", "--good", "one", "--bad", "two"], "no exact fact"),
                            (["LLaMAMoE/forward", "--good", "one", "--bad", "four", "--fact", "hue"], "unknown"),
                            (["LLaMAMoE", "--good", "one"], "is not a cell"),
                            (["LLaMAMoE/generate", "--good", "one"], "takes forward"),
                            (["LLaMAMoE/forward", "--good", "nowhere"], "neither a run's folder nor a git revision")):
        finished = bisected(harness, linear, *arguments)
        assert finished.status == 2
        assert said in finished.err
        assert len(finished.err.splitlines()) == 1


def test_bisect_lookasides_finds_the_one(harness):
    finished = harness("bisect", "--lookasides", "LLaMAMoE/forward")
    assert finished.status == 0, finished.err
    assert "without builtins.zip: parity" in finished.out


@pytest.fixture(scope="module")
def compare(harness, repository):
    def run(base, head, *models, more=()):
        finished = harness("compare", base, head, "--repository", repository.folder, "--models", *models,
                           "--workloads", "forward", "--budget", "0", "--format", "json", *more)
        return finished.status, json.loads(finished.out)
    return run


def test_a_removed_lookaside_is_named(compare, harness, repository):
    status, found = compare("comment", "no-zip", "LLaMAMoE")
    assert status == 1
    moved = {(row["callable"], row["base"]): row for row in found["coverage"] if row["change"] == "moved"}
    [zip_] = [row for (name, was), row in moved.items() if name.rpartition(".")[2] == "zip"]
    assert zip_["base"] == "lookaside"
    assert "opaque" in zip_["head"]
    assert zip_["where"].startswith("litgpt/model.py:")
    finished = harness("coverage", "comment", "no-zip", "--repository", repository.folder, "--models", "LLaMAMoE",
                       "--workloads", "forward", "--budget", "0")
    assert finished.status == 1
    assert "zip" in finished.out
    assert "were run before" in finished.err


def test_a_commit_that_changes_nothing(compare):
    status, found = compare("whole", "comment", "LLaMAMoE")
    assert status == 0
    assert found["verdict"] == "whole to comment: nothing changed"


def test_instructions_are_exact(compare):
    grown = []
    for head in ("loops-60", "loops-80"):
        status, found = compare("loops-50", head, "pythia-14m")
        assert status == 0
        [row] = [row for row in found["counters"] if row["counter"] == "instructions"]
        grown.append(row["head"] - row["base"])
    assert grown[1] == 3 * grown[0] > 0


def test_a_parity_fault_is_named_by_cell(compare):
    status, found = compare("comment", "wrong", "pythia-14m", "LLaMAMoE")
    assert status == 1
    [row] = found["status"]
    assert row["cell"].startswith("pythia-14m/forward")
    assert (row["base"], row["head"]) == ("bitwise", "parity")


@pytest.mark.parametrize(("head", "said"), [("broken", "does not import: ImportError: broken on purpose"),
                                            ("none", "has no interpreter/")])
def test_a_revision_that_cannot_run_says_so(compare, head, said):
    status, found = compare("comment", head, "LLaMAMoE")
    assert status == 1
    assert said in found["status"][0]["detail"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_comparison_leaves_nothing(harness, repository, zoo, tmp_path, number):
    def left():
        return (repository.git("worktree", "list"), repository.git("status", "--porcelain", "--", "interpreter"),
                list(tmp_path.glob("zoobench-*")))

    def eventually(holds):
        deadline = time.monotonic() + 60
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert holds()

    cache = repository.folder / "results" / "cache"
    before, runs = left(), set(cache.glob("*/run.json"))
    started = harness.start("compare", "comment", "no-zip", "--repository", repository.folder, "--models",
                            zoo("misbehaving.py:HangsAsleep"), "--workloads", "forward", "--timeout", str(60 + number),
                            "--subjects", "eager", "--budget", "0", env={"TMPDIR": str(tmp_path)})
    eventually(lambda: set(cache.glob("*/run.json")) != runs)
    time.sleep(0.5)
    assert repository.git("worktree", "list").count("\n") == 2
    started.kill(number)
    assert started.wait().status == (-number if number == signal.SIGKILL else 128 + number)
    eventually(lambda: left() == before)


def test_nightly_compares_with_the_last_night_and_keeps_history(harness, linear):
    def night(head):
        return harness("nightly", "--repository", linear.folder, "--head", head, "--models", "LLaMAMoE", "--workloads",
                       "forward", "--budget", "0")

    results = linear.folder / "results"
    assert night("two").status == 0
    assert "nothing changed" in (results / "nightly" / "compare.md").read_text()
    second = night("three")
    assert second.status == 1
    assert "zip" in (results / "nightly" / "compare.md").read_text()
    assert (results / "nightly" / "report.html").exists()
    [path] = (results / "history").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["commit"] for line in lines] == [linear.git("rev-parse", name) for name in ("two", "three")]
    shown = harness("history", "LLaMAMoE", "--results", results)
    assert "status pass to parity" in " ".join(shown.out.split())


@pytest.mark.long
def test_a_commit_and_itself_twenty_times(harness, repository):
    for _ in range(20):
        shutil.rmtree(repository.folder / "results", ignore_errors=True)
        finished = harness("compare", "comment", "comment", "--repository", repository.folder, "--models", "LLaMAMoE",
                           "pythia-14m", "--workloads", "forward", "train", "--format", "json")
        found = json.loads(finished.out)
        assert finished.status == 0
        assert found["verdict"].endswith("nothing changed"), found["times"]
