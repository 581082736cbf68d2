"""Routers that rounding does not turn.

A router takes the experts with the largest scores, and with random weights some token always has two experts that are
nearly alike. Rounding decides between them, and everything after that is another number: two runs of one dtype that
round otherwise, both right, can't be held against each other. So in the models of the zoo a token says which experts it
wants, by a few features of its own that the router reads. The experts that are taken then lie clear of the others in
every dtype, and a result that differs is the fault of who computed it.
"""

from typing import NamedTuple

import torch
from litgpt.model import GroupedTopkRouter, LLaMAMoE
from torch import Tensor, nn

#: What is added to the features of the wanted experts, which are spread around 0 with deviation 1; the weight by which
#: an expert's score reads its feature; and by how much all other weights of a router are made smaller.
WANTED, READ, OTHERS = 16.0, 1.0, 0.25


class Router(NamedTuple):
    """The weight of a router, (experts, features), and how it chooses: so many experts, out of some of its groups."""

    weight: Tensor
    chosen: int
    groups: int = 1
    chosen_groups: int = 1


def routers(module: nn.Module) -> list[Router]:
    """All routers of LitGPT's in a module: plain, grouped, and with LoRA's or an adapter's additions."""
    found = []
    for layer in module.modules():
        if isinstance(layer, LLaMAMoE):
            gate, config = layer.gate, layer.config
            grouped = (config.n_expert_groups, config.n_topk_groups) if type(gate) is GroupedTopkRouter else (1, 1)
            weight = getattr(gate, "linear", gate).weight
            found.append(Router(weight, config.n_expert_per_token, *grouped))
    return found


def wanted(wishes: Tensor, chosen: int, groups: int = 1, chosen_groups: int = 1) -> Tensor:
    """Indices of the experts with the largest `wishes`, (..., experts), in the best groups, of each the best one first.

    A router that takes groups first then finds each of the taken groups ahead of the others.
    """
    by_group = wishes.unflatten(-1, (groups, -1))
    best = by_group.amax(-1, keepdim=True)
    least = best.topk(chosen_groups, dim=-2).values[..., -1:, :]
    ranked = by_group.masked_fill(best < least, -torch.inf)
    if groups > 1:
        ranked = torch.where(by_group == best, ranked + 2 * by_group.abs().max(), ranked)
    return ranked.flatten(-2).topk(chosen).indices


def want(hidden: Tensor, experts: Tensor) -> Tensor:
    """`hidden` states, or embeddings, that want `experts`, indices (..., chosen); in place."""
    places = experts.to(hidden.device)
    return hidden.scatter_add_(-1, places, torch.full_like(places, 1, dtype=hidden.dtype) * WANTED)


@torch.no_grad()
def decisive(module: nn.Module) -> None:
    """Make the routers of a module read what tokens want, and its embeddings say it. Values stay those of bfloat16."""
    found = routers(module)
    for router in found:
        router.weight.mul_(OTHERS).diagonal().add_(READ)
        router.weight.copy_(router.weight.bfloat16())
    for embedding in [each for each in module.modules() if isinstance(each, nn.Embedding)] if found else []:
        experts = len(found[0].weight)
        wishes = torch.randn(len(embedding.weight), experts, generator=torch.Generator().manual_seed(0))
        want(embedding.weight, wanted(wishes, *found[0][1:]))
        embedding.weight.copy_(embedding.weight.bfloat16())
