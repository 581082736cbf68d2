"""A command line to test: `harness("run", ...)` runs it in a process of its own and gives status and output."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZOO = Path(__file__).parent / "zoo"


@dataclass
class Finished:
    status: int
    out: str
    err: str


class Started:
    def __init__(self, server, pid, files):
        self.server, self.pid, self.files = server, pid, files

    def kill(self, number):
        os.kill(self.pid, number)

    def wait(self) -> Finished:
        status = self.server.ask(wait=self.pid)["status"]
        return Finished(status, *(path.read_text(errors="replace") for path in self.files))


class Harness:
    def __init__(self, folder):
        self.folder, self.count = folder, 0
        self.process = subprocess.Popen([sys.executable, str(Path(__file__).parent / "server.py")], cwd=ROOT, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "PYTHONPATH": str(ROOT)})

    def ask(self, **order):
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def start(self, *argv, cwd=ROOT, env=None, file_limit=None) -> Started:
        self.count += 1
        files = [self.folder / f"{self.count}.{name}" for name in ("out", "err")]
        for file in files:
            file.touch()
        answer = self.ask(argv=[str(a) for a in argv], cwd=str(cwd), env=env or {}, file_limit=file_limit,
                          stdout=str(files[0]), stderr=str(files[1]))
        return Started(self, answer["pid"], files)

    def __call__(self, *argv, **more) -> Finished:
        return self.start(*argv, **more).wait()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    server = Harness(tmp_path_factory.mktemp("commands"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def zoo():
    """Models and subjects of the tests, as the command line takes them: zoo("models.py:Good")."""
    return lambda name: str((ZOO / name).relative_to(ROOT))
