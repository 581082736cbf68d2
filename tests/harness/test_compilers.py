"""What a cell compiles, no other cell finds; what depends on the machine alone is found by all."""

import harness as package
from harness.store import read_lines


def test_first_calls_compile(harness, zoo, tmp_path):
    """Two cells compile the same graph: both do it from the start, with the headers of the machine."""
    subjects = [zoo(f"subjects.py:{name}") for name in ("SaysWhatItCompiled", "SaysItToo")]
    finished = harness("run", "--models", zoo("models.py:Good"), "--workloads", "forward", "--subjects", *subjects,
                       "--executors", "inductor", "--jobs", "1", "--budget", "0", "--out", tmp_path / "run")
    cells = package.load(tmp_path / "run").cells
    assert list(cells["status"]) == ["pass", "pass"], finished.out
    said = [line["program"].split() for line in read_lines(tmp_path / "run" / "programs.jsonl")]
    assert [(found, compiled) for found, compiled, _ in said] == [("0", "1")] * 2
    headers = {place for _, _, place in said}
    assert len(headers) == 1
    assert "zoobench-" not in headers.pop()
