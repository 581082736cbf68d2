"""The interpreter beside its peers, in one process and in turn: `python benchmarks/peers.py [--models GLOB ...]
[--repeats N]`.

For each architecture of the zoo (2 layers, no grad, batch 2 x 16 tokens, one thread): the first call of a fresh jit and
of a fresh `torch.compile(backend="eager", fullgraph=True)`, warm calls of both as paired ratios to eager, and forward
with backward. For one architecture also at 32 layers. Times are seconds of this thread's CPU (`time.thread_time`), so
that other processes on the machine weigh less; ratios are medians of pairs.

What is wanted of the figures stands beside them; exit status 3 where one falls short.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import statistics
import sys
import time
import tracemalloc

import torch
import torch._dynamo
from rich.console import Console
from rich.table import Table

from interpreter import jit
from models import zoo

torch._dynamo.config.capture_dynamic_output_shape_ops = True
LONG = 32


def seconds(call) -> float:
    """CPU seconds of one call."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


def compiled(module):
    torch._dynamo.reset()
    return torch.compile(module, backend="eager", fullgraph=True)


def first_calls(model, inputs, repeats, depth=None):
    """Best first call of the interpreter and of Dynamo, each on a module of its own."""
    ours, theirs = [], []
    module = model.build(depth=depth).eval()
    module(*inputs)
    for _ in range(repeats):
        jitted = jit(module)
        ours.append(seconds(lambda jitted=jitted: jitted(*inputs)))
        other = compiled(module)
        theirs.append(seconds(lambda other=other: other(*inputs)))
    return min(ours), min(theirs)


def paired(calls: dict, rounds: int = 30, inner: int = 5) -> dict:
    """Median of the ratios to `calls["eager"]`, all measured in turn."""
    samples: dict = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(inner):
            call()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                started = time.thread_time()
                for _ in range(inner):
                    call()
                samples[name].append(time.thread_time() - started)
    finally:
        gc.enable()
    return {
        name: statistics.median(a / b for a, b in zip(values, samples["eager"])) for name, values in samples.items()
    } | {"seconds": min(samples["eager"]) / inner}


def warm_calls(model, inputs):
    """Warm ratios of the interpreter, its prologue and Dynamo, without gradients."""
    module = model.build().eval()
    jitted, other = jit(module), compiled(module)
    for _ in range(3):
        jitted(*inputs), other(*inputs)
    entry = jitted.stats.entries[0]
    ratios = paired(
        {
            "eager": lambda: module(*inputs),
            "interpreter": lambda: jitted(*inputs),
            "dynamo": lambda: other(*inputs),
            "prologue": lambda: entry.prologue.check(inputs, {}),
        }
    )
    return ratios, entry


def training(model, inputs):
    """Forward and backward, warm, as a ratio to eager."""
    module = model.build(workload="train").train()
    jitted = jit(module)

    def step(call):
        module.zero_grad(set_to_none=True)
        call(*inputs).float().mean().backward()

    step(jitted)
    return paired({"eager": lambda: step(module), "interpreter": lambda: step(jitted)}, rounds=20, inner=3)[
        "interpreter"
    ]


def program_bytes(model, inputs) -> int:
    """Memory that one recorded program of 32 layers takes, as Python's allocator counts it."""
    module = model.build(depth=LONG).eval()
    module(*inputs)
    jit(module)(*inputs)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    jitted = jit(module)
    for _ in range(3):
        jitted(*inputs)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["*"], help="globs over the names of architectures")
    parser.add_argument("--repeats", type=int, default=3, help="first calls measured of each")
    parser.add_argument("--long", default="Llama-3.1-8B", help="the architecture measured at 32 layers too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = [
        model
        for model in zoo()
        if model.stands_for and any(fnmatch.fnmatch(model.name, glob) for glob in options.models)
    ]
    if not chosen:
        parser.error(f"no architecture is called {' or '.join(options.models)}; python -m harness list shows them")
    console = Console()
    table = Table(title="to eager: warm calls; to Dynamo: first calls (CPU time of one thread)")
    for column in (
        "model",
        "first, ms",
        "Dynamo, ms",
        "first / Dynamo",
        "warm",
        "prologue",
        "Dynamo warm",
        "train",
        "instructions",
    ):
        table.add_column(column, justify="left" if column == "model" else "right")
    rows = []
    with torch.no_grad():  # what is imported or built at the first call of each is no part of any model's
        jit(chosen[0].build().eval())(*chosen[0].inputs(seed=0))
        compiled(chosen[0].build().eval())(*chosen[0].inputs(seed=0))
    for model in chosen:
        inputs = model.inputs(seed=0)
        with torch.no_grad():
            ours, theirs = first_calls(model, inputs, options.repeats)
            warm, entry = warm_calls(model, inputs)
        trained = training(model, inputs)
        rows.append({"first": ours / theirs, "warm": warm["interpreter"], "dynamo": warm["dynamo"], "train": trained,
                     "prologue": warm["prologue"]})
        table.add_row(
            model.name,
            f"{ours * 1e3:.1f}",
            f"{theirs * 1e3:.0f}",
            f"1/{theirs / ours:.1f}",
            f"{warm['interpreter']:.3f}",
            f"{warm['prologue']:.3f}",
            f"{warm['dynamo']:.3f}",
            f"{trained:.3f}",
            str(entry.instructions),
        )
        console.print(f"{model.name}: first 1/{theirs / ours:.1f}, warm {warm['interpreter']:.3f}, train {trained:.3f}")
    console.print(table)
    wanted = [
        ("first call / Dynamo, median", statistics.median(row["first"] for row in rows), 1 / 15, 1 / 25),
        ("first call / Dynamo, worst", max(row["first"] for row in rows), 1 / 10, 1 / 25),
        ("warm call / eager, median", statistics.median(row["warm"] for row in rows), 0.80, 0.72),
        ("warm call / eager, worst", max(row["warm"] for row in rows), 0.86, 0.72),
        ("forward and backward / eager, median", statistics.median(row["train"] for row in rows), 0.95, 0.90),
    ]
    long = [model for model in zoo() if model.name == options.long]
    if long:
        inputs = long[0].inputs(seed=0)
        with torch.no_grad():
            ours, theirs = first_calls(long[0], inputs, 1, depth=LONG)
            size = program_bytes(long[0], inputs)
        console.print(
            f"{options.long} at {LONG} layers: first call {ours * 1e3:.0f} ms, Dynamo {theirs * 1e3:.0f} ms; "
            f"a program takes {size / 1e6:.1f} MB"
        )
        wanted += [(f"first call / Dynamo, {LONG} layers", ours / theirs, 1 / 15, 1 / 25),
                   (f"MB of a program of {LONG} layers", size / 1e6, 5.0, 5.0)]
    verdict = Table(title="wanted")
    for column in ("figure", "measured", "bar", "aim", ""):
        verdict.add_column(column, justify="left" if column in ("figure", "") else "right")
    for name, value, bar, aim in wanted:
        verdict.add_row(name, f"{value:.4f}", f"{bar:.4f}", f"{aim:.4f}", "holds" if value <= bar else "FALLS SHORT")
    console.print(verdict)
    return 0 if all(value <= bar for _, value, bar, _ in wanted) else 3


if __name__ == "__main__":
    sys.exit(main())
