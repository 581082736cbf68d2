"""Models that do to their process what models should not do. Each misbehaves in its first forward."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.misbehave()
        return self.linear(x)

    def misbehave(self):
        pass

    def example_inputs(self):
        return (torch.randn(2, 4),)


class Aborts(Base):
    def misbehave(self):
        os.abort()


class Segfaults(Base):
    def misbehave(self):
        ctypes.string_at(0)


class HangsAsleep(Base):
    def misbehave(self):
        time.sleep(1000)


class HangsBusy(Base):
    def misbehave(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            pass


class HangsDeaf(Base):
    """Has changed what the harness's question does."""

    def misbehave(self):
        import faulthandler
        faulthandler.unregister(signal.SIGUSR1)
        time.sleep(1000)


class Stops(Base):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGSTOP)


class EatsMemory(Base):
    def misbehave(self):
        hoard = []
        while True:
            hoard.append(torch.ones(4 << 20))


class EatsSharedMemory(Base):
    """What a limit on private memory doesn't see."""

    def misbehave(self):
        import mmap
        hoard = []
        while True:
            hoard.append(mmap.mmap(-1, 16 << 20))
            hoard[-1].write(b"x" * (16 << 20))


class KillsItsGroup(Base):
    def misbehave(self):
        os.killpg(0, signal.SIGKILL)


class Raises(Base):
    def misbehave(self):
        raise ValueError("not today")


class Exits(Base):
    def misbehave(self):
        sys.exit(3)


class LeavesAtOnce(Base):
    def misbehave(self):
        os._exit(0)


class Prints(Base):
    def misbehave(self):
        for _ in range(50):
            os.write(1, b"all work and no play\n" * 5000)
        print("to standard error", file=sys.stderr)


class LeavesThreads(Base):
    def misbehave(self):
        threading.Thread(target=time.sleep, args=(1000,)).start()


class LeavesProcesses(Base):
    def misbehave(self):
        subprocess.Popen(["sleep", os.environ.get("ZOOBENCH_TEST_SLEEP", "1000")])


class ClosesFiles(Base):
    def misbehave(self):
        os.closerange(3, 4096)


class CannotBeBuilt(nn.Module):
    def __init__(self):
        super().__init__()
        raise RuntimeError("no such weights")

    def example_inputs(self):
        return ()


class ChangesDirectory(Base):
    def misbehave(self):
        os.chdir("/")


class ScribblesEverywhere(Base):
    """Writes to every file it can find open, also to the harness's own."""

    def misbehave(self):
        for fd in range(3, 64):
            try:
                os.write(fd, b'["row", {"status": "pa\n')
            except OSError:
                pass
