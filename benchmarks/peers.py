"""The interpreter beside its peers, in one process and in turn: `python benchmarks/peers.py [--models GLOB ...]
[--repeats N] [--no-inductor]`.

For each architecture of the zoo (2 layers, no grad, batch 2 x 16 tokens, one thread): the first call of a fresh jit and
of a fresh `torch.compile(backend="eager", fullgraph=True)`, and of Thunder where it is installed; warm calls of all as
paired ratios to eager; forward with backward; the exact counts. For one architecture also at 32 layers. Then first and
warm calls of both through torch's compiler, by the clock as compilers are other processes: most of the command's time,
left out with `--no-inductor`.

Each peer is a row of the last table but one, this project the first; what is wanted of the figures is the last table;
exit status 3 where one falls short.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import statistics
import sys

import figures
import torch
import torch._dynamo
from rich.console import Console
from rich.table import Table

from harness.subjects import Thunder, Unavailable
from interpreter import jit
from models import zoo

torch._dynamo.config.capture_dynamic_output_shape_ops = True
MILLISECONDS = 1e3


def peers(console) -> dict:
    """What makes a fast callable of a module, by name: this project first."""
    makers = {"interpreter": jit, "Dynamo": figures.dynamo}
    try:
        Thunder.preload()
    except Unavailable as reason:
        console.print(f"Thunder has no row: {reason}", markup=False)
    else:
        import thunder
        makers["Thunder"] = thunder.jit
    return makers


def measured(model, makers: dict, options) -> dict:
    """The figures of one architecture: first calls in seconds, the others as ratios; counts are exact."""
    inputs = model.inputs(seed=0)
    with torch.no_grad():
        first = figures.first_calls(model, inputs, makers, options.repeats)
        warm, entry = figures.warm_calls(model, inputs, makers)
        row = {
            "model": model.name,
            "first": first,
            "warm": warm,
            "entry instructions": entry.instructions,
            "tail": figures.tail(model, inputs),
            "instructions": figures.instructions(model, inputs),
            "peak": figures.peak(model, inputs),
        }
        if options.inductor:
            row["inductor first"], row["inductor warm"] = inductor(model, inputs)
    row["train"] = figures.training(model, inputs)
    return row


def inductor(model, inputs) -> tuple[float, float]:
    """First call and warm call through inductor, to those of torch.compile."""
    makers = {
        "eager": lambda module: figures.dynamo(module, "inductor"),  # the base of the pairs
        "interpreter": lambda module: jit(module, executor="inductor"),
    }
    first = figures.by_compiler(model, inputs, makers, repeats=5)
    module = model.build().eval()
    calls = {name: functools.partial(make(module), *inputs) for name, make in makers.items()}
    for _ in range(3):
        for call in calls.values():
            call()
    return first["interpreter"] / first["eager"], figures.paired(calls)["interpreter"]


def by_model(rows, options) -> Table:
    table = Table(title="warm calls and training to eager, first calls to Dynamo's (CPU time of one thread)")
    columns = ["model", "first, ms", "Dynamo, ms", "first / Dynamo", "warm", "prologue", "Dynamo warm", "train", "tail",
               "instructions", "to native", "peak"]
    columns += ["inductor first", "inductor warm"] if options.inductor else []
    for column in columns:
        table.add_column(column, justify="left" if column == "model" else "right")
    for row in rows:
        ours, theirs = row["first"]["interpreter"], row["first"]["Dynamo"]
        cells = [f"{ours * MILLISECONDS:.1f}", f"{theirs * MILLISECONDS:.0f}", f"1/{theirs / ours:.1f}"]
        cells += [f"{row['warm'][name]:.3f}" for name in ("interpreter", "prologue", "Dynamo")]
        cells += [f"{row['train']:.3f}", f"{row['tail']:.2f}", str(row["entry instructions"])]
        cells += [f"{row['instructions']:.2f}", f"{row['peak']:.3f}"]
        cells += [f"{row[name]:.3f}" for name in ("inductor first", "inductor warm")] if options.inductor else []
        table.add_row(row["model"], *cells)
    return table


def by_peer(rows, makers, long) -> Table:
    """The peers side by side: medians over the architectures."""
    table = Table(title="peers: medians over the architectures")
    for column in ("peer", "first call, s", "worst, s", "warm call / eager", f"first call, {figures.LONG} layers / 2"):
        table.add_column(column, justify="left" if column == "peer" else "right")
    for name in makers:
        first = [row["first"][name] for row in rows]
        growth = f"{long[name] / long['at 2'][name]:.1f}" if long else "-"
        warm = statistics.median(row["warm"][name] for row in rows)
        table.add_row(name, f"{statistics.median(first):.4f}", f"{max(first):.4f}", f"{warm:.3f}", growth)
    return table


def wanted(rows, options) -> list[tuple]:
    """(figure, measured, bar, aim) of each that is wanted."""
    first = [row["first"]["interpreter"] / row["first"]["Dynamo"] for row in rows]
    warm = [row["warm"]["interpreter"] for row in rows]
    microseconds, guards = figures.wide_prologue()
    found = [
        ("first call / Dynamo, median", statistics.median(first), 1 / 15, 1 / 25),
        ("first call / Dynamo, worst", max(first), 1 / 10, 1 / 25),
        ("warm call / eager, median", statistics.median(warm), 0.80, 0.72),
        ("warm call / eager, worst", max(warm), 0.86, 0.72),
        ("forward and backward / eager, median", statistics.median(row["train"] for row in rows), 0.95, 0.90),
        ("tail from the first line / eager, worst", max(row["tail"] for row in rows), 6.0, 6.0),
        ("instructions / native, worst", max(row["instructions"] for row in rows), 1.2, 1.2),
        ("peak of the first call / eager, worst", max(row["peak"] for row in rows), 1.05, 1.05),
        (f"prologue of 100 tensors, {guards} guards, us", microseconds, 60.0, 60.0),
    ]
    if options.inductor:
        found += [
            ("inductor, first call / torch.compile, worst", max(row["inductor first"] for row in rows), 1.0, 1.0),
            ("inductor, warm call / torch.compile, worst", max(row["inductor warm"] for row in rows), 1.02, 1.02),
        ]
    return found


def deep(options, makers, console) -> tuple[dict, list[tuple]]:
    """One architecture at 32 layers: first calls by peer, and what is wanted of them."""
    model = next((model for model in zoo() if model.name == options.long), None)
    if model is None:
        return {}, []
    inputs = model.inputs(seed=0)
    with torch.no_grad():
        shallow = figures.first_calls(model, inputs, makers, options.repeats)
        long = figures.first_calls(model, inputs, makers, 2, depth=figures.LONG)
        size = figures.program_bytes(model, inputs) / 1e6
    console.print(f"{model.name} at {figures.LONG} layers: first calls "
                  + ", ".join(f"{name} {value * MILLISECONDS:.0f} ms" for name, value in long.items()))
    return long | {"at 2": shallow}, [
        (f"first call / Dynamo, {figures.LONG} layers", long["interpreter"] / long["Dynamo"], 1 / 15, 1 / 25),
        (f"MB of a program of {figures.LONG} layers", size, 5.0, 5.0),
    ]


def verdict(found) -> Table:
    table = Table(title="wanted")
    for column in ("figure", "measured", "bar", "aim", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    for name, value, bar, aim in found:
        table.add_row(name, f"{value:.4f}", f"{bar:.4f}", f"{aim:.4f}", "holds" if value <= bar else "FALLS SHORT")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["*"], help="globs over the names of architectures")
    parser.add_argument("--repeats", type=int, default=3, help="first calls measured of each")
    parser.add_argument("--long", default="Llama-3.1-8B", help="the architecture (of Llama-3.2-1B too) for 32 layers")
    parser.add_argument("--inductor", action=argparse.BooleanOptionalAction, default=True,
                        help="also through torch's compiler, which takes most of the time")
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
    if not console.is_terminal:
        console = Console(width=200)
    makers = peers(console)
    with torch.no_grad():  # what is imported or built at the first call of each is no part of any model's
        for make in makers.values():
            make(chosen[0].build().eval())(*chosen[0].inputs(seed=0))
        if options.inductor:
            inductor(chosen[0], chosen[0].inputs(seed=0))
    rows = []
    for model in chosen:
        rows.append(measured(model, makers, options))
        ours, theirs = rows[-1]["first"]["interpreter"], rows[-1]["first"]["Dynamo"]
        console.print(f"{model.name}: first 1/{theirs / ours:.1f}, warm {rows[-1]['warm']['interpreter']:.3f}, "
                      f"train {rows[-1]['train']:.3f}"
                      + (f", inductor first {rows[-1]['inductor first']:.3f}, warm {rows[-1]['inductor warm']:.3f}"
                         if options.inductor else ""))
    long, found = deep(options, makers, console)
    found = wanted(rows, options) + found
    for table in (by_model(rows, options), by_peer(rows, makers, long), verdict(found)):
        console.print(table)
    return 0 if all(value <= bar for _, value, bar, _ in found) else 3


if __name__ == "__main__":
    sys.exit(main())
