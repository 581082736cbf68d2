"""The inside of a cell's process: cut off from the parent, bounded, measured, reported line by line.

What the cell prints goes to a pipe that the parent reads; what it has to say goes as JSON lines to another. Nothing
the measured code does to its own process (exit, abort, threads left running) reaches beyond it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import traceback

from harness import memory
from harness.guardian import ENDING, PR_SET_PDEATHSIG, listen, prctl
from harness.measure import Measurement, Options
from harness.row import blank
from harness.subjects import Unavailable

#: Tells the child to write the stacks of its threads, shortly before it is killed for being late.
WHERE = signal.SIGUSR1


def work(cell, model, subject, options: Options, channel: int, output: int, guardian: int):
    """Measures the cell and leaves. Never returns: what was forked must not run on in the parent's code."""
    status = 1
    try:
        detach(output, guardian)
        send = Channel(channel)
        try:
            measure(cell, model, subject, options, send)
            status = 0
        except BaseException as error:  # including SystemExit and KeyboardInterrupt of the measured code
            send.error(error)
    finally:
        flush()
        os._exit(status)


def measure(cell, model, subject, options, send):
    import torch
    torch.set_num_threads(options.threads)
    if options.memory:
        memory.bound(options.memory, cell.device)
    try:
        instance = subject(cell.executor)
        instance.forgo(options.without)
    except Unavailable as why:
        send.row({**blank(cell, model.family), "status": "skipped", "detail": str(why)})
        return
    measurement = Measurement(cell, model, instance, options, send.phase)
    try:
        row = measurement.run()
    except BaseException:
        send.partial(measurement.row)
        raise
    send.details("ledger", measurement.ledger)
    send.details("samples", measurement.samples)
    send.details("programs", [{"program": measurement.program}] if measurement.program else [])
    send.row(row)


class Channel:
    """JSON lines to the parent: ["phase", name], ["ledger", rows], ["row", row] ..."""

    def __init__(self, fd: int):
        self.fd, self.process = fd, os.getpid()

    def say(self, kind: str, value):
        if os.getpid() != self.process:
            # The measured code has forked, and lets the other process come back as if it were the cell.
            os._exit(0)
        data = (json.dumps([kind, value], default=str) + "\n").encode()
        while data:
            data = data[os.write(self.fd, data):]

    def phase(self, name: str):
        self.say("phase", name)

    def details(self, name: str, lines: list[dict]):
        if lines:
            self.say(name, lines)

    def row(self, row: dict):
        self.say("row", row)

    def partial(self, row: dict):
        self.say("partial", row)

    def error(self, error: BaseException):
        """An error that no stage of the measurement took for the cell's own."""
        from harness.lines import described, out_of_memory
        with contextlib.suppress(BaseException):
            self.say("error", {"text": described(error), "oom": out_of_memory(error),
                               "ours": isinstance(error, Exception),
                               "trace": "".join(traceback.format_exception(error))[-4000:]})


def detach(output: int, guardian: int):
    """A session of its own, its output in the pipe, no input, killed when its guardian dies."""
    own_session(guardian)
    volunteer()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout = open(1, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="replace")  # noqa: SIM115
    faulthandler.enable(2)
    faulthandler.register(WHERE, file=2, all_threads=True)


def own_session(parent: int):
    """Out of reach of the terminal's signals, and killed when the parent dies."""
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    listen()


def volunteer():
    """Should memory run out all the same, the kernel is to take this process, and not the one that keeps the rows."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def flush():
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
