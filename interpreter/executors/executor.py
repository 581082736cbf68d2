"""Executors other than the eager one: when programs are compiled, and which compiled program serves a call.

Every entry is lowered by the eager executor first. What a compiler makes of it serves in its place, once it is there
and where it fits; a program that can't be compiled stays with the eager executor, and a warning says so.
"""

from __future__ import annotations

import contextlib
import threading
import warnings

from interpreter.executors import backends
from interpreter.executors.background import Stopped, one_at_a_time
from interpreter.executors.compiled import Compiled, Job, lower, prepare, reason_of, used_by
from interpreter.recording.faults import users_level

VARIANTS = 4


class NotCompiled(UserWarning):
    """A program that an executor was asked to compile is run by the eager executor: its results are right, it gains no
    speed."""


class Executor:
    """A backend, and whether calls wait for it. Raises backends.Unavailable where this machine can't have it."""

    def __init__(self, executor, compile):
        self.name = executor if isinstance(executor, str) else getattr(executor, "__name__", type(executor).__name__)
        self.backend = backends.named(executor)
        self.background = compile == "background"
        if self.background:
            backends.load(self.name)
        self.told: set[str] = set()

    def program(self, trace, chain, sources, call, phases) -> Program:
        """What serves an entry's calls. Compiles now, or begins to."""
        made = Program(self, prepare(trace, chain, 0, sources, call), phases)
        made.compile([made.job])
        return made

    def tell(self, reason: str):
        """Warn, once for each reason."""
        if reason not in self.told:
            self.told.add(reason)
            text = (
                f"executor={self.name!r} did not compile a program, or a part of it, which the eager executor runs "
                f"instead: {reason}. Its results are right; to have it compiled, change what is named here, and "
                'otherwise leave it to executor="eager"'
            )
            warnings.warn(text, NotCompiled, stacklevel=users_level())


class Program:
    """The compiled forms of one entry, by the recorded segment in whose place they serve."""

    def __init__(self, executor: Executor, job: Job, phases: dict):
        self.executor = executor
        self.phases = phases
        self.variants: dict[int, list[Compiled]] = {}
        self.compiled: list[Compiled] = []
        self.job = job
        self.failures: list[str] = []
        self.fallbacks: list[str] = []
        self.threads: list[threading.Thread] = []
        self.settled = False
        self.attempts = 0

    def compile(self, *choices: list[Job], undone=False):
        """Lower the jobs of the first of the choices that can be. An empty choice at the end: if none can, nothing is
        said. `undone`: if none can, what was compiled before serves no longer, since a call that goes on from it could
        not be taken up."""
        if self.executor.background:
            thread = threading.Thread(target=self.work, args=(choices, undone), name="zoobench-compile")
            self.threads.append(thread)
            thread.start()
            return
        self.work(choices, undone)
        self.report()

    def work(self, choices, undone):
        """Lower, here or in a thread; a failure is kept until the next call can report it."""
        reason = ""
        with contextlib.suppress(Stopped), one_at_a_time(self.executor.background):
            for jobs in choices:
                try:
                    made = [lower(job, self.executor.backend) for job in jobs]
                except Exception as error:
                    reason = reason_of(error)
                    continue
                finally:
                    for job in jobs:
                        for name, seconds in job.phases.items():
                            self.phases[name] = self.phases.get(name, 0.0) + seconds
                for job, several in zip(jobs, made):
                    self.serve(job, several)
                    self.failures += job.notes
                return
            if undone:
                self.drop()
            self.failures.append(reason)

    def serve(self, job: Job, made: list[Compiled]):
        """From now on these serve. What reads results that earlier forms do not give takes their place."""
        if job.replaces:
            for segment in job.chain:
                self.variants.pop(id(segment), None)
        for compiled in made:
            for piece in compiled.pieces:
                piece.when_failing = self.failed
            self.compiled.append(compiled)
            variants = self.variants.setdefault(id(compiled.origin[0]), [])
            variants.insert(0 if compiled.gate is None else len(variants), compiled)

    def failed(self, error: Exception | None):
        """A compiled program, or its backward pass, raised where the same operations did not: it serves no longer.
        Without an error it was left where something came that couldn't be taken back, and is being compiled."""
        if error is None:
            return
        self.drop()
        self.tell(
            f"it was compiled, but then raised {reason_of(error)}, which the same operations do not do one by one"
        )

    def drop(self):
        """From now on the recorded segments serve."""
        self.settled = True
        self.variants.clear()
        self.compiled.clear()

    def tell(self, reason: str):
        """Warn that something is left to the eager executor, and keep why."""
        self.fallbacks.append(reason)
        self.executor.tell(reason)

    def report(self):
        while self.failures:
            self.tell(self.failures.pop(0))

    def wait(self):
        """Until what is being compiled in the background is there."""
        for thread in self.threads:
            thread.join()
        self.threads.clear()

    def first(self, segment, inputs, args, kwargs):
        """What runs a call from its beginning, and its inputs. Sizes that nothing was compiled for yet are compiled
        for, up to a bound."""
        if self.failures:
            self.report()
        variants = self.variants.get(id(segment), ())
        fits = not variants
        for compiled in variants:
            given = inputs if compiled.gate is None else compiled.gate.check(args, kwargs)
            if type(given) is tuple and compiled.fits(given):
                if compiled.answers(given):
                    return compiled, given
                fits = True
        if fits or self.settled or self.busy():
            return segment, inputs
        if self.attempts == VARIANTS:
            self.settled = True
            self.tell(
                "sizes of its inputs, or which of them share memory, keep changing in ways that need code of their own "
                f"({VARIANTS} so far)"
            )
            return segment, inputs
        self.attempts += 1
        self.compile([self.job.like(inputs)], [])
        compiled = self.variants[id(segment)][0]
        if compiled is not variants[0] and compiled.fits(inputs) and compiled.answers(inputs):
            return compiled, inputs
        return segment, inputs

    def busy(self) -> bool:
        """Whether something is being compiled in the background."""
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        return bool(self.threads)

    def following(self, segment, inputs):
        """What runs a call from a segment on."""
        for compiled in self.variants.get(id(segment), ()):
            if compiled.fits(inputs) and compiled.answers(inputs):
                return compiled
        return segment

    def add_branch(self, path, branch, trace, sources, call):
        """Compile what was recorded from a check on, after `path` (segments, recorded or compiled): as one with what
        came before where the check asks for a number that is known at once, else by itself. What it needs of earlier
        results must then be given."""
        earlier = [origin for segment in path for origin in segment.origin or [segment]]
        whole = prepare(trace, [*earlier, *branch], 0, sources, call)
        whole.gate = branch[0].prologue
        needed = {index for segment in branch for index in used_by(segment)}
        lacking = any(
            needed & segment.computed() - segment.available() for segment in path if segment.origin is not None
        )
        jobs = [prepare(trace, [*earlier, *branch], len(earlier), sources, call)]
        if lacking:
            jobs.insert(0, prepare(trace, earlier, 0, self.job.sources, call))
            jobs[0].replaces = True
        self.compile([whole], jobs, undone=any(segment.undo is None for segment in branch))
