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


class LeavesDaemons(Base):
    """In a session of their own, where killing the cell's group does not reach them."""

    def misbehave(self):
        sleep = ["sleep", os.environ.get("ZOOBENCH_TEST_SLEEP", "1000")]
        subprocess.Popen(sleep, start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", sleep)
            os._exit(0)


class LeavesDaemonsAndHangs(LeavesDaemons):
    def misbehave(self):
        super().misbehave()
        time.sleep(1000)


class KillsItsParent(Base):
    def misbehave(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)


class StopsItsParent(Base):
    def misbehave(self):
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(1000)


class ForksAndComesBack(Base):
    """Two processes go on as the cell."""

    def misbehave(self):
        os.fork()


class ReplacesStreams(Base):
    def misbehave(self):
        import io
        sys.stdout = sys.stderr = io.StringIO()
        sys.stdin.close()


class LeavesHooks(Base):
    def misbehave(self):
        sys.settrace(lambda *_: None)
        sys.excepthook = sys.unraisablehook = None
        self.linear.register_forward_hook(lambda module, args, output: output)
        nn.modules.module.register_module_forward_pre_hook(lambda module, args: None)


class ChangesDefaults(Base):
    def misbehave(self):
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(4)
        torch.use_deterministic_algorithms(True)
        torch.autograd.set_detect_anomaly(True)
        sys.setrecursionlimit(300)


class IgnoresSignals(Base):
    def misbehave(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(1000)


class FillsTemporaryFiles(Base):
    def misbehave(self):
        import tempfile
        for _ in range(3):
            os.write(tempfile.mkstemp(prefix="zoobench-test-")[0], b"x" * 1000)


class GivesNoInputs(Base):
    def example_inputs(self):
        pass


class ForgesRows(Base):
    """What is written as the harness writes it, but makes no sense, is not taken for a row."""

    def misbehave(self):
        for text in ("7", "[1, 2, 3]", '["row", 3]', '["row", {"status": "pass"}]', '[["row"], {}]', '["ledger", [1]]',
                     '["phase", null]'):
            for fd in range(3, 64):
                try:
                    os.write(fd, text.encode() + b"\n")
                except OSError:
                    pass


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
