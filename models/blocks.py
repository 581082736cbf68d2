"""LitGPT's building blocks by themselves: when a whole model fails, the one that fails alone says where."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from litgpt import model as litgpt_model
from litgpt.config import Config
from torch import nn

from models.architectures import configuration
from models.draw import Draw
from models.latent import BASE, VARIANTS
from models.model import Builder, Model, Sampler

BOTH = ("forward", "train")


def deepseek(scale: str, depth: int | None) -> Config:
    """The configuration that the latent and routed blocks are built from."""
    return configuration(BASE, scale, depth, **VARIANTS["deepseek"])


def attention_block(kind: str, name: str, scale: str, depth: int | None) -> nn.Module:
    """`Block` or `CausalSelfAttention`, the first of its model."""
    return getattr(litgpt_model, kind)(configuration(name, scale, depth), 0)


def latent_attention(scale: str, depth: int | None) -> nn.Module:
    return litgpt_model.MultiheadLatentAttention(deepseek(scale, depth), 0)


def mlp(kind: str, name: str, scale: str, depth: int | None) -> nn.Module:
    return getattr(litgpt_model, kind)(configuration(name, scale, depth))


def router(scale: str, depth: int | None) -> nn.Module:
    return litgpt_model.GroupedTopkRouter(deepseek(scale, depth))


def norm(scale: str, depth: int | None) -> nn.Module:
    return litgpt_model.RMSNorm(configuration(BASE, scale, depth).n_embd)


def cache(scale: str, depth: int | None) -> nn.Module:
    """A cache for two sequences, four heads, 16 positions."""
    return litgpt_model.KVCache((2, 4, 16, 8), (2, 4, 16, 8))


def hidden_and_rope(config_of: Callable[[str, int | None], Config], draw: Draw) -> tuple:
    """Hidden states (B, T, C) and the rope's cosines and sines for their positions, (1, T, n)."""
    config: Any = config_of(draw.scale, None)
    tables = litgpt_model.build_rope_cache(draw.tokens, config.rope_n_elem)
    cos, sin = (table.unsqueeze(0).to(draw.device, draw.dtype) for table in tables)
    return draw.normal(draw.batch, draw.tokens, config.n_embd), cos, sin


def hidden(name: str, draw: Draw) -> tuple:
    """Hidden states, (B, T, C)."""
    return (draw.normal(draw.batch, draw.tokens, configuration(name, draw.scale).n_embd),)


def flat_hidden(draw: Draw) -> tuple:
    """Hidden states without a batch, (B * T, C)."""
    return (draw.normal(draw.batch * draw.tokens, configuration(BASE, draw.scale).n_embd),)


def cache_entries(draw: Draw) -> tuple:
    """Three positions and their keys and values."""
    first = draw.seed % 8
    positions = torch.arange(first, first + 3, device=draw.device)
    return positions, draw.normal(2, 4, 3, 8), draw.normal(2, 4, 3, 8)


def blocks() -> list[Model]:
    """Each building block, with the configuration that shows most of it."""
    rich = "Gemma-2-2b"  # a window, caps, and norms on both sides
    plain = partial(configuration, BASE)
    models: list[tuple[str, Builder, Sampler]] = [
        ("Block", partial(attention_block, "Block", rich), partial(hidden_and_rope, partial(configuration, rich))),
        ("CausalSelfAttention", partial(attention_block, "CausalSelfAttention", BASE), partial(hidden_and_rope, plain)),
        ("MultiheadLatentAttention", latent_attention, partial(hidden_and_rope, deepseek)),
        ("GptNeoxMLP", partial(mlp, "GptNeoxMLP", "pythia-14m"), partial(hidden, "pythia-14m")),
        ("LLaMAMLP", partial(mlp, "LLaMAMLP", BASE), partial(hidden, BASE)),
        ("GemmaMLP", partial(mlp, "GemmaMLP", "Gemma-2b"), partial(hidden, "Gemma-2b")),
        ("GroupedTopkRouter", router, flat_hidden),
        ("RMSNorm", norm, partial(hidden, BASE)),
    ]
    entries = [Model(name, "block", builder, sampler, BOTH) for name, builder, sampler in models]
    return [*entries, Model("KVCache", "block", cache, cache_entries, ("forward",))]
