"""Decoding with a key-value cache: a prefill, then one token at a time."""

import contextlib
import io
from typing import Any

import torch
from torch import Tensor

from models.workloads.state import forget, named_tensors
from models.workloads.workload import Call, Job

STEPS = 8
# Within the window of the tiny models that have one (LitGPT refuses a longer prefill); the steps go past it.
PREFILL = 6
FULL_PREFILL = 64


def fit_cache(module: Any, batch: int, dtype: torch.dtype, device: torch.device) -> None:
    """Give `module` an empty cache for `batch` sequences, the one it has already if it fits."""
    caches = [block.attn.kv_cache for block in module.transformer.h]
    if any(cache is None or cache.k.size(0) != batch or cache.k.dtype != dtype for cache in caches):
        # LitGPT prints that latent attention ignores an argument which it passes itself.
        with contextlib.redirect_stdout(io.StringIO()):
            module.set_kv_cache(batch, dtype=dtype, device=device)
        return
    with torch.no_grad():
        for cache in caches:
            cache.k.zero_()
            cache.v.zero_()


def cache_tensors(module: Any) -> dict[str, Tensor]:
    """Copies of what each layer's cache holds."""
    caches = {str(i): {"k": b.attn.kv_cache.k, "v": b.attn.kv_cache.v} for i, b in enumerate(module.transformer.h)}
    return named_tensors(caches, "cache")


class Decode(Job):
    """Positions are one for all sequences, (T,); attention runs over the whole cache, masked."""

    def begin(self) -> None:
        setting = self.setting
        prefill = FULL_PREFILL if setting.scale == "full" else PREFILL
        (ids,) = setting.inputs("decode")
        more = [setting.inputs("decode", step)[0][:, :1] for step in range(1, STEPS + 1)]
        self.pieces = [ids[:, :prefill], *more]
        self.positions = [torch.arange(prefill), *(torch.tensor([prefill + step]) for step in range(STEPS))]
        self.positions = [self.place(position).to(setting.device) for position in self.positions]
        fit_cache(self.module, ids.size(0), setting.dtype, setting.device)
        forget(self.module)

    def place(self, position: Tensor) -> Tensor:
        """The positions to pass for `position`, those of one sequence."""
        return position

    def options(self, position: Tensor) -> dict[str, object]:
        """Keyword arguments of the call besides `input_pos`."""
        return {}

    def logits(self, call: Call) -> list[object]:
        with torch.no_grad():
            return [
                call(piece, position, **self.options(position))
                for piece, position in zip(self.pieces, self.positions, strict=True)
            ]

    def work(self, call: Call) -> dict[str, Tensor]:
        return named_tensors(self.logits(call), "logits") | cache_tensors(self.module)

    def once(self, call: Call) -> object:
        return self.logits(call)


class DecodeMaxp1(Decode):
    """Attention is told the last position, and runs over as much of the cache: a number that changes with each step."""

    def begin(self) -> None:
        super().begin()
        self.ends = {id(position): int(position.max()) + 1 for position in self.positions}

    def options(self, position: Tensor) -> dict[str, object]:
        return {"input_pos_maxp1": self.ends[id(position)]}


class DecodeBatched(Decode):
    """Each sequence has positions of its own, (B, T): the second one begins a step late, by writing one place again."""

    def place(self, position: Tensor) -> Tensor:
        late = position if position.numel() > 1 else position - 1
        batch = self.setting.inputs("decode")[0].size(0)
        return torch.stack([position if row % 2 == 0 else late for row in range(batch)])
