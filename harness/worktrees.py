"""Git worktrees of revisions, which are gone afterwards however the program ends.

A worktree is registered in the repository, so one that is left behind is the user's to clean up. Leaving the `with`
removes them, after an error and Ctrl-C too. Should this process be killed outright, a small process that waits for its
end removes them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.environment import ROOT
from harness.errors import UsageError
from harness.guardian import ENDING, fork, listen

#: Name of what is checked out, with its changes.
WORKING_TREE = "."
#: What git sets for the programs it calls (hooks): it would send our commands to another repository or index.
MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")


@dataclass(frozen=True)
class Revision:
    """A commit, or the working tree. `commit` is None for the latter."""

    name: str
    commit: str | None


def git(*arguments: str, root: Path = ROOT, accepted: tuple[int, ...] = (0,)) -> str:
    """Standard output of a git command; no hook is run. UsageError with what git said where it failed."""
    environment = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    done = subprocess.run(["git", "-C", str(root), "-c", "core.hooksPath=/dev/null", *arguments], capture_output=True,
                          text=True, check=False, env=environment)
    if done.returncode not in accepted:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"git {arguments[0]}: {said[-1] if said else 'failed'}")
    return done.stdout.strip()


def resolve(name: str, root: Path = ROOT) -> Revision:
    """The revision of this name. UsageError: it is neither that nor a run's folder."""
    if name == WORKING_TREE:
        return Revision(name, None)
    try:
        return Revision(name, git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", root=root))
    except UsageError:
        what = "is a folder without a run" if Path(name).is_dir() else "is neither a run's folder nor a git revision"
        raise UsageError(f"{name} {what}") from None


@contextlib.contextmanager
def worktrees(root: Path = ROOT) -> Iterator[Worktrees]:
    """A folder for worktrees of the repository at `root`, removed with all of them."""
    top = Path(tempfile.mkdtemp(prefix="zoobench-"))
    janitor, line = employ(top, root)
    try:
        yield Worktrees(top, root)
    finally:
        remove(top, root)
        with contextlib.suppress(BrokenPipeError):
            os.write(line, b"done")
        os.close(line)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(janitor, 0)


class Worktrees:
    """Adds worktrees below a folder."""

    def __init__(self, top: Path, root: Path):
        self.top, self.root, self.count = top, root, 0

    def interpreter(self, revision: Revision) -> Path:
        """A folder with the revision's `interpreter/` and nothing else; empty where the revision has none."""
        self.count += 1
        folder = self.top / str(self.count)
        if revision.commit is None:
            folder.mkdir()
            if (self.root / "interpreter").is_dir():
                shutil.copytree(self.root / "interpreter", folder / "interpreter",
                                ignore=shutil.ignore_patterns("__pycache__"))
            return folder
        git("worktree", "add", "--quiet", "--detach", "--force", "--no-checkout", str(folder), revision.commit,
            root=self.root)
        if git("ls-tree", revision.commit, "--", "interpreter", root=self.root):
            git("checkout", revision.commit, "--", "interpreter", root=folder)
        return folder

    def whole(self, commit: str) -> Path:
        """A worktree with all that the commit has."""
        self.count += 1
        folder = self.top / str(self.count)
        git("worktree", "add", "--quiet", "--detach", "--force", str(folder), commit, root=self.root)
        return folder


def remove(top: Path, root: Path):
    """Takes the worktrees away, and with them what git knows of them."""
    for folder in sorted(top.glob("*/.git")):
        with contextlib.suppress(UsageError):
            git("worktree", "remove", "--force", str(folder.parent), root=root)
    shutil.rmtree(top, ignore_errors=True)
    with contextlib.suppress(UsageError):
        git("worktree", "prune", root=root)


def employ(top: Path, root: Path) -> tuple[int, int]:
    """Starts the process that cleans up after a kill: its id, and a pipe by which it hears that there is no need."""
    heard, line = os.pipe()
    pid = fork()
    if pid:
        os.close(heard)
        return pid, line
    try:
        os.setsid()
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        listen()
        os.close(line)
        if not os.read(heard, 4):
            remove(top, root)
    finally:
        os._exit(0)
