"""One function makes every configuration of LitGPT small, keeping what shapes the code path.

What only costs time (layers, widths, vocabulary, context) is cut to the sizes below. What decides which lines run is
kept: classes of norm and MLP, biases, residual layout, the kind of query grouping, how much of a head rotates and by
which rule, windows, caps, experts, norms of q and k. Lengths that are compared with one another (window, context,
original context of a stretched rope) are cut together, so that the same side of each comparison is taken.
"""

import dataclasses
import json
from functools import partial
from typing import Any

from litgpt.config import Config

SCALES = ("tiny", "full")

LAYERS = 2
WIDTH = 64
HEADS = 4
HEAD_SIZE = WIDTH // HEADS
INTERMEDIATE = 96
EXPERT_INTERMEDIATE = 48
EXPERTS = 8
EXPERTS_PER_TOKEN = 2
VOCABULARY = 128
CONTEXT = 64
WINDOW = 8
# The rope of a stretched context was trained for half of it, so that both branches of its formula are taken.
ORIGINAL_CONTEXT = CONTEXT // 2
# At full scale the rope and mask caches of a million positions would outweigh the model and change no line that runs.
FULL_CONTEXT = 4096


def scaled(config: Config, layers: int = LAYERS) -> dict[str, Any]:
    """The fields of `config`, made small: keyword arguments for its class. `layers` is the depth.

    Fields this function does not know (of a later LitGPT) are kept as they are.
    """
    fields = given(config)
    fields |= {
        "hf_config": {},
        "n_layer": layers,
        "n_embd": WIDTH,
        "n_head": HEADS,
        "head_size": HEAD_SIZE,
        "n_query_groups": query_groups(config),
        "vocab_size": VOCABULARY,
        "padding_multiple": VOCABULARY,
        "padded_vocab_size": VOCABULARY,
        "block_size": CONTEXT,
        "intermediate_size": INTERMEDIATE,
        "norm_eps": 1e-5,
        "rope_base": 10_000,
        "attn_bias": config.bias or config.attn_bias,
    }
    if not config.norm_qk:
        fields["norm_qk_type"] = "default"
    if config.mlp_class_name not in ("GptNeoxMLP", "GemmaMLP"):
        fields["gelu_approximate"] = "none"  # no other MLP reads it
    if config.attention_scores_scalar is not None:
        fields["attention_scores_scalar"] = HEAD_SIZE
    if config.sliding_window_size is not None:
        fields["sliding_window_size"] = WINDOW
        fields["sliding_window_indices"] = placement(config.sliding_window_indices, config.n_layer, layers)
    if config.rope_local_base_freq is not None:
        fields["rope_local_base_freq"] = 10_000
        fields["rope_indices"] = placement(config.rope_indices, config.n_layer, layers)
    if config.rope_adjustments is not None:
        fields["rope_adjustments"] = rope_adjustments(config.rope_adjustments)
    if config.n_expert:
        fields |= {"n_expert": EXPERTS, "n_expert_per_token": EXPERTS_PER_TOKEN}
    if config.moe_intermediate_size is not None:
        fields["moe_intermediate_size"] = EXPERT_INTERMEDIATE
    return fields


def full(config: Config, layers: int | None = None) -> dict[str, Any]:
    """The fields of `config` in their true sizes, `layers` deep (None: all), with a context that fits in memory."""
    fields = given(config)
    fields["n_layer"] = layers or config.n_layer
    fields["block_size"] = min(config.block_size, FULL_CONTEXT)
    for name in ("sliding_window_indices", "rope_indices"):
        if fields[name] is not None and fields["n_layer"] > len(fields[name]):
            fields[name] = placement(fields[name], config.n_layer, fields["n_layer"])
    return fields


def given(config: Config) -> dict[str, Any]:
    """What the class of `config` takes as arguments, with the values that `config` has."""
    return {field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.init}


def query_groups(config: Config) -> int:
    """As many groups as keep the kind: one for all heads (MQA), one for each (MHA), or in between (GQA)."""
    if config.n_query_groups == config.n_head:
        return HEADS
    return 1 if config.n_query_groups == 1 else HEADS // 2


def placement(indices: list[int] | None, layers: int, wanted: int) -> list[int]:
    """Which layers are local, for `wanted` layers: all, none, or in turn where the original mixes them."""
    kinds = set((indices or [1])[:layers])
    if len(kinds) == 1:
        return [*kinds] * wanted
    return [1 - i % 2 for i in range(wanted)]


def rope_adjustments(adjustments: dict[str, Any]) -> dict[str, Any]:
    """The same rule (linear, Llama 3 or YaRN: the keys say which) with one set of numbers."""
    numbers = {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "original_max_seq_len": ORIGINAL_CONTEXT,
    }
    return {key: numbers.get(key, value) for key, value in adjustments.items()}


def shape_of(config: Config) -> str:
    """A text that two configurations share exactly when they build and run the same model.

    The name takes part through the class of norm only: LitGPT chooses that by looking for family names in it.
    """
    fields = given(config)
    del fields["name"], fields["hf_config"]
    norm: Any = config.norm_class
    if isinstance(norm, partial):
        # An option that is off is as good as one that is not given.
        norm = (norm.func.__qualname__, sorted(norm.keywords.items()))
    else:
        norm = (norm.__qualname__, [])
    return json.dumps([fields, norm], sort_keys=True, default=str)
