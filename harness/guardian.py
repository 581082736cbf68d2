"""A process between the harness and a cell: it sees that nothing of the cell outlives it.

A model can start processes that leave its session (`setsid`, a daemon), so that killing the cell's group does not
reach them. Orphans are handed to the nearest ancestor that asks for them, which is this process; when the cell is over
it kills whatever descends from it, removes the cell's folder for temporary files, and reports how the cell ended. It
does so too when the harness itself is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable

import psutil

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ENDING = (signal.SIGTERM, signal.SIGINT)
#: Seconds after which processes that keep coming are given up.
PATIENCE = 5.0


def guard(work: Callable[[int], object], report: int, parent: int, timed: bool):
    """Runs `work`, given the id of this process, in a process of its own, and never returns. `report` is a pipe for two
    lines: that process's id, and its wait status once everything is over. SIGTERM, and the end of `parent`, end it
    early. To be called in what `fork` has made. What is `timed` finds nothing that others have compiled.
    """
    try:
        adopt(parent)
        folder = temporary(timed)
        this = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        pid = os.fork()
        if pid == 0:
            os.close(report)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            work(this)
            os._exit(70)
        say(report, pid)
        status = outlive(pid)
        sweep()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        say(report, status)
    except BaseException as error:
        print(f"harness: the process that watches over a cell failed: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def fork() -> int:
    """os.fork, with the signals that end a process held back in the child until it calls `listen`: what the parent does
    at them is not for the child to do, and one that came too early would be lost.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    pid = os.fork()
    if pid:
        listen()
    return pid


def listen():
    """Lets the signals through that `fork` holds back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def adopt(parent: int):
    """A session of its own, orphans of the cell become its children, and SIGTERM comes when the parent dies."""
    os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(0)


def temporary(timed: bool) -> str | None:
    """A folder for what the cell writes to temporary files, and if it is `timed` for the code that torch's compilers
    keep; None where there is no room for one.
    """
    with contextlib.suppress(OSError):
        folder = tempfile.mkdtemp(prefix="zoobench-")
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        if timed:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "compiled")
        return folder
    return None


def prctl(option: int, value: int):
    """Asks the Linux kernel; elsewhere there is nothing to ask."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value)


def say(report: int, number: int):
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps(number).encode() + b"\n")


def end(pid: int):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def outlive(pid: int) -> int:
    """Waits for the end of the process, and brings it about when a signal asks for that. Its wait status.

    The signals are held back and waited for: a handler could be called just before a wait begins that then never ends.
    """
    while True:
        if signal.sigwait({signal.SIGCHLD, *ENDING}) in ENDING:
            end(pid)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] == pid:
                    return ended[1]


def sweep():
    """Kills all descendants, until there are none."""
    deadline = time.monotonic() + PATIENCE
    while reaped_but_some() and time.monotonic() < deadline:
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process().children(recursive=True):
                end(process.pid)
        time.sleep(0.002)


def reaped_but_some() -> bool:
    """Takes leave of the children that have ended. Whether there are others: who has no child has no descendant."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True
