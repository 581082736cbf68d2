"""Routers that rounding does not turn.

A router takes the experts with the largest scores, and with random weights some token always has two experts that are
nearly alike. Rounding decides between them, and everything after that is another number: two runs of one dtype that
round otherwise, both right, can't be held against each other. So in the models of the zoo a token says which experts it
wants, by a few features of its own that the router reads. The experts that are taken then lie clear of the others in
every dtype, and a result that differs is the fault of who computed it.
"""

import torch
from litgpt.model import LLaMAMoE
from torch import Tensor, nn

#: What is added to the features of the wanted experts, which are spread around 0 with deviation 1; the weight by which
#: an expert's score reads its feature; and by how much all other weights of a router are made smaller.
WANTED, READ, OTHERS = 16.0, 1.0, 0.25


def want(hidden: Tensor, wishes: Tensor, chosen: int) -> Tensor:
    """`hidden` states, or embeddings, that want the `chosen` experts with the largest of their `wishes`; in place."""
    wanted = wishes.topk(chosen).indices.to(hidden.device)
    return hidden.scatter_add_(-1, wanted, torch.full_like(wanted, 1, dtype=hidden.dtype) * WANTED)


@torch.no_grad()
def decisive(module: nn.Module) -> None:
    """Make the routers of a module read what tokens want, and its embeddings say it. Values stay those of bfloat16."""
    layers = [layer for layer in module.modules() if isinstance(layer, LLaMAMoE)]
    for layer in layers:
        gate = getattr(layer.gate, "linear", layer.gate)
        if isinstance(gate, nn.Linear):
            gate.weight.mul_(OTHERS).diagonal().add_(READ)
            gate.weight.copy_(gate.weight.bfloat16())
    for embedding in [each for each in module.modules() if isinstance(each, nn.Embedding)] if layers else []:
        config = layers[0].config
        wishes = torch.randn(len(embedding.weight), config.n_expert, generator=torch.Generator().manual_seed(0))
        want(embedding.weight, wishes, config.n_expert_per_token)
        embedding.weight.copy_(embedding.weight.bfloat16())
