"""First calls, warm calls, prologues, tails, training and memory as pytest-benchmark tests with stable ids.

    pytest benchmarks/jit --benchmark-only --benchmark-autosave
    pytest benchmarks/jit --benchmark-only --benchmark-compare

Exact counters (instructions, guards, operations, checks) go into `extra_info`: they are repeatable and say what a
change of time comes from.
"""

import pytest
import torch
import torch._inductor.config

from benchmarks import figures
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
        benchmark.extra_info["peak of tensors to eager's"] = round(figures.peak(model, inputs), 3)
    benchmark.extra_info.update(counters(last[0].stats.entries[0]))


def test_first_call_of_a_deep_model(benchmark):
    """At 32 layers, with the bytes that its program takes."""
    model = ARCHITECTURES["Llama-3.1-8B"]
    module, inputs = model.build(depth=figures.LONG).eval(), model.inputs(seed=0)
    with torch.no_grad():
        module(*inputs)
        benchmark.pedantic(lambda: jit(module)(*inputs), rounds=3, warmup_rounds=1)
        benchmark.extra_info["bytes of the program"] = figures.program_bytes(model, inputs)


def test_tail(model, benchmark):
    """A call that is not recorded from its first line on."""
    inputs = model.inputs(seed=0)
    with torch.no_grad():
        _, jitted = figures.tailed(model, inputs)
        benchmark(jitted, *inputs)


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


@pytest.fixture(scope="module")
def compiler():
    """What torch's compiler does once in a process is done, with nothing cached either."""
    with torch.no_grad(), torch._inductor.config.patch(force_disable_caches=True):
        figures.dynamo(torch.nn.Softmax(dim=-1), "inductor")(torch.ones(2, 64))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", ["interpreter", "torch.compile"])
def test_inductor_first_call(model, name, benchmark):
    """Through torch's compiler, nothing of it cached; the two are to be compared."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    with torch.no_grad(), torch._inductor.config.patch(force_disable_caches=True):
        module(*inputs)
        benchmark.pedantic(lambda: by_inductor(name, module)(*inputs), rounds=1)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", ["interpreter", "torch.compile"])
def test_inductor_warm_call(model, name, benchmark):
    """What torch's compiler made, behind the two kinds of guards."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    with torch.no_grad():
        call = by_inductor(name, module)
        for _ in range(3):
            call(*inputs)
        benchmark(call, *inputs)


def by_inductor(name, module):
    return jit(module, executor="inductor") if name == "interpreter" else figures.dynamo(module, "inductor")
