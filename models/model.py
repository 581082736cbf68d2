"""What the zoo's models have in common: a name, how to build it, which inputs it takes, which workloads fit it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from models.draw import Draw, initialise
from models.scale import SCALES

Builder = Callable[[str, int | None], nn.Module]
Sampler = Callable[[Draw], tuple]


@dataclass(frozen=True)
class Model:
    """An entry of the zoo. It holds no tensors, and can be pickled.

    name:       of the row in reports; for an architecture, the configuration name that stands for its group
    family:     groups rows and baselines: `llama`, `gemma`, `moe`, `lora`, `block`, `own` ...
    builder:    (scale, depth) -> module, not initialised unless `initialised`
    finish:     what is done to the module once its parameters have values, if anything
    sampler:    draws the positional arguments of `forward`
    workloads:  names of the workloads that fit this model
    stands_for: the configuration names it is counted for; empty for what is not a configuration of LitGPT
    loss:       of training: "tokens" (cross entropy of logits) or "square" (mean square of the outputs)
    expected:   the name of the exception's type that eager raises on every input, or None
    default:    whether `make bench` runs it without being asked: all but the models of an optional extra
    """

    name: str
    family: str
    builder: Builder
    sampler: Sampler
    workloads: tuple[str, ...]
    stands_for: tuple[str, ...] = ()
    loss: str = "square"
    expected: str | None = None
    default: bool = True
    initialised: bool = False
    finish: Callable[[nn.Module], None] | None = None

    def build(
        self,
        *,
        scale: str = "tiny",
        depth: int | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        seed: int = 0,
        workload: str = "forward",
    ) -> nn.Module:
        """A new module, in training mode for a workload that trains and in evaluation mode otherwise.

        scale: "tiny", or "full" for the true widths; depth: layers, None for the scale's own (2 when tiny).
        Equal arguments give equal parameters; those of a tiny model also don't depend on the device, and those of
        different dtypes are the same numbers wherever both dtypes can hold them. At full scale parameters are made on
        the device directly. Raises ValueError for a scale or depth that does not exist.
        """
        if scale not in SCALES:
            raise ValueError(f"unknown scale {scale!r}: it is one of {', '.join(SCALES)}")
        if depth is not None and depth < 1:
            raise ValueError(f"depth is a number of layers, 1 or more, not {depth}")
        place = torch.device(device) if scale == "full" else torch.device("cpu")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            with place, default_dtype(dtype if scale == "full" else torch.float32):
                module = self.builder(scale, depth)
        if not self.initialised:
            initialise(module, seed)
        if self.finish is not None:
            self.finish(module)
        return module.to(device, dtype).train(workload.startswith("train"))

    def inputs(
        self,
        workload: str = "forward",
        *,
        seed: int = 0,
        scale: str = "tiny",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> tuple:
        """The positional arguments of `forward`: new tensors on each call, other values for each seed."""
        return self.sampler(Draw(seed, scale, device, dtype))

    def supports(self, workload: str) -> str | None:
        """None, or why this workload can't be run on this model."""
        if workload in self.workloads:
            return None
        return f"{self.name} takes {', '.join(self.workloads)}, not {workload}"


class UnknownModel(ValueError):
    """A name that no model has, or a class that can't be used as one; the message is one line that says what to do."""


class default_dtype:  # noqa: N801 - a context manager, used as a function
    """Makes new floating-point tensors of `dtype` inside a `with`."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __enter__(self) -> None:
        self.before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)

    def __exit__(self, *error: object) -> None:
        torch.set_default_dtype(self.before)
