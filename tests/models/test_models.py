"""Each model of the zoo builds, and its workloads do what they say, the same each time."""

import pickle

import pytest
import torch

import models
from models import WORKLOADS, select, zoo
from models.architectures import configuration

CELLS = [(model, workload) for model in zoo() for workload in model.workloads if model.expected is None]
IDS = [f"{model.name}-{workload}" for model, workload in CELLS]


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(("model", "name"), CELLS, ids=IDS)
def test_a_job_runs_the_same_after_a_reset_and_otherwise_with_another_seed(model, name):
    workload = WORKLOADS[name]
    module = model.build(workload=name)
    target = workload.target(module)
    job = workload.prepare(model, module, seed=0)
    random = torch.get_rng_state()
    first = job.run(target)
    assert torch.equal(torch.get_rng_state(), random)
    job.reset()
    assert equal(first, job.run(target))
    job.reset()
    assert all(value.isfinite().all() for value in first.values() if value.is_floating_point())
    other = workload.prepare(model, module, seed=1).run(target)
    made = [key for key in first if key.split(".")[0] in ("output", "loss", "logits", "cache")]
    assert made
    assert not equal({key: first[key] for key in made}, {key: other[key] for key in made})


def test_a_model_with_an_expected_error_raises_it():
    (model,) = [model for model in zoo() if model.expected]
    for seed in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            WORKLOADS["forward"].prepare(model, model.build(), seed=seed).run(model.build())


@pytest.mark.parametrize("model", zoo(), ids=lambda model: model.name)
def test_equal_seeds_build_equal_models_in_every_dtype(model):
    first, second = model.build(seed=3).state_dict(), model.build(seed=3).state_dict()
    other, double = model.build(seed=4).state_dict(), model.build(seed=3, dtype=torch.float64).state_dict()
    assert equal(first, second)
    assert not first or not equal(first, other)
    parameters = dict(model.build().named_parameters())
    assert all(torch.equal(first[name].double(), double[name]) for name in parameters)


def test_inputs_are_new_on_each_call_and_equal_numbers_in_every_dtype():
    (model,) = select(["LLaMAMoE"])
    first, second = model.inputs(seed=2)[0], model.inputs(seed=2)[0]
    assert first is not second
    assert torch.equal(first, second)
    assert torch.equal(first, model.inputs(seed=2, dtype=torch.bfloat16)[0].float())
    assert not torch.equal(first, model.inputs(seed=4)[0])


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_odd_seeds_leave_experts_without_a_token(seed):
    (model,) = select(["LLaMAMoE"])
    module = model.build()
    chosen = torch.topk(module.gate(model.inputs(seed=seed)[0]), 2).indices
    assert chosen.unique().numel() < len(module.experts)


def test_models_can_be_sent_to_another_process():
    for model in zoo():
        again = pickle.loads(pickle.dumps(model))
        assert again.name == model.name
        assert equal(again.build().state_dict(), model.build().state_dict())


def test_training_changes_what_can_be_trained_and_a_reset_puts_it_back():
    for name in ("pythia-14m", "lora-qv-Llama-3-8B"):
        (model,) = select([name])
        module = model.build(workload="train")
        before = {key: value.detach().clone() for key, value in module.named_parameters()}
        job = WORKLOADS["train"].prepare(model, module)
        results = job.run(module)
        for key, parameter in module.named_parameters():
            assert parameter.requires_grad == (not torch.equal(results[f"param.{key}"], before[key])), key
        job.reset()
        assert all(torch.equal(value, before[key]) for key, value in module.named_parameters())
        assert all(parameter.grad is None for parameter in module.parameters())


@pytest.mark.parametrize("name", ["forward", "generate"])
def test_a_reset_takes_away_what_a_run_added_to_the_module(name):
    (model,) = select(["lora-qv-Llama-3-8B"])
    module = model.build()
    job = WORKLOADS[name].prepare(model, module)
    before = set(dict(module.named_buffers()))
    job.run(module)
    assert set(dict(module.named_buffers())) > before
    job.reset()
    assert set(dict(module.named_buffers())) == before
    WORKLOADS[name].prepare(model, module, seed=1).run(module)


@pytest.mark.parametrize("name", ["Llama-3-8B", "LLaMAMoE", "deepseek", "lora-all-Mixtral-8x7B-v0.1"])
def test_training_stays_finite_in_the_narrowest_dtype(name):
    (model,) = select([name])
    module = model.build(dtype=torch.float16, workload="train")
    results = WORKLOADS["train"].prepare(model, module).run(module)
    assert all(value.isfinite().all() for value in results.values() if value.is_floating_point())


def cacheable(model: models.Model) -> bool:
    """Whether LitGPT's cached decoding computes what its plain forward does: it adds a mask of True and False to
    capped scores, and its ring of a window keeps no order."""
    config = configuration(model.name)
    return config.attention_logit_softcapping is None and config.sliding_window_size is None


ARCHITECTURES = [model for model in zoo() if model.stands_for and cacheable(model)]


