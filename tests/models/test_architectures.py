"""Every configuration name of LitGPT is counted once, by a model whose code path is its own."""

from collections import Counter

import pytest
import torch
from litgpt import config as litgpt_config
from litgpt.model import GPT
from torch import nn

import models
from models import architectures
from models.architectures import configuration, family, stands_for


def test_the_models_stand_for_every_name_once():
    counts = Counter(name for model in models.zoo() for name in model.stands_for)
    assert counts == Counter(list(litgpt_config.name_to_config))
    assert models.counted() == len(litgpt_config.name_to_config)
    assert models.missing() == []


def test_each_representative_stands_for_itself_in_one_group():
    assert list(stands_for()) == list(architectures.REPRESENTATIVES)
    assert all(name in names for name, names in stands_for().items())


@pytest.fixture
def a_later_release(monkeypatch):
    """LitGPT with two more names: a copy of a known architecture, and one that no model stands for."""
    known = dict(litgpt_config.name_to_config["Llama-3-8B"], name="Llama-9-8B")
    novel = dict(litgpt_config.name_to_config["Llama-3-8B"], name="Novel-1B", parallel_residual=True, norm_qk=True)
    for fields in (known, novel):
        monkeypatch.setitem(litgpt_config.name_to_config, fields["name"], fields)
    caches = (architectures.stands_for, architectures.shape, models.zoo.__globals__["_zoo"])
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_new_names_are_counted_or_missing(a_later_release):
    assert models.missing() == ["Novel-1B"]
    assert "Llama-9-8B" in stands_for()["Llama-3-8B"]
    assert models.counted() + len(models.missing()) == len(models.config_names())


def test_a_missing_name_can_be_run_all_the_same(a_later_release):
    (model,) = models.select(["Novel-1B"])
    assert model.name == "Novel-1B"
    assert isinstance(model.build(), GPT)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Llama-3-8B", "llama"), ("CodeLlama-7b-hf", "llama"), ("QwQ-32B", "qwen"), ("stable-code-3b", "stablelm"),
     ("Mixtral-8x7B-v0.1", "mixtral"), ("123", "other")],
)
def test_families(name, expected):
    assert family(name) == expected


def structure(module: nn.Module) -> list[tuple]:
    """What a block is built of: the names and classes of its parts, and what else decides how each computes."""
    parts = []
    for name, part in module.named_modules():
        if "experts." in name and ".0" not in name:
            continue  # experts are alike, and how many there are is a size
        options = [getattr(part, "bias", None) is not None]
        options += [getattr(part, option, None) for option in ("elementwise_affine", "add_unit_offset")]
        parts.append((name, type(part), *options))
    return parts


@pytest.mark.parametrize("name", models.config_names())
def test_scaling_keeps_the_structure_of_a_block(name):
    with torch.device("meta"):
        # Deep enough for the first global layer of those that mix global and local ones.
        true = GPT(configuration(name, "full", depth=6))
        small = GPT(configuration(name, "tiny"))
    assert structure(small.transformer.h[0]) == structure(true.transformer.h[0])
    assert structure(small.transformer.ln_f) == structure(true.transformer.ln_f)
    assert (small.lm_head.bias is None) == (true.lm_head.bias is None)
    assert windows(small) == windows(true)
    assert small.cos.dim() == true.cos.dim()


def windows(gpt: GPT) -> set[bool]:
    """Whether there are layers with a window, and layers without."""
    return {bool(block.attn.apply_sliding_window_attention) for block in gpt.transformer.h}


KINDS = {
    "all heads one group": lambda c: c.n_query_groups == 1,
    "a group for each head": lambda c: c.n_query_groups == c.n_head,
    "part of a head rotates": lambda c: c.rope_n_elem < c.head_size,
    "experts": lambda c: c.n_expert > 0,
    "expert width": lambda c: c.moe_intermediate_size is not None,
    "attention cap": lambda c: c.attention_logit_softcapping,
    "final cap": lambda c: c.final_logit_softcapping,
    "own scale of scores": lambda c: c.attention_scores_scalar is not None,
    "rope rule": lambda c: c.rope_adjustments and sorted(c.rope_adjustments),
    "local rope": lambda c: c.rope_local_base_freq is not None,
    "activation": lambda c: c.mlp_class_name in ("GptNeoxMLP", "GemmaMLP") and c.gelu_approximate,
    "residual": lambda c: (c.parallel_residual, c.shared_attention_norm),
    "scaled embeddings": lambda c: c.scale_embeddings,
    "norm of q and k": lambda c: c.norm_qk and c.norm_qk_type,
}


@pytest.mark.parametrize("kind", KINDS)
def test_scaling_keeps_what_branches_depend_on(kind):
    of = KINDS[kind]
    differing = [n for n in models.config_names() if of(configuration(n)) != of(configuration(n, "full"))]
    assert differing == []


def test_a_window_is_shorter_than_the_inputs_and_than_a_decoded_sequence():
    config = configuration("Mistral-7B-v0.1")
    (ids,) = models.select(["Mistral-7B-v0.1"])[0].inputs()
    assert config.sliding_window_size < ids.size(1) < config.block_size
