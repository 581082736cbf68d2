"""Times of two callables, taken in turn so that the machine's drift falls on both alike.

Clocks are monotonic; on CUDA a span runs from an event before the calls to one after them, both synchronised. Garbage
is collected between samples, never inside them. What a sample is divided by is stated: `inner` calls each.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

#: A sample lasts at least this long, so that the clock's own cost stays below a thousandth of it. Seconds.
SAMPLE = 0.5e-3
#: An interval wider than this part of the ratio is called noisy.
NOISY = 0.10
#: Pairs below which no figure is given an interval.
FEWEST = 10


@dataclass
class Paired:
    """Samples of two callables, the n-th of each taken next to each other. Seconds per call."""

    first: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    inner: int = 1
    warmup: int = 0

    @property
    def ratios(self) -> list[float]:
        return [b / a for a, b in zip(self.first, self.second)]

    def summary(self) -> dict:
        """Medians, the median paired ratio with its 95 % interval, and whether that is too wide to be believed."""
        ratio = statistics.median(self.ratios)
        low, high = interval(self.ratios)
        return {"eager_s": statistics.median(self.first), "run_s": statistics.median(self.second), "ratio": ratio,
                "ratio_low": low, "ratio_high": high, "pairs": len(self.first), "inner": self.inner,
                "warmup": self.warmup, "noisy": (high - low) > NOISY * ratio}


def interval(ratios: list[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """A bootstrap interval of the median; the range itself where there are too few samples for one.

    Neighbouring samples are alike (a machine is slow for a while, not for a sample), so blocks of five are drawn, by
    their medians, once there are enough of them.
    """
    import numpy as np
    from scipy.stats import bootstrap
    if len(ratios) < FEWEST or len(set(ratios)) == 1:
        return min(ratios), max(ratios)
    values = np.asarray(ratios)
    if len(values) >= 10 * FEWEST:
        values = np.median(values[:len(values) // 5 * 5].reshape(-1, 5), axis=1)
    found = bootstrap((values,), np.median, n_resamples=999, confidence_level=confidence, method="percentile", rng=0)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


class Clock:
    """Seconds that `calls` calls of a function take, on the device where they run."""

    def __init__(self, device: str = "cpu"):
        self.cuda = device.startswith("cuda")

    def span(self, call: Callable[[], object], calls: int = 1) -> float:
        """Seconds for one call, the mean over `calls` in a row."""
        if self.cuda:
            return self._cuda_span(call, calls)
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

    def _cuda_span(self, call, calls):
        import torch
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1e3 / calls


def paired(first: Callable, second: Callable, *, clock: Clock, budget: float, most: int = 400,
           now: Callable[[], float] = time.monotonic) -> Paired:
    """Warms both up until they settle, then samples them in turn for `budget` seconds, longer while it is noisy.

    A noisy result is sampled up to three times as long in all. At least FEWEST pairs are taken unless that alone
    would cost more than ten budgets (a call that takes minutes); `most` bounds them.
    """
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        warmup, slower = settle(first, second, clock=clock, budget=budget / 2, now=now)
        result = Paired(inner=max(1, round(SAMPLE / max(slower, 1e-9))), warmup=warmup)
        start = now()
        for extension in (1, 2, 3):
            while len(result.first) < most * extension:
                spent = now() - start
                if (spent > budget * extension and len(result.first) >= FEWEST) or spent > budget * 10:
                    break
                sample(result, first, second, clock)
            if len(result.first) < FEWEST or not result.summary()["noisy"]:
                break
    finally:
        if collecting:
            gc.enable()
        gc.collect()
    return result


def sample(result: Paired, first, second, clock):
    """One pair; which of the two goes first alternates."""
    if len(result.first) % 2 == 0:
        a = clock.span(first, result.inner)
        b = clock.span(second, result.inner)
    else:
        b = clock.span(second, result.inner)
        a = clock.span(first, result.inner)
    result.first.append(a)
    result.second.append(b)
    if len(result.first) % 20 == 0:
        gc.collect()


def settle(first, second, *, clock: Clock, budget: float, now=time.monotonic, window: int = 5) -> tuple[int, float]:
    """Calls both in turn until neither gets faster from one window of calls to the next, or the budget is spent.

    Returns the number of warm-up pairs and the last median of the faster one, in seconds.
    """
    start, done, before = now(), 0, None
    times: list[tuple[float, float]] = []
    while True:
        times.append((clock.span(first), clock.span(second)))
        done += 1
        enough = now() - start > budget
        if len(times) == window or enough:
            medians = tuple(statistics.median(column) for column in zip(*times))
            settled = before is not None and all(m > 0.97 * b for m, b in zip(medians, before))
            if settled or enough:
                return done, min(medians)
            before, times = medians, []
