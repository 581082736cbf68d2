"""The modules of one cell, and runs of its workload on them."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass, field
from functools import partial

from harness import parity

#: How many times eager is run again, to see how far from float64 it lies, where one time was not enough.
SAMPLES = 4


@dataclass
class Outcome:
    """What a run of the workload gave: results by name, or the exception."""

    results: dict = field(default_factory=dict)
    error: BaseException | None = None

    def same_error(self, other: Outcome) -> bool:
        return (type(self.error) is type(other.error)) and str(self.error) == str(other.error)


class Runs:
    """Makes the cell's module, as often as one is wanted and always alike, and runs the workload on it."""

    def __init__(self, cell, model):
        import torch

        from models import WORKLOADS
        self.cell, self.model, self.torch = cell, model, torch
        self.workload = WORKLOADS[cell.workload]
        self.dtype = getattr(torch, cell.dtype)

    @property
    def computed(self):
        """The type that the model computes in."""
        return self.torch.bfloat16 if self.workload.autocast else self.dtype

    def make(self):
        return self.model.build(scale=self.cell.scale, depth=self.cell.depth, dtype=self.dtype,
                                device=self.cell.device, seed=0, workload=self.cell.workload)

    def prepare(self, module, seed):
        """A run of the workload on `module`, with the inputs of `seed`."""
        return self.workload.prepare(self.model, module, seed=seed, scale=self.cell.scale)

    def call(self, job, function):
        """The timed part: one run of the workload without collecting its results."""
        if self.workload.grad:
            return job.call_once(function)
        with self.torch.no_grad():
            return job.call_once(function)

    def outcome(self, module, seed, function) -> Outcome:
        """What the workload gives with the inputs of `seed`; `module` is put back as it was."""
        job = self.prepare(module, seed)
        outcome = self.run(job, function)
        job.reset()
        return outcome

    def run(self, job, function) -> Outcome:
        """One run with its results, or the exception that it raised. Random numbers start from the same seed."""
        seeded(0)
        try:
            with contextlib.nullcontext() if self.workload.grad else self.torch.no_grad():
                results = dict(job.run(function))
        except Exception as error:
            return Outcome(error=error)
        results["the random generator"] = self.torch.get_rng_state()
        if self.cell.device.startswith("cuda"):
            results["the device's random generator"] = self.torch.cuda.get_rng_state(self.cell.device)
        return Outcome(results)

    def moved(self, number: int):
        """A module with each weight moved by a unit in the last place of the type that is computed in, up, down or not
        at all: by another choice for each `number`."""
        module = self.make()
        generator = self.torch.Generator().manual_seed(number)
        unit = self.torch.finfo(self.computed).eps
        with self.torch.no_grad():
            for parameter in module.parameters():
                if parameter.is_floating_point():
                    steps = self.torch.randint(-1, 2, parameter.shape, generator=generator).to(parameter.device)
                    parameter.copy_(parameter.double() * (1 + unit * steps))
        return module

    def again(self, seed) -> list[tuple[dict, dict]]:
        """What eager gives from other weights, and float64 from the same: more samples of eager's own error."""
        found = []
        for number in range(SAMPLES):
            module = self.moved(number)
            eager = self.outcome(module, seed, self.workload.target(module))
            exact = self.in_float64(seed, eager.results, partial(self.moved, number))
            if exact is not None and eager.error is None:
                found.append((eager.results, exact))
        return found

    def in_float64(self, seed, eager: dict, make=None) -> dict | None:
        """The workload's results from the same weights and inputs in float64, as far as a second such run repeats them;
        None where it does not run in float64. It takes the tokens that eager took: it may choose others."""
        if self.cell.dtype == "float64":
            return None
        outcomes = []
        for _ in range(2):
            try:
                module = (make or self.make)().to(self.torch.float64)
                job = self.prepare(module, seed)
                job.follows = eager
                outcomes.append(self.run(job, self.workload.target(module)))
            except Exception:
                return None
        if any(outcome.error is not None for outcome in outcomes):
            return None
        return parity.repeated(outcomes[0].results, outcomes[1].results)


def seeded(seed: int):
    """Every random generator that a model may draw from starts again."""
    import torch
    random.seed(seed)
    torch.manual_seed(seed)
