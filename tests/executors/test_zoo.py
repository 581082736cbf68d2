"""Models of the zoo on the executors: recorded with some inputs, served with others, from one graph each."""

import pytest
import torch

from interpreter import jit
from models import WORKLOADS, select
from tests.executors.jits import graph_itself

#: Their training has several graphs: the adapters keep a value on the module from which more is computed, and the
#: grouped router chooses without gradients what it then weighs with them.
PARTED = {*(model.name for model in select(["family:adapter"])), "GroupedTopkRouter", "deepseek", "grouped-experts"}


def check_cell(name, workload, executor, exact=True):
    """Recorded with some inputs, run with others: bitwise as eager, from one graph each."""
    (model,) = select([name])
    how = WORKLOADS[workload]
    module = model.build(workload=workload)
    first, other = how.prepare(model, module), how.prepare(model, module, seed=1)
    jitted = jit(how.target(module), executor=executor)
    first.run(jitted)
    first.reset()
    expected = other.run(how.target(module))
    other.reset()
    hits = jitted.stats.hits
    actual = other.run(jitted)
    assert jitted.stats.hits > hits
    assert expected.keys() == actual.keys()
    for key, value in expected.items():
        if exact:
            assert torch.equal(value, actual[key]), key
        else:
            torch.testing.assert_close(value, actual[key], msg=key, rtol=1e-3, atol=1e-4)
    compiled = [form for entry in jitted.stats.entries for form in entry.program.compiled]
    assert compiled
    assert not any(entry.fallbacks for entry in jitted.stats.entries)
    if not (name in PARTED and workload == "train"):
        assert {len(form.graphs) for form in compiled} == {1}


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("pythia-14m", "train"),
        ("Mixtral-8x7B-v0.1", "forward"),
        ("Mistral-7B-v0.1", "decode"),
        ("Llama-3-8B", "decode-maxp1"),
    ],
)
def test_models_on_aot(name, workload):
    check_cell(name, workload, "aot")


def test_a_model_on_a_backend_of_ones_own():
    check_cell("Gemma-2b", "train", graph_itself)


@pytest.mark.long
@pytest.mark.parametrize("model", [model.name for model in select([]) if model.expected is None])
@pytest.mark.parametrize("workload", ["forward", "train", "decode"])
@pytest.mark.parametrize("executor", ["aot", "inductor"])
def test_the_zoo(model, workload, executor):
    if select([model])[0].supports(workload) is None:
        check_cell(model, workload, executor, exact=executor == "aot")
