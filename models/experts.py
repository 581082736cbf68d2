"""Mixtures of experts by themselves: LitGPT's layer, and the layer this project began with."""

import torch
from litgpt.model import LLaMAMoE
from torch import Tensor, nn

from models.architectures import configuration
from models.draw import Draw
from models.model import Model
from models.routing import decisive, want, wanted
from models.scale import EXPERTS, EXPERTS_PER_TOKEN, WIDTH

MIXTURE = "Mixtral-8x7B-v0.1"


class StaticExperts(nn.Module):
    """Every expert sees every token, so that no shape depends on the data.

    It iterates `zip(masks, self.experts)`: an interpreter that can't look through the C function `zip` gets the experts
    out of an opaque call, and their weights have no known origin. It indexes the probabilities, (tokens, chosen), with
    the token number on both axes: more tokens than chosen experts are out of range, and eager raises IndexError.
    """

    def __init__(self, experts: int = 8, width: int = 16, chosen: int = 2) -> None:
        super().__init__()
        self.chosen = chosen
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(experts))

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        x = x.view(-1, C)
        probs, indices = torch.topk(self.gate(x), self.chosen)
        probs = probs.softmax(dim=1, dtype=torch.float).to(dtype=x.dtype)
        masks = indices.unsqueeze(-1) == torch.arange(len(self.experts), device=x.device)
        masks = masks.permute(2, 0, 1)
        y = torch.zeros_like(x)
        for mask, expert in zip(masks, self.experts):
            token = torch.arange(mask.size(0), device=x.device)
            y = torch.index_add(y, 0, token, probs[token, token, None] * expert(x[token]))
        return y.view(B, T, C)


def static_experts(scale: str, depth: int | None) -> nn.Module:
    return StaticExperts()


def litgpt_experts(scale: str, depth: int | None) -> nn.Module:
    return LLaMAMoE(configuration(MIXTURE, scale, depth))


def hidden(draw: Draw) -> tuple:
    """A batch of hidden states, (B, T, C). With an odd seed all tokens are alike: most experts get none of them."""
    width = 4096 if draw.scale == "full" else WIDTH
    batch, tokens = (1, 1) if draw.seed % 2 else (draw.batch, draw.tokens)
    states = draw.normal(batch, tokens, width)
    want(states, wanted(draw.normal(batch, tokens, EXPERTS), EXPERTS_PER_TOKEN))
    states /= 4  # about as long as the layer's norm gives them
    return (states.bfloat16().to(draw.dtype).expand(draw.batch, draw.tokens, width).contiguous(),)


def in_range(draw: Draw) -> tuple:
    """As many tokens as chosen experts."""
    return (draw.normal(1, 2, 16),)


def out_of_range(draw: Draw) -> tuple:
    """More tokens than chosen experts."""
    return (draw.normal(2, 3, 16),)


def experts() -> list[Model]:
    """LitGPT's layer, and the layer of the original report with inputs of both kinds."""
    both = ("forward", "train", "forward-autocast", "train-autocast")
    return [
        Model("LLaMAMoE", "moe", litgpt_experts, hidden, both, finish=decisive),
        Model("StaticExperts", "moe", static_experts, in_range, both),
        Model(
            "StaticExperts-out-of-range", "moe", static_experts, out_of_range, ("forward",),
            expected="IndexError",
        ),
    ]
