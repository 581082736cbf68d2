"""Each cell of the zoo as a benchmark: a warm call of the workload, after parity was judged on calls that hit.

Facts (status, parity, counters, phases of the first call) are in `extra_info`, so that saved runs can be compared by
them, by pytest-benchmark and by the harness. All cells share this process; `python -m harness run` gives each its own.
"""

import gc

import pytest

from harness.measure import Measurement, Options


def test_cell(benchmark, cell, zoo):
    if cell.subject in zoo.refused:
        pytest.skip(zoo.refused[cell.subject])
    measurement = Measurement(cell, zoo.models[cell.model], zoo.subjects[cell.subject](cell.executor),
                              Options(timed=False), lambda phase: None)
    row = measurement.run()
    benchmark.extra_info.update(row=row, status=row["status"], parity=row["parity"], phases=row["phases"],
                                instructions=row["instructions"], operations=row["operations"])
    assert row["status"] == "pass", row["detail"]
    job = measurement.runs.prepare(measurement.twin, 1)
    gc.collect()
    benchmark(lambda: measurement.runs.call(job, measurement.jitted))
