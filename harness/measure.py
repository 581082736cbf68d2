"""What is done with one cell, inside its own process: eager, first call, parity on hits, counters, times.

Eager and jitted each have a module of their own, built alike, so that nothing one leaves behind is found by the
other. The order matters: facts come before times, so that a cell that runs out of time still has facts.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from harness import decided, first_call, locate, memory, parity, timing
from harness.counting import native_instructions
from harness.lines import described, out_of_memory
from harness.row import blank, break_even
from harness.runs import Outcome, Runs, seeded
from harness.subjects import Subject, Unavailable

#: Calls that are judged; the first of all is recorded and proves nothing.
JUDGED = 2
#: Calls after which a subject that never hit its cache is given up.
MOST_CALLS = 8


@dataclass
class Options:
    """How cells are measured. Times in seconds, sizes in bytes; `without` names lookasides to do without."""

    budget: float = 0.4
    timeout: float = 180.0
    memory: int | None = None
    threads: int = 1
    timed: bool = True
    without: tuple[str, ...] = ()


class Ended(Exception):
    """The cell's status is decided before its end."""

    def __init__(self, status: str, detail: str):
        super().__init__(detail)
        self.status, self.detail = status, detail


class Measurement:
    """One cell being measured. `note(phase)` tells the outside where it is; `row` holds what is known so far."""

    def __init__(self, cell, model, subject: Subject, options: Options, note: Callable[[str], None]):
        self.cell, self.model, self.subject, self.options, self.note = cell, model, subject, options, note
        self.row = blank(cell, model.family)
        self.ledger: list[dict] = []
        self.samples: list[dict] = []
        self.program = ""
        self.remark = ""

    def run(self) -> dict:
        """All of it. What goes wrong becomes the row's status; an error of the harness itself is let through."""
        try:
            self._run()
            self.row["status"] = "pass"
        except Ended as end:
            self.row["status"], self.row["detail"] = end.status, end.detail
        fallback = self.row["fallback"] and f"run by the eager executor: {self.row['fallback']}"
        self.row["detail"] = "; ".join(filter(None, (self.row["detail"], self.remark, fallback)))
        return self.row

    def _run(self):
        self.runs = Runs(self.cell, self.model)
        reason = self.model.supports(self.cell.workload) or self.runs.workload.supports(self.cell.dtype)
        if reason:
            raise Ended("skipped", reason)
        self.build()
        expected = self.eager()
        self.first_call(expected)
        if expected[0].error is not None:
            self.judge_errors(expected)
            return
        try:
            hits, calls = self.judge(expected)
        except Ended:
            # The facts of a failing cell help to find the cause; that it failed must not be hidden by another failure.
            with contextlib.suppress(Exception):
                self.count()
            raise
        self.note("counters")
        with self.stage("raised"):
            self.count()
        if self.options.timed:
            self.time()
        if hits < JUDGED:
            # Said only now: what such a cell costs is worth knowing.
            why = self.row["missed"][-1] if self.row["missed"] else self.row["tail"]
            raise Ended("parity", f"only {hits} of {calls} calls after the first were served from the cache"
                                  + (f": {why}" if why else "") + "; results are eager's all the same")
        if self.row["fallback"]:
            # The executor that the row names did not do the work, so nothing is known of it.
            self.row["parity"] = "none"
            raise Ended("parity", "its results are eager's")

    # Building.

    def build(self):
        self.note("build")
        with self.stage("eager_failed"):
            self.module = self.runs.make()
            # A full-sized model is not held twice; its jobs put its state back between runs.
            self.twin = self.module if self.cell.scale == "full" else self.runs.make()
            self.target = self.runs.workload.target(self.module)
        self.row["parameters"] = sum(p.numel() for p in self.module.parameters())
        config = getattr(self.module, "config", None)
        self.row["layers"] = getattr(config, "n_layer", None)

    # Eager.

    def eager(self) -> list[Outcome]:
        """Eager on each set of inputs, once; the first again on a copy, to see whether eager repeats itself. Not on the
        same one: a model that counts its calls must have had as many as the jitted copy when the two are compared.
        """
        self.note("eager")
        outcomes = []
        for seed in range(JUDGED + 1):
            with self.stage("eager_failed"):
                outcomes.append(self.runs.outcome(self.module, seed, self.target))
        first = outcomes[0].error
        self.check_expected(outcomes)
        if first is None:
            other = self.module if self.cell.scale == "full" else self.runs.make()
            target = self.runs.workload.target(other)
            repeated = parity.compare(outcomes[0].results, self.runs.outcome(other, 0, target).results)
            self.row["nondeterministic"] = repeated.parity != "bitwise"
            if self.row["nondeterministic"]:
                self.remark = f"eager does not repeat itself: two runs of it differ by up to {repeated.max_abs_err:.3g}"
            self.note("count")
            job = self.runs.prepare(other, 0)
            seeded(0)
            self.row["native_instructions"] = native_instructions(lambda: self.runs.call(job, target))
            job.reset()
        return outcomes

    def check_expected(self, outcomes):
        expected, first = self.model.expected, outcomes[0].error
        for outcome in outcomes:
            error = outcome.error
            if error is None and expected is None:
                continue
            if error is None:
                raise Ended("eager_failed", f"eager raises {expected} by the model's description, but it did not")
            if type(error).__name__ != expected or first is None:
                raise Ended(*self.failure("eager_failed", error))

    # Jitted.

    def first_call(self, expected):
        """The first call of a fresh jit: timed, and compared with eager though it proves nothing about later calls."""
        self.note("first_call")
        with self.stage("raised"):
            self.jitted = self.subject.jit(self.runs.workload.target(self.twin))
        job = self.runs.prepare(self.twin, 0)

        def call(watch):
            if expected[0].error is None:
                with self.stage("raised"):
                    self.runs.call(job, watch)
            else:
                self.first = self.runs.run(job, watch)
        self.first_calls = [self.timed_once(self.subject, self.jitted, call)]
        job.reset()
        # Nobody knows what a cell that is not timed has compiled, and what it found compiled.
        if self.options.timed or self.cell.executor not in first_call.KEEPING:
            self.row.update(first_call.summary(self.first_calls))

    def timed_once(self, subject, jitted, call) -> tuple[float, dict[str, float]]:
        """Seconds of `call(jitted)`, and its phases."""
        watch = first_call.Watch(subject, jitted)
        clock = timing.Clock(self.cell.device)
        gc.collect()
        gc.disable()
        seeded(0)
        try:
            spent = clock.span(lambda: call(watch))
        finally:
            gc.enable()
        return spent, watch.phases(spent)

    def more_first_calls(self):
        """First calls of further copies of the model, so that the figure has an interval. The last thing that is done:
        a subject may have to forget what it compiled before.
        """
        if self.cell.executor in first_call.KEEPING:
            return
        self.note("first calls")
        start, budget = time.monotonic(), self.options.budget
        while len(self.first_calls) < first_call.MOST:
            begin = time.monotonic()
            enough = len(self.first_calls) >= first_call.FEWEST
            if begin - start > budget * (1 if enough else 10) or self.first_calls[0][0] > 10 * budget:
                break
            with self.stage("raised"):
                module = self.twin if self.cell.scale == "full" else self.runs.make()
                subject = type(self.subject)(self.cell.executor)
                jitted = subject.jit(self.runs.workload.target(module))
                job = self.runs.prepare(module, 0)
                self.first_calls.append(self.timed_once(subject, jitted,
                                                        lambda watch, job=job: self.runs.call(job, watch)))
                job.reset()
        self.row.update(first_call.summary(self.first_calls))

    def judge_errors(self, expected):
        """Eager raises, as the model says it does: jitted must raise the same, on the first call and on later ones."""
        self.note("parity")
        outcomes = [self.first]
        outcomes += [self.runs.outcome(self.twin, seed, self.jitted) for seed in range(1, JUDGED + 1)]
        with self.stage("raised"):
            self.count()
        self.row["raises"] = type(expected[0].error).__name__
        for want, got in zip(expected, outcomes):
            if not want.same_error(got):
                status, was = ("raised", "nothing") if got.error is None else self.failure("raised", got.error)
                raise Ended(status, f"{was}, where eager raises {described(want.error)}")
        self.row["parity"] = "bitwise"

    def judge(self, expected) -> tuple[int, int]:
        """Parity on calls that hit, with inputs that were not recorded; JUDGED of them unless they can't be had.

        Returns the calls that hit, and all calls made. Calls that did not hit are compared too.
        """
        self.note("parity")
        found = parity.Comparison()
        hits, seed = 0, 0
        undecided: list[int] = []
        while hits < JUDGED and seed < MOST_CALLS:
            seed += 1
            want = expected[seed] if seed < len(expected) else self.eager_again(seed)
            before = self.subject.mark(self.jitted)
            got = self.runs.outcome(self.twin, seed, self.jitted)
            after = self.subject.mark(self.jitted)
            if got.error is not None:
                raise Ended(*self.failure("raised", got.error))
            hit = after["hits"] > before["hits"] and after["misses"] == before["misses"]
            call = self.compared(want, got, seed)
            if call.parity == "differs" and decided.by_rounding(self.runs, want, got, seed):
                undecided.append(seed)
                continue
            hits += hit
            found.max_abs_err = max(found.max_abs_err, call.max_abs_err)
            found.note(call.parity, "")
            if call.parity == "differs":
                where = "on a call that hit" if hit else "on a call that recorded anew"
                found.reasons = [f"{reason} ({where}, inputs {seed})" for reason in call.reasons]
                break
        if undecided:
            self.remark = "; ".join(filter(None, (self.remark, decided.said(undecided))))
        self.row["max_abs_err"] = found.max_abs_err
        self.row["missed"] = self.subject.misses(self.jitted)
        if found.parity == "differs":
            self.row["parity"] = "differs"
            self.locate()
            first = self.row["first_difference"]
            more = f" and {len(found.reasons) - 1} more" if len(found.reasons) > 1 else ""
            raise Ended("parity", found.reasons[0] + more + (f"; first in {first}" if first else ""))
        if hits >= JUDGED:
            self.row["parity"] = found.parity
        elif undecided:
            self.row["parity"] = "differs"
            raise Ended("parity", f"only {hits} of {seed} inputs could be judged on calls that hit")
        return hits, seed

    def compared(self, want: Outcome, got: Outcome, seed: int) -> parity.Comparison:
        """Bit by bit first; only where that fails is the float64 run worth its time."""
        found = parity.compare(want.results, got.results)
        if found.parity == "bitwise":
            return found
        exact, computed = self.runs.in_float64(seed, want.results), self.runs.computed
        found = parity.compare(want.results, got.results, exact, computed)
        if found.parity == "differs" and exact is not None:
            return parity.compare(want.results, got.results, exact, computed, self.runs.again(seed))
        return found

    def eager_again(self, seed) -> Outcome:
        outcome = self.runs.outcome(self.module, seed, self.target)
        if outcome.error is not None:
            raise Ended(*self.failure("eager_failed", outcome.error))
        return outcome

    def locate(self):
        """Names the first submodule that is wrong by itself. A help for the reader: what goes wrong here is let go."""
        self.note("locate")
        jobs = [self.runs.prepare(self.module, seed) for seed in (0, 1)]
        calls = [lambda module, job=job: (job.reset(), self.runs.call(job, module), job.reset()) for job in jobs]
        with contextlib.suppress(Exception):
            subject = type(self.subject)(self.cell.executor)
            self.row["first_difference"] = locate.first_difference(self.module, calls, subject.jit)

    # Counters and times.

    def count(self):
        """The exact facts, taken after a fixed number of calls: they are the same in every run."""
        self.row["hits"] = self.subject.mark(self.jitted)["hits"]
        self.row.update(self.subject.counters(self.jitted))
        self.ledger = self.subject.ledger(self.jitted)
        self.program = self.subject.program(self.jitted)
        if self.program:
            self.row["program_hash"] = hashlib.sha256(self.program.encode()).hexdigest()[:16]

    def time(self):
        self.note("timing")
        jobs = self.runs.prepare(self.module, 1), self.runs.prepare(self.twin, 1)
        eager, jitted = (functools.partial(self.runs.call, job, function)
                         for job, function in zip(jobs, (self.target, self.jitted)))
        before = self.subject.mark(self.jitted)
        with self.stage("raised"):
            times = timing.paired(eager, jitted, clock=timing.Clock(self.cell.device), budget=self.options.budget)
        self.row["retimed"] = self.subject.mark(self.jitted)["misses"] - before["misses"]
        self.row.update(times.summary())
        self.samples = [{"eager_s": times.first, "run_s": times.second, "inner": times.inner}]
        self.note("memory")
        with self.stage("raised"):
            self.row["eager_peak_bytes"] = memory.peak_bytes(eager, self.cell.device)
            self.row["peak_bytes"] = memory.peak_bytes(jitted, self.cell.device)
            self.row["process_peak_bytes"] = memory.status_bytes("VmHWM")
        self.more_first_calls()
        self.samples[0].update(first_calls_s=[spent for spent, _ in self.first_calls],
                               phases=[phases for _, phases in self.first_calls])
        self.row["break_even"] = break_even(self.row)

    # Errors.

    @contextlib.contextmanager
    def stage(self, status):
        """What is raised inside decides the cell: `oom`, `skipped` for what can't be had here, or else `status`."""
        try:
            yield
        except Unavailable as why:
            raise Ended("skipped", str(why)) from None
        except Exception as error:
            raise Ended(*self.failure(status, error)) from error

    def failure(self, status, error) -> tuple[str, str]:
        """Status and detail for an error; the end of its traceback is kept in the row."""
        self.row["trace"] = "".join(traceback.format_exception(error))[-2500:]
        return ("oom" if out_of_memory(error) else status), described(error)
