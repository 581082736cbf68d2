"""LitGPT's ways of fine-tuning a few parameters: LoRA, and the two versions of LLaMA-Adapter."""

from functools import partial
from typing import Any

from litgpt import adapter, adapter_v2, lora
from torch import nn

from models.architectures import configuration
from models.gpt import WORKLOADS, token_ids
from models.model import Model
from models.routing import decisive

# What LoRA's layers branch on: which of q, k and v are adapted (all of them, or some, padded with zeros), whether the
# groups of heads are equal, and whether the rest of a block is adapted too.
TARGETS: dict[str, tuple[str, ...]] = {
    "qv": ("query", "value"),
    "qkv": ("query", "key", "value"),
    "all": ("query", "key", "value", "projection", "mlp", "head"),
    "none": (),
}
# Grouped queries, heads each with their own, and experts.
GROUPED, ALONE, MIXTURE = "Llama-3-8B", "pythia-14m", "Mixtral-8x7B-v0.1"


def with_lora(name: str, targets: str, scale: str, depth: int | None) -> nn.Module:
    """The configuration `name` with LoRA on `targets`, nothing else trainable."""
    rank = 4 if targets != "none" else 0
    fields: dict[str, Any] = {f"lora_{target}": True for target in TARGETS[targets]}
    config: Any = configuration(name, scale, depth, lora.Config, lora_r=rank, lora_alpha=8, **fields)
    module = lora.GPT(config)
    if targets != "none":
        lora.mark_only_lora_as_trainable(module)
    return module


def with_adapter(name: str, version: int, scale: str, depth: int | None) -> nn.Module:
    """The configuration `name` with a prompt in front of the keys of all layers but the first, only that trainable."""
    if version == 1:
        config: Any = configuration(name, scale, depth, adapter.Config, adapter_start_layer=1)
        module: Any = adapter.GPT(config)
        adapter.mark_only_adapter_as_trainable(module)
    else:
        config = configuration(name, scale, depth, adapter_v2.Config, adapter_start_layer=1)
        module = adapter_v2.GPT(config)
        adapter_v2.mark_only_adapter_v2_as_trainable(module)
    return module


def loras() -> list[Model]:
    """LoRA on several sets of targets and kinds of blocks, and merged."""
    variants = [
        ("qv", GROUPED, False),
        ("qv", ALONE, False),
        ("qkv", GROUPED, False),
        ("qkv", ALONE, False),
        ("all", GROUPED, False),
        ("all", MIXTURE, False),
        ("all", GROUPED, True),
        ("none", GROUPED, False),
    ]
    models = []
    for targets, name, merged in variants:
        title = f"lora-{targets}-merged-{name}" if merged else f"lora-{targets}-{name}"
        models.append(finetuned(title, "lora", name, partial(with_lora, name, targets), merged))
    return models


def adapters() -> list[Model]:
    """Both versions of the adapter."""
    variants = [(1, GROUPED), (1, ALONE), (2, GROUPED), (2, MIXTURE)]
    return [
        finetuned(f"adapter-v{version}-{name}", "adapter", name, partial(with_adapter, name, version))
        for version, name in variants
    ]


def finetuned(title: str, family: str, name: str, builder: Any, merged: bool = False) -> Model:
    """A model that is used in all the ways its plain form is, except that a merged one has nothing left to train."""
    workloads = tuple(workload for workload in WORKLOADS if not (merged and workload.startswith("train")))
    finish = lora.merge_lora_weights if merged else decisive
    return Model(title, family, builder, partial(token_ids, name), workloads, loss="tokens", finish=finish)
