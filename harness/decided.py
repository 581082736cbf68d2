"""Whether rounding decides a discrete result, such as the token that is taken: then it can't be held against anybody.

Two tokens of nearly the same probability are told apart by rounding, and whoever rounds otherwise takes the other one.
So where a jitted call gave other whole numbers or truths than eager, eager is run again with its weights moved by one
unit in the last place, each up, down or not at all. If every discrete result that differed is another one in eager too,
the inputs say nothing: others are taken in their place. It is eager alone that is asked, no tolerance is widened, and a
cell still passes by calls that agree only.
"""

from __future__ import annotations

import torch

from harness.parity import same_bits

#: How often eager is run with moved weights. A choice between two that are alike is found by all but one in 2^RUNS.
RUNS = 6


def turned(want: dict, got: dict) -> set[str]:
    """The discrete results that are not the same in two runs."""
    return {name for name, value in want.items()
            if isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex()
            and isinstance(got.get(name), torch.Tensor) and not alike(value, got[name])}


def alike(want: torch.Tensor, got: torch.Tensor) -> bool:
    return want.dtype == got.dtype and want.shape == got.shape and same_bits(want, got)


def by_rounding(runs, want, got, seed: int) -> bool:
    """Whether discrete results of two outcomes differ, and all that do are other ones in eager too where weights move
    a little."""
    differing = turned(want.results, got.results)
    number = 0
    while differing and number < RUNS:
        module = runs.moved(number)
        differing -= turned(want.results, runs.outcome(module, seed, runs.workload.target(module)).results)
        number += 1
    return number > 0 and not differing


def said(seeds: list[int]) -> str:
    """For the row: which inputs were not judged, and why."""
    return (f"inputs {', '.join(map(str, seeds))} were not judged: rounding decides a discrete result there, which is "
            "another one in eager too where its weights move by one unit in the last place")
