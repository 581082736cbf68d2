"""Mixtures of experts: rounding turns no router of the zoo, so one that takes another expert is found in any dtype."""

import contextlib
from unittest import mock

import pytest
import torch
from litgpt.model import LLaMAMoE

from harness import parity
from models import WORKLOADS, select

MODELS = ["Mixtral-8x7B-v0.1", "Qwen3-30B-A3B", "LLaMAMoE", "lora-all-Mixtral-8x7B-v0.1",
          "adapter-v2-Mixtral-8x7B-v0.1"]
NARROW = [torch.float16, torch.bfloat16]
TOPK = torch.topk


def results(model, workload, dtype, seed, change=lambda module: None, computed=None):
    """What the workload gives on weights in `dtype`, computed in another if `computed` says so."""
    (model,) = select([model])
    module = model.build(dtype=dtype, workload=workload)
    change(module)
    module = module.to(computed or dtype)
    how = WORKLOADS[workload]
    with torch.set_grad_enabled(how.grad):
        return how.prepare(model, module, seed=seed).run(how.target(module))


def judged(got, model, workload, dtype, seed):
    """The class of a run, as a cell is judged."""
    want, exact = (results(model, workload, dtype, seed, computed=computed) for computed in (None, torch.float64))
    return parity.compare(want, got, exact, dtype).parity


def routes(model, workload, dtype, computed, seed):
    """The experts of each token in each layer, and by how much the last of them was ahead of the others."""
    taken, lead = [], []

    def chosen(scores, count):
        values, indices = TOPK(scores, count + 1)
        taken.append(indices[:, :count].sort().values)
        lead.append(float((values[:, count - 1] - values[:, count]).detach().min()))
        return TOPK(scores, count)

    with mock.patch("torch.topk", chosen):
        results(model, workload, dtype, seed, computed=computed)
    return torch.cat(taken), min(lead)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("workload", ["forward", "train", "decode"])
@pytest.mark.parametrize("model", MODELS)
def test_the_same_experts_are_taken_in_every_dtype(model, workload, dtype):
    if workload not in select([model])[0].workloads:
        pytest.skip("has no cache")
    for seed in range(4):
        (exact, lead), (found, _) = (routes(model, workload, dtype, each, seed) for each in (torch.float64, None))
        assert torch.equal(exact, found)
        assert lead > 16 * torch.finfo(torch.bfloat16).eps


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("workload", ["forward", "train"])
@pytest.mark.parametrize("model", ["deepseek", "grouped-experts"])
def test_the_same_experts_are_taken_by_grouped_routers(model, workload, dtype):
    """Of groups, and within them."""
    for seed in range(4):
        taken = []

        def chosen(scores, k=None, *args, taken=taken, **kwargs):
            found = TOPK(scores, k, *args, **kwargs)
            taken.append(found[1].sort(-1).values.flatten())
            return found

        for computed in (torch.float64, None):
            with mock.patch("torch.topk", chosen):
                results(model, workload, dtype, seed, computed=computed)
        assert taken and len(taken) % 2 == 0
        exact, found = taken[: len(taken) // 2], taken[len(taken) // 2 :]
        assert torch.equal(torch.cat(exact), torch.cat(found))


@pytest.mark.parametrize("model", MODELS)
def test_every_expert_is_taken_and_not_by_all(model):
    taken, _ = routes(model, "forward", torch.float32, None, 0)
    assert taken.unique().tolist() == list(range(8))
    assert len(taken.unique(dim=0)) > 8


def swapped(module):
    for layer in [layer for layer in module.modules() if isinstance(layer, LLaMAMoE)][-1:]:
        layer.experts[2].load_state_dict(layer.experts[5].state_dict())


@contextlib.contextmanager
def off_by_one(tokens):
    """The last expert is the one after it, for the first `tokens` tokens."""

    def chosen(scores, count):
        values, indices = TOPK(scores, count + 1)
        number = torch.arange(len(scores))[:, None] < tokens
        last = [torch.where(number, found[:, count:], found[:, count - 1 : count]) for found in (values, indices)]
        return tuple(torch.cat([found[:, : count - 1], end], 1) for found, end in zip((values, indices), last))

    with mock.patch("torch.topk", chosen):
        yield


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("workload", ["forward", "train"])
@pytest.mark.parametrize("model", MODELS)
def test_a_wrong_router_differs_and_other_rounding_does_not(model, workload, dtype):
    cell = model, workload, dtype, 2
    in_float32 = results(*cell, computed=torch.float32)
    as_judged = {name: value.to(dtype) if value.dtype == torch.float32 and not name.startswith("loss") else value
                 for name, value in in_float32.items()}
    assert judged(as_judged, *cell) == "close"
    assert judged(results(*cell, change=swapped), *cell) == "differs"
    for tokens in (1, 10**6):
        with off_by_one(tokens):
            wrong = results(*cell)
        assert judged(wrong, *cell) == "differs"
