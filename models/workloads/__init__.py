"""The ways in which models are used: each a `Workload`, whose jobs run a callable and say what came out."""

import difflib

from models.workloads import decode, generate
from models.workloads.forward import ChunkedHead, Forward
from models.workloads.train import Train
from models.workloads.workload import Job, Workload

DEFAULT_WORKLOADS = ("forward", "train", "decode")

_CALLS = 1 + decode.STEPS

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload("forward", "one call, no gradients", Forward),
        Workload("train", "forward, loss, backward, AdamW; two steps in a row", Train, grad=True),
        Workload("decode", "key-value cache: a prefill and 8 steps", decode.Decode, calls=_CALLS),
        Workload("decode-maxp1", "the same, told how much of the cache is filled", decode.DecodeMaxp1, calls=_CALLS),
        Workload("decode-batched", "the same with each sequence's own positions", decode.DecodeBatched, calls=_CALLS),
        Workload("generate", "LitGPT's loop around the model, greedy", generate.Generate, calls=generate.TOKENS),
        Workload("generate-sampled", "the same, sampled", generate.GenerateSampled, calls=generate.TOKENS),
        Workload("generate-loop", "the sampling loop itself", generate.GenerateLoop, target=generate.loop),
        Workload("forward-autocast", "forward within autocast to bfloat16", Forward, autocast=True),
        Workload("train-autocast", "train within autocast to bfloat16", Train, grad=True, autocast=True),
        Workload("decode-autocast", "decode within autocast", decode.Decode, calls=_CALLS, autocast=True),
        Workload("chunked-head", "forward with the head in chunks", ChunkedHead),
    )
}


class UnknownWorkload(ValueError):
    """A name that no workload has; the message is one line and names the nearest."""


def expand_workloads(names: list[str] | None) -> list[Workload]:
    """The workloads of these names, in order and once each: None for the default ones, "all" for all.

    Raises UnknownWorkload.
    """
    if not names:
        names = list(DEFAULT_WORKLOADS)
    for name in names:
        if name not in WORKLOADS and name != "all":
            near = difflib.get_close_matches(name, WORKLOADS, n=3, cutoff=0.6)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(WORKLOADS)}, or all"
            raise UnknownWorkload(f"unknown workload {name!r}: {hint}")
    if "all" in names:
        return list(WORKLOADS.values())
    return [WORKLOADS[name] for name in dict.fromkeys(names)]


__all__ = ["DEFAULT_WORKLOADS", "WORKLOADS", "Job", "UnknownWorkload", "Workload", "expand_workloads"]
