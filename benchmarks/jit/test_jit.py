"""First calls, warm calls and prologues as pytest-benchmark tests with stable ids.

    pytest benchmarks/jit --benchmark-only --benchmark-autosave
    pytest benchmarks/jit --benchmark-only --benchmark-compare

Exact counters (instructions, guards, operations, checks) go into `extra_info`: they are repeatable and say what a
change of time comes from.
"""

import pytest
import torch

from interpreter import jit
from models import zoo

ARCHITECTURES = {model.name: model for model in zoo() if model.stands_for}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=ARCHITECTURES)
def model(request):
    return ARCHITECTURES[request.param]


def counters(entry) -> dict:
    return {"instructions": entry.instructions, "guards": len(entry.guards), "operations": len(entry.operations),
            "checks": len(entry.checks), "tail": entry.tail}


def test_eager_call(model, benchmark):
    """What the others are measured against."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    with torch.no_grad():
        benchmark(module, *inputs)


def test_first_call(model, benchmark):
    """Interpreting, recording and lowering, on a fresh jit each time."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    last = []

    def first():
        last[:] = [jit(module)]
        last[0](*inputs)

    with torch.no_grad():
        module(*inputs)
        benchmark.pedantic(first, rounds=10, warmup_rounds=1)
    benchmark.extra_info.update(counters(last[0].stats.entries[0]))


def test_warm_call(model, benchmark):
    """A call that an entry serves."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    jitted = jit(module)
    with torch.no_grad():
        jitted(*inputs)
        benchmark(jitted, *inputs)
    assert jitted.stats.misses == 1
    benchmark.extra_info.update(counters(jitted.stats.entries[0]))


def test_prologue(model, benchmark):
    """The check of an entry's guards alone, with a snapshot taken."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    jitted = jit(module)
    with torch.no_grad():
        for _ in range(3):
            jitted(*inputs)
        entry = jitted.stats.entries[0]
        assert benchmark(lambda: entry.prologue.check(inputs, {})) is not None
    benchmark.extra_info.update(counters(entry))


def test_training_step(model, benchmark):
    """Forward and backward, served by an entry."""
    module, inputs = model.build(workload="train").train(), model.inputs(seed=0)
    jitted = jit(module)

    def step():
        module.zero_grad(set_to_none=True)
        jitted(*inputs).float().mean().backward()

    step()
    benchmark(step)
    assert jitted.stats.misses == 1
