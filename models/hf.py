"""Tiny models of `transformers`, with random weights, from their configurations alone: nothing is downloaded.

They are part of the zoo where the extra is installed (`pip install zoobench[hf]`). The sizes are LitGPT's tiny ones.
"""

import importlib.util
from functools import partial
from typing import Any

from torch import nn

from models.draw import Draw
from models.model import Model
from models.scale import (
    CONTEXT,
    EXPERTS,
    EXPERTS_PER_TOKEN,
    HEAD_SIZE,
    HEADS,
    INTERMEDIATE,
    LAYERS,
    VOCABULARY,
    WIDTH,
    WINDOW,
)

PREFIX = "hf-"

# Names of the sizes that most configurations share, then what a family calls otherwise or has besides.
SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "intermediate_size": INTERMEDIATE,
    "max_position_embeddings": CONTEXT,
}
GROUPED = {"num_key_value_heads": HEADS // 2}
GPT2_SIZES = {"n_embd": WIDTH, "n_head": HEADS, "n_inner": INTERMEDIATE, "n_positions": CONTEXT}
FAMILIES: dict[str, dict[str, Any]] = {
    "gpt2": GPT2_SIZES,
    "gpt_bigcode": GPT2_SIZES,
    "gptj": GPT2_SIZES | {"rotary_dim": 8},
    "codegen": GPT2_SIZES | {"rotary_dim": 8},
    "gpt_neo": {"hidden_size": WIDTH, "num_heads": HEADS, "intermediate_size": INTERMEDIATE,
                "max_position_embeddings": CONTEXT, "window_size": WINDOW},
    "gpt_neox": SIZES,
    "opt": {"hidden_size": WIDTH, "num_attention_heads": HEADS, "ffn_dim": INTERMEDIATE, "word_embed_proj_dim": WIDTH,
            "max_position_embeddings": CONTEXT},
    "bloom": {"hidden_size": WIDTH, "n_head": HEADS},
    "mpt": {"d_model": WIDTH, "n_heads": HEADS, "max_seq_len": CONTEXT},
    "llama": SIZES | GROUPED,
    "mistral": SIZES | GROUPED | {"sliding_window": WINDOW},
    "mixtral": SIZES | GROUPED | {"num_local_experts": EXPERTS, "num_experts_per_tok": EXPERTS_PER_TOKEN},
    "qwen2": SIZES | GROUPED,
    "qwen3": SIZES | GROUPED | {"head_dim": HEAD_SIZE},
    "gemma": SIZES | GROUPED | {"head_dim": HEAD_SIZE},
    "gemma2": SIZES | GROUPED | {"head_dim": HEAD_SIZE, "sliding_window": WINDOW},
    "phi": SIZES,
    "phi3": SIZES | GROUPED,
    "falcon": {"hidden_size": WIDTH, "num_attention_heads": HEADS},
    "stablelm": SIZES | GROUPED,
    "starcoder2": SIZES | GROUPED,
    "cohere": SIZES | GROUPED,
    "olmo": SIZES | GROUPED,
    "olmo2": SIZES | GROUPED,
    "granite": SIZES | GROUPED,
    "persimmon": SIZES,
}
DEPTH_NAMES = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


def available() -> bool:
    """Whether `transformers` is installed."""
    return importlib.util.find_spec("transformers") is not None


def causal(family: str, scale: str, depth: int | None) -> nn.Module:
    """A causal language model of `family`. It has one width; `depth` layers (None: 2)."""
    from transformers import AutoConfig, AutoModelForCausalLM

    layers = depth or LAYERS
    fields = FAMILIES[family] | {"vocab_size": VOCABULARY, "use_cache": False, "tie_word_embeddings": False}
    fields |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = AutoConfig.for_model(family)
    name = next(name for name in DEPTH_NAMES if name in type(config)().to_dict())
    if family == "gpt_neo":  # its layers come in pairs, a global one and a local one
        fields["attention_types"] = [[["global", "local"], (layers + 1) // 2]]
        layers += layers % 2
    config = AutoConfig.for_model(family, **fields, **{name: layers})
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")


def ids(draw: Draw) -> tuple:
    """A batch of token ids, (B, T)."""
    return (draw.ids(VOCABULARY, draw.batch, draw.tokens),)


def families() -> list[Model]:
    """A model for each of FAMILIES; none where `transformers` is not installed."""
    if not available():
        return []
    names = {family: PREFIX + family.replace("_", "-") for family in FAMILIES}
    return [Model(name, "hf", partial(causal, family), ids, ("forward", "train"), default=False)
            for family, name in names.items()]
