"""Numbers for inputs and weights: drawn from a seed, the same for every dtype.

What is drawn is rounded to bfloat16 first, so a model in bfloat16, float32 and float64 is given the same numbers
exactly, and a float64 run can judge the rounding of the others.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

BATCH, TOKENS = 2, 16
FULL_BATCH, FULL_TOKENS = 1, 256


@dataclass
class Draw:
    """A source of inputs at one scale: the same seed gives the same values, each seed its own."""

    seed: int = 0
    scale: str = "tiny"
    device: torch.device | str = "cpu"
    dtype: torch.dtype = torch.float32
    generator: torch.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)

    @property
    def batch(self) -> int:
        """Sequences in an input."""
        return FULL_BATCH if self.scale == "full" else BATCH

    @property
    def tokens(self) -> int:
        """Tokens in a sequence."""
        return FULL_TOKENS if self.scale == "full" else TOKENS

    def normal(self, *shape: int) -> Tensor:
        """Floats of mean 0 and deviation 1, in the dtype and on the device of this source."""
        return torch.randn(shape, generator=self.generator).bfloat16().to(self.device, self.dtype)

    def ids(self, vocabulary: int, *shape: int) -> Tensor:
        """Token ids below `vocabulary` (int64)."""
        return torch.randint(vocabulary, shape, generator=self.generator).to(self.device)


#: Parameters with several dimensions that the usual initialisation makes 0: LoRA's second factor, the adapters' gate.
STARTING_AT_ZERO = {"lora_B", "gating_factor"}


def initialise(module: nn.Module, seed: int) -> None:
    """Give every parameter of `module` a value of its own, in place and on its device, from `seed` alone.

    Values that the usual initialisation makes 0 or 1 (weights of norms, the gates of adapters) are spread around them
    instead: a program that forgot such a parameter would otherwise give the right results.
    """
    generators: dict[torch.device, torch.Generator] = {}
    for _, owner in module.named_modules():
        for name, parameter in owner.named_parameters(recurse=False):
            device = parameter.device
            if device not in generators:
                generators[device] = torch.Generator(device).manual_seed(seed)
            values = torch.randn(parameter.shape, generator=generators[device], device=device)
            mean, deviation = spread(owner, name, parameter)
            with torch.no_grad():
                parameter.copy_((mean + deviation * values).bfloat16())


def spread(owner: nn.Module, name: str, parameter: Tensor) -> tuple[float, float]:
    """Mean and deviation for the values of a parameter: what keeps activations near 1."""
    if isinstance(owner, nn.Embedding):
        return 0.0, 1.0
    if parameter.dim() >= 2 and name not in STARTING_AT_ZERO:
        return 0.0, parameter.shape[-1] ** -0.5
    factor = name.endswith(("weight", "scale"))
    return (1.0, 0.1) if factor else (0.0, 0.1)