@pytest.mark.parametrize("name", ["decode", "decode-maxp1"])
@pytest.mark.parametrize("model", ARCHITECTURES, ids=lambda model: model.name)
def test_decoding_gives_the_logits_of_one_forward_over_the_whole_sequence(model, name):
    module = model.build(dtype=torch.float64)
    job = WORKLOADS[name].prepare(model, module)
    results = job.run(module)
    steps = torch.cat([results[f"logits.{step}"] for step in range(len(job.pieces))], dim=1)
    with torch.no_grad():
        whole = module(torch.cat(job.pieces, dim=1))
    # Norms and ropes compute in float32 whatever the dtype is.
    torch.testing.assert_close(steps, whole, rtol=1e-4, atol=1e-4)


def test_greedy_generation_takes_the_most_probable_token_each_time():
    (model,) = select(["pythia-14m"])
    module = model.build()
    job = WORKLOADS["generate"].prepare(model, module)
    tokens = job.run(module)["tokens"]
    with torch.no_grad():
        expected = module(tokens[None])[0].argmax(-1)
    prompt = job.prompt.numel()
    assert torch.equal(tokens[prompt:], expected[prompt - 1 : -1])


def test_the_sampling_loop_draws_as_the_loop_around_the_model():
    (model,) = select(["Llama-3-8B"])
    module = model.build()
    around = WORKLOADS["generate-sampled"].prepare(model, module, seed=5).run(module)
    loop = WORKLOADS["generate-loop"]
    assert equal(around, loop.prepare(model, module, seed=5).run(loop.target(module)))


def test_chunks_of_the_head_are_the_head():
    (model,) = select(["Gemma-2-2b"])
    module = model.build()
    whole = WORKLOADS["forward"].prepare(model, module).run(module)["output"]
    parts = WORKLOADS["chunked-head"].prepare(model, module).run(module)
    chunks = [parts[f"output.{index}"] for index in range(3)]
    assert [chunk.size(1) for chunk in chunks] == [6, 6, 4]
    torch.testing.assert_close(torch.cat(chunks, dim=1), whole)


def test_full_scale_has_the_true_widths():
    (model,) = select(["pythia-14m"])
    module = model.build(scale="full", depth=1, dtype=torch.bfloat16)
    assert module.config.n_embd == 128
    assert len(module.transformer.h) == 1
    assert {parameter.dtype for parameter in module.parameters()} == {torch.bfloat16}
    results = WORKLOADS["decode"].prepare(model, module, scale="full").run(module)
    assert results["logits.8"].shape == (1, 1, 50304)


@pytest.mark.parametrize("wrong", [{"scale": "huge"}, {"depth": 0}])
def test_a_size_that_does_not_exist_is_refused(wrong):
    with pytest.raises(ValueError, match="scale|depth"):
        zoo()[0].build(**wrong)


def test_a_workload_that_does_not_fit_is_refused():
    (model,) = select(["LLaMAMoE"])
    assert "LLaMAMoE takes forward, train" in model.supports("decode")
    with pytest.raises(ValueError, match="not decode"):
        WORKLOADS["decode"].prepare(model, model.build())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["pythia-14m", "Llama-3-8B", "LLaMAMoE"])
def test_training_differs_from_float64_by_rounding(name, dtype):
    """Two steps of the optimiser must not make more of it: nothing could be judged by such a run."""
    (model,) = select([name])
    module = model.build(workload="train", depth=1, dtype=dtype)
    exact = model.build(workload="train", depth=1, dtype=dtype).double()
    found = WORKLOADS["train"].prepare(model, module, seed=1).run(module)
    expected = WORKLOADS["train"].prepare(model, exact, seed=1).run(exact)
    for key, value in expected.items():
        if value.is_floating_point():
            error = (value.double() - found[key].double()).abs().max()
            assert error <= 12 * torch.finfo(dtype).eps * value.abs().max(), key


@pytest.mark.parametrize("name", ["generate", "generate-sampled", "generate-loop"])
def test_a_run_in_float64_that_follows_another_takes_its_tokens(name):
    """By itself it takes others for some inputs, and its caches then say nothing about the other's."""
    (model,) = select(["Llama-3-8B"])
    workload = WORKLOADS[name]
    module, exact = model.build(dtype=torch.bfloat16), model.build(dtype=torch.bfloat16).double()
    apart = 0
    for seed in range(12):
        found = workload.prepare(model, module, seed=seed).run(workload.target(module))
        job = workload.prepare(model, exact, seed=seed)
        alone = job.run(workload.target(exact))
        job.reset()
        job.follows = found
        followed = job.run(workload.target(exact))
        assert torch.equal(found["tokens"], followed["tokens"])
        apart += not torch.equal(found["tokens"], alone["tokens"])
        for key in [key for key in found if key.startswith("cache")]:
            error = (followed[key] - found[key].double()).abs().max()
            assert error <= 8 * torch.finfo(torch.bfloat16).eps * followed[key].abs().max(), key
    assert apart
