"""Which cells are benchmarked: `pytest benchmarks/zoo --benchmark-only --models 'Llama*' --subjects dynamo`.

Models that only raise have no call to time; they are left to `python -m harness run`.
"""

import pytest

from harness.bench import Request, preload, prepare
from harness.environment import environment
from harness.saved import KEY


def pytest_addoption(parser):
    group = parser.getgroup("zoo", "cells of the zoo as benchmarks")
    for name, default in (("models", None), ("workloads", ["forward"]), ("subjects", ["eager", "interpreter"]),
                          ("executors", ["eager"]), ("dtype", ["float32"])):
        group.addoption(f"--{name}", action="append", default=None, metavar="NAME",
                        help=f"as for `python -m harness run`, once for each (default: {default or 'the zoo'})")
    group.addoption("--device", default="cpu", help="cpu, cuda or cuda:N")


def prepared(config):
    """The plan of the command line, and what it needs, made once."""
    if not hasattr(config, "zoo"):
        option = config.getoption
        config.zoo = prepare(Request(
            models=option("--models"), workloads=option("--workloads") or ["forward"],
            subjects=option("--subjects") or ["eager", "interpreter"], executors=option("--executors"),
            dtype=option("--dtype"), device=option("--device")))
        config.zoo.cells = [cell for cell in config.zoo.cells if config.zoo.models[cell.model].expected is None]
        preload(config.zoo)
    return config.zoo


def pytest_generate_tests(metafunc):
    if "cell" in metafunc.fixturenames:
        cells = prepared(metafunc.config).cells
        metafunc.parametrize("cell", cells, ids=[cell.id for cell in cells])


@pytest.fixture(scope="session")
def zoo(request):
    return prepared(request.config)


def pytest_benchmark_update_json(config, benchmarks, output_json):
    """What makes the saved file a run that the harness reads back."""
    plan = prepared(config)
    output_json[KEY] = {
        "environment": environment(plan.device), "plan": [cell.asdict() for cell in plan.cells],
        "models": {m.name: {"family": m.family, "stands_for": list(m.stands_for)} for m in plan.models.values()}}
