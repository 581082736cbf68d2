"""What LitGPT can build though no configuration of it does: latent attention, grouped routers, YaRN, and so on."""

from functools import partial
from typing import Any

from litgpt.config import Config
from litgpt.model import GPT
from torch import nn

from models.architectures import configuration
from models.draw import Draw
from models.gpt import WORKLOADS
from models.model import Model
from models.routing import decisive
from models.scale import EXPERT_INTERMEDIATE, EXPERTS, EXPERTS_PER_TOKEN, ORIGINAL_CONTEXT, VOCABULARY

BASE = "Llama-2-7b-hf"

LATENT: dict[str, Any] = {
    "latent_attention": {
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 16,
        "v_head_dim": 16,
    },
}
GROUPED_EXPERTS: dict[str, Any] = {
    "mlp_class_name": "LLaMAMoE",
    "n_expert": EXPERTS,
    "n_expert_per_token": EXPERTS_PER_TOKEN,
    "n_expert_groups": 4,
    "n_topk_groups": 2,
    "n_topk_scores_per_group": 2,
    "n_shared_expert": 1,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": EXPERT_INTERMEDIATE,
    "routed_scaling_factor": 2.5,
    "norm_topk_prob": True,
}
YARN: dict[str, Any] = {
    "rope_adjustments": {
        "factor": 8.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "original_max_seq_len": ORIGINAL_CONTEXT,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    },
}
# Each is a set of fields on top of BASE; the first is DeepSeek's arrangement of all of them.
VARIANTS: dict[str, dict[str, Any]] = {
    "deepseek": LATENT | GROUPED_EXPERTS | YARN | {"rope_interleave": True},
    "latent-attention": LATENT,
    "grouped-experts": GROUPED_EXPERTS,
    "yarn": YARN,
    "rope-interleaved": {"rope_interleave": True},
    "latent-softcapped": LATENT | {"attention_logit_softcapping": 50.0},
}


def variant(name: str, scale: str, depth: int | None) -> nn.Module:
    """One of VARIANTS as a GPT. They have no true size: at full scale it is the base's, with these fields."""
    return GPT(configuration(BASE, scale, depth, **VARIANTS[name]))


def ids(draw: Draw) -> tuple:
    """A batch of token ids, (B, T)."""
    vocabulary = Config.from_name(BASE).padded_vocab_size if draw.scale == "full" else VOCABULARY
    return (draw.ids(vocabulary or VOCABULARY, draw.batch, draw.tokens),)


def variants() -> list[Model]:
    """A model for each of VARIANTS."""
    return [
        Model(name, "latent", partial(variant, name), ids, WORKLOADS, loss="tokens", finish=decisive)
        for name in VARIANTS
    ]
