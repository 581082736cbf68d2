"""What `peers.py` measures of one model, each figure a function.

Times are seconds of this thread's CPU (`time.thread_time`), and of all that works for it where torch's compiler does,
so that other processes on the machine weigh less; ratios are medians of pairs that were measured in turn.
"""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
from torch._inductor.utils import clear_caches

from harness.counting import native_instructions
from harness.memory import profiled
from interpreter import jit

LONG = 32


def seconds(call) -> float:
    """CPU seconds of one call."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


@dataclass
class Compilation:
    """A first call through inductor: CPU seconds of this process and of the compilers that it started, and the names of
    the C++ sources that are there after it, which are hashes of their text."""

    own: float
    compilers: float
    sources: frozenset[str]


def compilation(call, folder: str) -> Compilation:
    """A first call that finds no graph compiled, and in `folder` the C++ that earlier ones there had compiled."""
    with (
        mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=folder),
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        clear_caches()
        before = os.times()
        call()
        after = os.times()
    own = after.user + after.system - before.user - before.system
    compilers = after.children_user + after.children_system - before.children_user - before.children_system
    return Compilation(own, compilers, frozenset(path.name for path in Path(folder).rglob("*.cpp")))


def by_compiler(model, inputs, makers: dict, repeats: int) -> dict:
    """First calls through inductor, in turn, of what each of `makers` makes: CPU seconds.

    The C++ compiler has most of them, and never takes the same time twice. It runs in the first turn only, and where
    all had it compile the same sources its best time is taken for all of them: there it can make no difference. What
    the process itself takes is the median of all turns.
    """
    module = model.build().eval()
    module(*inputs)
    found: dict = {name: [] for name in makers}
    with contextlib.ExitStack() as stack:
        folders = {name: stack.enter_context(tempfile.TemporaryDirectory()) for name in makers}
        for turn in range(repeats):
            for name in list(makers) if turn % 2 else reversed(makers):
                made = makers[name](module)
                found[name].append(compilation(lambda made=made: made(*inputs), folders[name]))
    alike = len({calls[-1].sources for calls in found.values()}) == 1
    compilers = {name: calls[0].compilers for name, calls in found.items()}
    return {
        name: statistics.median(each.own for each in calls) + (min(compilers.values()) if alike else compilers[name])
        for name, calls in found.items()
    }


def dynamo(module, backend="eager"):
    """A fresh `torch.compile` of the whole graph."""
    torch._dynamo.reset()
    return torch.compile(module, backend=backend, fullgraph=True)


def paired(calls: dict, rounds: int = 30, inner: int = 5) -> dict:
    """Median of the ratios to `calls["eager"]`, all measured in turn; the best of eager itself under `"seconds"`."""
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


def first_calls(model, inputs, makers: dict, repeats: int, depth=None) -> dict:
    """Best first call of what each of `makers` makes of a module: seconds."""
    module = model.build(depth=depth).eval()
    module(*inputs)
    best = dict.fromkeys(makers, float("inf"))
    for _ in range(repeats):
        for name, make in makers.items():
            made = make(module)
            best[name] = min(best[name], seconds(lambda made=made: made(*inputs)))
    return best


def warm_calls(model, inputs, makers: dict):
    """Warm ratios to eager without gradients: what each of `makers` makes, and the interpreter's prologue alone."""
    module = model.build().eval()
    made = {name: make(module) for name, make in makers.items()}
    for _ in range(3):
        for call in made.values():
            call(*inputs)
    entry = made["interpreter"].stats.entries[0]
    calls = {name: lambda call=call: call(*inputs) for name, call in made.items()}
    return paired(
        {"eager": lambda: module(*inputs), "prologue": lambda: entry.prologue.check(inputs, {}), **calls}
    ), entry


def training(model, inputs) -> float:
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


def tailed(model, inputs):
    """A function whose recording ends at its first line, which asks the clock, and what `jit` made of it, recorded."""
    module = model.build().eval()

    def call(*args):
        time.monotonic()
        return module(*args)

    jitted = jit(call)
    for _ in range(3):
        jitted(*inputs)
    (entry,) = jitted.stats.entries
    assert entry.tail is not None, "the clock was recorded"
    assert not entry.operations, "the recording did not end at the first line"
    return call, jitted


def tail(model, inputs) -> float:
    """A call whose recording ends at its first line, as a ratio to eager."""
    call, jitted = tailed(model, inputs)
    return paired({"eager": lambda: call(*inputs), "interpreter": lambda: jitted(*inputs)}, rounds=15)["interpreter"]


def instructions(model, inputs) -> float:
    """Instructions that a first call interprets, as a ratio to those that CPython executes in an eager call."""
    module = model.build().eval()
    module(*inputs)
    native = native_instructions(lambda: module(*inputs))
    jitted = jit(module)
    jitted(*inputs)
    return jitted.stats.entries[0].instructions / native


def peak(model, inputs) -> float:
    """Bytes of tensors that a first call holds at most, as a ratio to an eager call."""
    module = model.build().eval()
    module(*inputs)
    return profiled(lambda: jit(module)(*inputs)) / profiled(lambda: module(*inputs))


class Wide(torch.nn.Module):
    """100 parameters, and 100 objects of the user's with a switch that its forward reads."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.ones(1) for _ in range(100))
        self.parts = [Part() for _ in range(100)]

    def forward(self, x):
        for weight, part in zip(self.weights, self.parts):
            if part.used:
                x = x * weight
        return x


class Part:
    def __init__(self):
        self.used = True


def wide_prologue() -> tuple[float, int]:
    """Microseconds of a prologue over 100 tensors and at least 500 guards, and how many guards they are."""
    jitted, x = jit(Wide().eval()), torch.ones(1)
    for _ in range(5):
        jitted(x)
    (entry,) = jitted.stats.entries
    check = entry.prologue.check
    best = min(seconds(lambda: [check((x,), {}) for _ in range(100)]) for _ in range(20))
    return best / 100 * 1e6, len(entry.guards)


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
