"""Executors other than the eager one: when programs are compiled, and which compiled program serves a call.

Every entry is lowered by the eager executor first. What a compiler makes of it serves in its place, once it is there and where it fits; a program
that can't be compiled stays with the eager executor, and a warning says so.
"""

from __future__ import annotations

import threading
import warnings

from interpreter.executors import backends
from interpreter.executors.compiled import Compiled, Job, lower, prepare, reason_of, used_by

VARIANTS = 4


class NotCompiled(UserWarning):
    """A program that an executor was asked to compile is run by the eager executor: its results are right, it gains no speed."""


class Executor:
    """A backend, and whether calls wait for it. Raises backends.Unavailable where this machine can't have it."""

    def __init__(self, executor, compile):
        self.name = executor if isinstance(executor, str) else getattr(executor, "__name__", type(executor).__name__)
        self.backend = backends.named(executor)
        self.background = compile == "background"
        self.told: set[str] = set()

    def program(self, trace, chain, sources, call, phases) -> Program:
        """What serves an entry's calls. Compiles now, or begins to."""
        made = Program(self, phases)
        made.compile(prepare(trace, chain, 0, sources, call))
        return made

    def tell(self, reason: str):
        """Warn, once for each reason."""
        if reason not in self.told:
            self.told.add(reason)
            warnings.warn(f"executor={self.name!r} did not compile a program, which the eager executor runs instead: {reason}. Its results are "
                          "right; to have it compiled, change what is named here, and otherwise leave it to executor=\"eager\"",
                          NotCompiled, stacklevel=6)


class Program:
    """The compiled forms of one entry, by the recorded segment in whose place they serve."""

    def __init__(self, executor: Executor, phases: dict):
        self.executor = executor
        self.phases = phases
        self.variants: dict[int, list[Compiled]] = {}
        self.compiled: list[Compiled] = []
        self.job: Job | None = None
        self.failures: list[str] = []
        self.threads: list[threading.Thread] = []
        self.given_up = False

    def compile(self, job: Job):
        if job.start == 0:
            self.job = job
        if self.executor.background:
            thread = threading.Thread(target=self.work, args=(job,), name="zoobench-compile", daemon=True)
            self.threads.append(thread)
            thread.start()
            return
        self.work(job)
        self.report()

    def work(self, job: Job):
        """Lower a job, here or in a thread; a failure is kept until the next call can report it."""
        try:
            made = lower(job, self.executor.backend)
        except Exception as error:
            self.given_up = True
            self.failures.append(reason_of(error))
            return
        finally:
            job.examples = {}
            for name, seconds in job.phases.items():
                self.phases[name] = self.phases.get(name, 0.0) + seconds
        for compiled in made:
            self.compiled.append(compiled)
            self.variants.setdefault(id(compiled.origin[0]), []).insert(0, compiled)

    def failed(self, error: Exception):
        """A compiled program raised where the interpreter, doing the call again, did not."""
        self.executor.tell(f"it was compiled, but then raised {reason_of(error)}, which the same operations do not do one by one")

    def report(self):
        while self.failures:
            self.executor.tell(self.failures.pop(0))

    def wait(self):
        """Until what is being compiled in the background is there."""
        for thread in self.threads:
            thread.join()
        self.threads.clear()

    def first(self, segment, inputs):
        """What runs a call from its beginning. Sizes that nothing was compiled for yet are compiled for, up to a bound."""
        if self.failures:
            self.report()
        variants = self.variants.get(id(segment), ())
        for compiled in variants:
            if compiled.serves(inputs):
                return compiled
        if variants and self.job is not None and not self.given_up and not self.threads_alive():
            if len(variants) >= VARIANTS:
                self.given_up = True
                self.executor.tell(f"its inputs' sizes or sharing of memory keep changing in ways that need code of their own ({VARIANTS} so far)")
            else:
                self.compile(self.job.like(inputs))
                variants = self.variants[id(segment)]
                if variants[0].serves(inputs):
                    return variants[0]
        return segment

    def threads_alive(self) -> bool:
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        return bool(self.threads)

    def following(self, segment, inputs):
        """What runs a call from a segment on."""
        for compiled in self.variants.get(id(segment), ()):
            if compiled.serves(inputs):
                return compiled
        return segment

    def add_branch(self, path, branch, trace, sources, call):
        """Compile a branch that was recorded after `path` (segments, recorded or compiled). What it needs of earlier results must be given."""
        earlier = [origin for segment in path for origin in getattr(segment, "origin", [segment])]
        chain = [*earlier, *branch]
        needed = {index for segment in branch for index in used_by(segment)}
        lacking = any(needed & segment.computed() - segment.available() for segment in path if isinstance(segment, Compiled))
        if lacking:
            for segment in earlier:
                self.variants.pop(id(segment), None)
            self.compile(prepare(trace, earlier, 0, self.job.sources, call))
        self.compile(prepare(trace, chain, len(earlier), sources, call))
