"""Counts that are exact: what is interpreted and recorded, against what CPython executes and against a second
recording.
"""

import fnmatch

import pytest
import torch

from harness.counting import native_instructions
from interpreter import jit
from models import zoo

CHOSEN = [model for model in zoo() if model.stands_for and any(
    fnmatch.fnmatch(model.name, glob) for glob in ("pythia*", "falcon-7b", "Llama-3-8B", "Gemma-2-2b", "Mixtral*"))]


@pytest.mark.parametrize("model", CHOSEN, ids=lambda model: model.name)
def test_no_more_is_interpreted_than_cpython_executes(model):
    """The interpreted instructions of a first call are at most 1.2 times those of the eager call."""
    module, inputs = model.build().eval(), model.inputs(seed=0)
    with torch.no_grad():
        module(*inputs)
        native = native_instructions(lambda: module(*inputs))
        jitted = jit(module)
        jitted(*inputs)
    assert 0 < jitted.stats.entries[0].instructions <= 1.2 * native


@pytest.mark.parametrize("model", CHOSEN, ids=lambda model: model.name)
def test_recording_twice_gives_the_same_program(model):
    """Two fresh jits of one module on different inputs record the same guards, operations and instructions."""
    module = model.build().eval()
    records = []
    with torch.no_grad():
        module(*model.inputs(seed=0))
        for seed in (1, 2):
            jitted = jit(module)
            jitted(*model.inputs(seed=seed))
            entry = jitted.stats.entries[0]
            records.append(
                (
                    [str(guard) for guard in entry.guards],
                    [str(operation) for operation in entry.operations],
                    entry.instructions,
                )
            )
    assert records[0] == records[1]


@pytest.mark.parametrize("model", CHOSEN, ids=lambda model: model.name)
def test_one_program_serves_other_inputs_bitwise(model):
    """One entry without a tail serves inputs it was not recorded with, and gives eager's bits."""
    module = model.build().eval()
    jitted = jit(module)
    with torch.no_grad():
        jitted(*model.inputs(seed=0))
        for seed in (1, 2, 3):
            inputs = model.inputs(seed=seed)
            assert torch.equal(jitted(*inputs), module(*inputs))
    stats = jitted.stats
    assert (len(stats.entries), stats.hits, stats.exits, stats.entries[0].tail) == (1, 3, 0, None)
