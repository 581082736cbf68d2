"""Compiled code: no cell finds that of another one where times are taken; what the machine alone decides, all find."""

import pytest

import harness as package
from harness.store import read_lines


@pytest.fixture
def compile_twice(harness, zoo, tmp_path):
    """Two cells that compile the same graph, one after the other: their rows, and what each found on disk, compiled,
    and used as the place of headers."""
    def run(budget):
        subjects = [zoo(f"subjects.py:{name}") for name in ("SaysWhatItCompiled", "SaysItToo")]
        finished = harness("run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects", *subjects,
                           "--executors", "inductor", "--jobs", "1", "--budget", budget, "--out", tmp_path / "run",
                           env={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "compiled")})
        cells = package.load(tmp_path / "run").cells
        assert list(cells["status"]) == ["pass", "pass"], finished.out
        return cells, [line["program"].split() for line in read_lines(tmp_path / "run" / "programs.jsonl")]
    return run


def test_a_first_call_that_is_timed_compiles(compile_twice):
    """Both do all the work, but for the headers of the machine."""
    cells, said = compile_twice("0.01")
    assert [(found, compiled) for found, compiled, _ in said] == [("0", "1")] * 2
    headers = {place for _, _, place in said}
    assert len(headers) == 1
    assert "zoobench-" not in headers.pop()
    assert cells["first_call_s"].notna().all()


def test_where_no_times_are_taken_compiled_code_is_shared(compile_twice):
    """The second one finds what the first one has compiled, and there is no figure to be taken for a first call."""
    cells, said = compile_twice("0")
    assert [compiled for _, compiled, _ in said] == ["1", "0"]
    assert cells["first_call_s"].isna().all()
