"""The first call of a fresh jit: how long it takes, and where its time goes."""

from __future__ import annotations

import statistics
import time

from harness.timing import interval

#: Copies of the model whose first calls are timed: as many as fit into the budget, within these.
FEWEST, MOST = 3, 40
#: Executors that keep compiled code for the rest of the cell: of a second copy of the model they would only look it up.
KEEPING = {"inductor"}


class Watch:
    """Stands in for a jitted callable while a workload runs once, and notes how long its calls take. Seconds.

    A workload may call it several times (a prefill, then steps), and does things of its own between (a loss, a backward
    pass, an optimiser). `recording` is the time of calls that missed the cache, `serving` that of the others.
    """

    def __init__(self, subject, jitted):
        self.subject, self.jitted = subject, jitted
        self.recording = self.serving = 0.0

    def __call__(self, *args, **kwargs):
        before = self.subject.mark(self.jitted)["misses"]
        start = time.perf_counter()
        try:
            return self.jitted(*args, **kwargs)
        finally:
            spent = time.perf_counter() - start
            if self.subject.mark(self.jitted)["misses"] > before:
                self.recording += spent
            else:
                self.serving += spent

    def phases(self, whole: float) -> dict[str, float]:
        """The subject's own phases, and beside them what its cache served and what the workload did by itself.

        `whole` is the duration of all of it. Where the subject names no phases there are none. They add up to `whole`
        as far as the subject accounts for its recording calls.
        """
        own = self.subject.phases(self.jitted)
        if not own:
            return {}
        return {**own, "serving": self.serving, "workload": max(0.0, whole - self.recording - self.serving)}


def summary(calls: list[tuple[float, dict[str, float]]]) -> dict:
    """The fields of a row, of seconds and phases: the first call of a fresh copy of the model as the median with its
    95 % interval, and the phases of that very call. `cold_call_s` is the first of them all: what the process had never
    done before is paid there.
    """
    samples = [spent for spent, _ in calls]
    middle = statistics.median_low(samples)
    phases = calls[samples.index(middle)][1]
    low, high = interval(samples) if len(samples) > 1 else (None, None)
    return {"first_call_s": middle, "first_call_low": low, "first_call_high": high, "first_calls": len(samples),
            "cold_call_s": samples[0], "phases": phases, "interpret_s": phases.get("interpret"),
            "lower_s": sum(v for k, v in phases.items() if k in {"lower", "backend"}) if phases else None}
