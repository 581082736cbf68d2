"""Runs cells, each in a process forked from this one, and sees that each of them ends with a row.

This process imports everything once and never runs a tensor operation, starts a thread or touches CUDA: a fork of a
process that did would inherit locks without their holders. It only waits, reads pipes, watches clocks and memory.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from harness import compilers, memory
from harness.errors import Interrupted
from harness.guardian import PATIENCE, fork, guard
from harness.lines import stack_line
from harness.measure import Options
from harness.row import blank
from harness.store import DETAILS
from harness.worker import WHERE, work

#: Seconds between looks at clocks and memory.
TICK = 0.05
#: Seconds that a late cell gets to write its stacks before it is killed.
GRACE = 1.0
#: Bytes kept of what a cell prints: from the start, and from the end.
HEAD, TAIL = 4096, 16384


#: What a cell may say besides the details of its row, and as what.
SAID = {"phase": str, "row": dict, "partial": dict, "error": dict}

#: What belongs to a row, by file: ledger, samples, programs.
Details = dict[str, list[dict]]


class Output:
    """What a cell printed: the start and the end of it, and how much there was."""

    def __init__(self):
        self.head, self.tail, self.size = b"", b"", 0

    def add(self, data: bytes):
        self.size += len(data)
        room = HEAD - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-TAIL:]

    def text(self) -> str:
        left_out = self.size - len(self.head) - len(self.tail)
        middle = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return (self.head + middle + self.tail).decode(errors="replace")


class Running:
    """A cell's process, as seen from the parent."""

    def __init__(self, cell, model, subject, options: Options, base: int, let_go: Callable[[], None]):
        self.cell, self.model, self.options, self.base = cell, model, options, base
        self.fields = blank(cell, model.family).keys()
        self.start = time.monotonic()
        self.output, self.buffer = Output(), b""
        self.phase = "start"
        self.row: dict | None = None
        self.partial: dict = {}
        self.error: dict | None = None
        self.details: Details = {}
        self.verdict: tuple[str, str] | None = None
        self.asked: float | None = None
        self.since: float | None = None
        self.peak = 0
        self.kills = oom_kills()
        #: The cell's own process, once its guardian has named it, and how it ended.
        self.worker: int | None = None
        self.wait_status: int | None = None
        channel, channel_write = os.pipe()
        output, output_write = os.pipe()
        report, report_write = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self.guardian = fork()
        if self.guardian == 0:
            for fd in (channel, output, report):
                os.close(fd)
            let_go()
            guard(lambda guardian: work(cell, model, subject, options, channel_write, output_write, guardian),
                  report_write, parent, options.timed)
        for fd in (channel_write, output_write, report_write):
            os.close(fd)
        self.pipes = {channel: self.heard, output: self.output.add, report: self.told}
        for fd in self.pipes:
            os.set_blocking(fd, False)

    def read(self, fd: int) -> bool:
        """Takes what is there to be read; False once the pipe has ended."""
        for _ in range(64):
            try:
                data = os.read(fd, 65536)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.pipes[fd](data)
        return True

    def heard(self, data: bytes):
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        for line in lines:
            # The measured code can write to any of its files; what isn't ours is not taken for ours.
            with contextlib.suppress(ValueError, TypeError):
                kind, value = json.loads(line)
                if kind in DETAILS and all(type(entry) is dict for entry in value):
                    self.details[kind] = value
                elif type(value) is SAID.get(kind) and (kind not in {"row", "partial"} or value.keys() >= self.fields):
                    setattr(self, kind, value)

    def told(self, data: bytes):
        """What the guardian has to say: the process's id, and later its wait status."""
        for number in map(int, data.split()):
            if self.worker is None:
                self.worker = number
            else:
                self.wait_status = number

    def watch(self):
        """Ends the process when it is late or takes more memory than it may."""
        if self.worker is None or self.wait_status is not None:
            return
        late = time.monotonic() - self.start - self.options.timeout
        if late > 0 and self.asked is None:
            self.asked = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.worker, WHERE)
        if self.asked is not None and (stack_line(self.output.text()) or time.monotonic() - self.asked > GRACE):
            where = stack_line(self.output.text())
            self.kill("timeout", f"after {self.options.timeout:g} s, in phase {self.phase}"
                                 + (f" at {where}" if where else ""))
        held = memory.status_bytes("RssAnon", self.worker) or 0
        shared = memory.status_bytes("RssShmem", self.worker) or 0
        self.peak = max(self.peak, held + shared)
        if self.options.memory and held + shared > self.options.memory + self.base:
            self.kill("oom", f"held {held + shared:,} bytes of memory in phase {self.phase}, "
                             f"{self.options.memory:,} are allowed")

    def kill(self, status: str, detail: str):
        if self.verdict is None:
            self.verdict = (status, detail)
        self.end()

    def end(self):
        """The guardian ends the process and all that it has started; one that doesn't (it can be stopped) is killed."""
        self.since = self.since or time.monotonic()
        patient = time.monotonic() - self.since < 2 * PATIENCE
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.guardian, signal.SIGTERM if patient else signal.SIGKILL)

    def ended(self) -> bool:
        """Whether all is over; the pipes are then read to the end."""
        if os.waitpid(self.guardian, os.WNOHANG) == (0, 0):
            return False
        for fd in self.pipes:
            self.read(fd)
        self.close()
        return True

    def close(self):
        for fd in self.pipes:
            with contextlib.suppress(OSError):
                os.close(fd)

    def abandon(self):
        """Ends the process without a verdict: the run is over."""
        self.end()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self.guardian, os.WNOHANG) == (0, 0):
                time.sleep(0.005)
                self.end()
        self.close()

    def result(self) -> dict:
        """The cell's row, made from what the process said and how it ended."""
        row = self.row or {**blank(self.cell, self.model.family), **self.partial}
        status = self.judged()
        if status:
            row["status"], row["detail"] = status
        row["phase"] = self.phase
        row["wall_s"] = round(time.monotonic() - self.start, 3)
        if self.wait_status is not None and os.WIFSIGNALED(self.wait_status) and self.verdict is None:
            row["signal"] = signal.Signals(os.WTERMSIG(self.wait_status)).name
        if row["status"] not in {"pass", "skipped"}:
            row["output"] = self.output.text()[-2000:]
        return row

    def judged(self) -> tuple[str, str] | None:
        """Status and detail where the process did not end with a row of its own."""
        if self.verdict and not self.row:
            return self.verdict
        if self.asked and not self.row:
            # It died of being asked where it is, having changed what that signal does.
            return "timeout", f"after {self.options.timeout:g} s, in phase {self.phase}"
        where = stack_line(self.output.text())
        at = f" in phase {self.phase}" + (f" at {where}" if where else "")
        if self.wait_status is None:
            return None if self.row else ("crash", f"the process that watches over it was killed{at}")
        if os.WIFSIGNALED(self.wait_status) and self.verdict is None:
            number = os.WTERMSIG(self.wait_status)
            if (number == signal.SIGKILL and oom_kills() > self.kills) or "bad_alloc" in self.output.text():
                return "oom", f"killed for want of memory{at}"
            return "crash", f"{signal.Signals(number).name}{at}"
        if self.row:
            return None
        if self.error:
            if self.error["oom"]:
                return "oom", self.error["text"]
            if self.error["ours"]:
                return "crash", f"a fault of the harness{at}: {self.error['trace']}"
            return ("eager_failed" if self.phase in {"build", "eager", "count"} else "raised"), self.error["text"]
        return "crash", f"left with exit status {os.WEXITSTATUS(self.wait_status)} and no result{at}"


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory, so far; 0 where it does not say."""
    with contextlib.suppress(OSError), open("/proc/vmstat") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def run(cells, models: dict, subjects: dict, options: Options, *, jobs: int = 1, refused: dict[str, str] | None = None,
        let_go: Callable[[], None] = lambda: None) -> Iterator[tuple[dict, Details]]:
    """Runs `cells` and yields (row, details) as each ends. `models` and `subjects` are looked up by name.

    Subjects in `refused` can't be used here: their cells are `skipped`, with the reason that is given. Forked processes
    call `let_go`, to close files that are the caller's. Raises Interrupted on SIGINT or SIGTERM, after ending
    the cells that were running; those have no row.
    """
    def let_all_go():
        let_go()
        for other in active:
            other.close()

    waiting, active = deque(cells), list[Running]()
    stop: list[int] = []
    with heeding(stop):
        compilers.prepare({cell.executor for cell in waiting if cell.subject not in (refused or {})})
        gc.collect()
        gc.freeze()
        # What a fork may hold besides its own: the parent's memory, as far as either has written to it.
        base = memory.status_bytes("RssAnon") or 0
        try:
            while waiting or active:
                while waiting and len(active) < jobs and not stop:
                    cell = waiting.popleft()
                    if refused and cell.subject in refused:
                        yield {**blank(cell, models[cell.model].family), "status": "skipped",
                               "detail": refused[cell.subject]}, {}
                        continue
                    active.append(Running(cell, models[cell.model], subjects[cell.subject], options, base,
                                          let_all_go))
                if stop:
                    raise Interrupted(stop[0])
                listen(active)
                for running in [r for r in active if r.ended()]:
                    active.remove(running)
                    yield running.result(), running.details
        finally:
            for running in active:
                running.abandon()
            gc.unfreeze()


def listen(active: list[Running]):
    """Waits until a cell has something to say, ends, or a tick has passed; then looks after all of them."""
    owners = {fd: running for running in active for fd in running.pipes}
    if not owners:
        return
    try:
        ready, _, _ = select.select(list(owners), [], [], TICK)
    except InterruptedError:
        return
    quiet = True
    for fd in ready:
        quiet = owners[fd].read(fd) and quiet
    if not quiet:
        # A pipe has ended: its process is about to, and select would return at once until it has.
        time.sleep(0.002)
    for running in active:
        running.watch()


@contextlib.contextmanager
def heeding(stop: list[int]):
    """SIGINT and SIGTERM are noted in `stop` instead of cutting whatever is going on. Main thread only."""
    def note(number, _):
        stop.append(number)

    before: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def leaving_on_signals():
    """SIGINT and SIGTERM leave by way of the `with`s that are open: they raise Interrupted."""
    def leave(number, _):
        raise Interrupted(number)

    before: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):
        before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
