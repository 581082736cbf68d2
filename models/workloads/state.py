"""Putting a module back: runs that are compared must begin alike."""

from typing import Any

import torch
from torch import Tensor, nn


class State:
    """A module's buffers and, where they are going to change, its parameters, as they are now.

    Values are put back in place, so that the module keeps its tensors (a program that was recorded with them stays
    valid). Gradients are dropped, and with them what a forward pass keeps for the next one.
    """

    def __init__(self, module: nn.Module, parameters: bool) -> None:
        self.module = module
        self.buffers = copies(dict(module.named_buffers()))
        self.parameters = copies(dict(module.named_parameters())) if parameters else {}

    def restore(self) -> None:
        """Put the values back, and take away buffers that appeared since (LoRA makes one when it first needs it)."""
        now = dict(self.module.named_buffers()) | dict(self.module.named_parameters())
        for name in dict(self.module.named_buffers()):
            owner, _, attribute = name.rpartition(".")
            if name not in self.buffers:
                delattr(self.module.get_submodule(owner), attribute)
            elif now[name].dtype != self.buffers[name].dtype:  # a cache that went over to autocast's
                now[name] = torch.empty_like(self.buffers[name])
                setattr(self.module.get_submodule(owner), attribute, now[name])
        with torch.no_grad():
            for name, value in (self.buffers | self.parameters).items():
                now[name].copy_(value)
        self.module.zero_grad(set_to_none=True)
        forget(self.module)


def forget(module: nn.Module) -> None:
    """Drop what LitGPT's adapters keep of their prompt's keys and values.

    They are kept together with the graph that made them, so neither another step of training nor a change of the
    parameters may use them.
    """
    part: Any
    for part in module.modules():
        if getattr(part, "adapter_kv_cache", None) is not None:
            part.adapter_kv_cache = None


def copies(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Detached copies, under the same names."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


def named_tensors(value: object, name: str) -> dict[str, Tensor]:
    """Copies of the tensors anywhere in a result: `output` for one alone, `output.0`, `output.logits` inside others."""
    if isinstance(value, Tensor):
        return {name: value.detach().clone()}
    if isinstance(value, dict):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, (tuple, list)):
        items = [(str(index), item) for index, item in enumerate(value)]
    else:
        return {}
    found: dict[str, Tensor] = {}
    for key, item in items:
        found |= named_tensors(item, f"{name}.{key}")
    return found
