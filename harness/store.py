"""A run's folder: written line by line, safe against a kill at any moment, owned by one process at a time.

    run.json         what was planned, where it ran, with which versions; replaced as a whole
    cells.jsonl      a row per cell. The row is the commit: it is written last, so what belongs to it is already there
    ledger.jsonl     callables, their routes, calls and lines, per cell
    samples.jsonl    the raw timings behind a cell's figures, seconds
    programs.jsonl   the recorded program of a cell, as text

A kill can cut the last line of a file, or leave details whose cell has no row. `open(resume=True)` drops both, and
those cells are simply run again.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path

from harness.errors import StoreError, UsageError
from harness.plan import Cell

DETAILS = ("ledger", "samples", "programs")
FORMAT = 1
#: Without these no run.json can be made anything of.
NEEDED = {"format", "started", "plan", "options", "environment"}


class Store:
    """The folder of a run that is being written. A context manager: leaving it releases the lock."""

    def __init__(self, folder: Path, lock: int):
        self.folder = folder
        self._lock = lock
        self._files: dict[str, int] = {}
        self.run: dict = {}

    @classmethod
    def create(cls, folder, run: dict) -> Store:
        """A new run in `folder`, made if need be. UsageError: it holds a run, is in use or can't be written."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out {folder}: cannot be made: {error.strerror}") from None
        store = cls(folder, lock(folder))
        if (folder / "run.json").exists() or (folder / "cells.jsonl").exists():
            store.close()
            raise UsageError(f"--out {folder}: already holds a run; name another folder, or go on with it by --resume")
        store.run = {"format": FORMAT, **run}
        store.save()
        return store

    @classmethod
    def resume(cls, folder) -> Store:
        """The unfinished run in `folder`, cut back to whole rows. UsageError: there is none, or it is in use."""
        folder = Path(folder)
        read_info(folder)
        store = cls(folder, lock(folder))
        store.run = read_info(folder)
        done = {row["cell"] for row in store.mend("cells")}
        for name in DETAILS:
            store.mend(name, done)
        return store

    @staticmethod
    def read_plan(folder) -> list[Cell]:
        """The cells that the run in `folder` set out to measure. UsageError: there is no run."""
        return [Cell.fromdict(values) for values in read_info(folder)["plan"]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for fd in (*self._files.values(), self._lock):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._files.clear()

    def forget(self):
        """In a forked child: give up the inherited files. The parent's lock stays the parent's."""
        self.close()

    def rows(self) -> list[dict]:
        return read_lines(self.folder / "cells.jsonl")

    def save(self):
        """Writes run.json: the old one or the new one is there at any moment, never half of one."""
        path, new = self.folder / "run.json", self.folder / "run.json.new"
        try:
            with open(new, "w") as file:
                json.dump(self.run, file, indent=1)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, path)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise StoreError(f"{path} can't be written: {error.strerror}") from None

    def add(self, row: dict, **details: list[dict]):
        """A cell has ended: its details, then its row. StoreError (a full disk): nothing of this cell is kept."""
        for name, lines in details.items():
            self._append(name, [{"cell": row["cell"], **line} for line in lines])
        self._append("cells", [row])

    def _append(self, name: str, lines: list[dict]):
        if not lines:
            return
        path = self.folder / f"{name}.jsonl"
        data = "".join(json.dumps(line, allow_nan=True) + "\n" for line in lines).encode()
        start = None
        try:
            if name not in self._files:
                self._files[name] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            fd = self._files[name]
            start = os.fstat(fd).st_size
            while data:
                data = data[os.write(fd, data):]
            os.fdatasync(fd)
        except OSError as error:
            if start is not None:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._files[name], start)
            raise StoreError(f"{path} can't be written: {error.strerror}") from None

    def mend(self, name: str, keep: set[str] | None = None) -> list[dict]:
        """Drops what a kill left behind: a cut last line, a doubled cell, details of cells that are not in `keep`."""
        path = self.folder / f"{name}.jsonl"
        if not path.exists():
            return []
        lines = read_lines(path)
        if keep is None:
            kept = list({line["cell"]: line for line in lines if "cell" in line}.values())
        else:
            kept = [line for line in lines if line.get("cell") in keep]
        text = "".join(json.dumps(line, allow_nan=True) + "\n" for line in kept)
        if path.read_text() != text:
            new = path.with_suffix(".new")
            new.write_text(text)
            os.replace(new, path)
        return kept


def lock(folder: Path) -> int:
    """Takes the folder for this process; the kernel gives it back when the process ends, however it ends."""
    try:
        fd = os.open(folder / "run.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UsageError(f"--out {folder}: cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.pread(fd, 32, 0).decode(errors="replace").strip()
        os.close(fd)
        raise UsageError(f"--out {folder}: another run (process {owner or 'unknown'}) is writing to it") from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd


def read_info(folder) -> dict:
    """What run.json says of the run in `folder`. UsageError: there is none, or it is damaged, or of another format."""
    path = Path(folder) / "run.json"
    try:
        info = json.loads(path.read_text())
    except FileNotFoundError:
        raise UsageError(f"{folder} holds no run (no run.json)") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be read: {error}") from None
    if not isinstance(info, dict) or not info.keys() >= NEEDED:
        raise UsageError(f"{path} is not of a run: {', '.join(sorted(NEEDED))} should be there")
    if info["format"] != FORMAT:
        raise UsageError(f"{path} was written in format {info['format']}, this is {FORMAT}")
    return info


def read_lines(path) -> list[dict]:
    """The objects on the whole lines of a JSON-lines file; what is cut or is none is left out. No file: no lines."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    whole = data[:data.rfind(b"\n") + 1]
    lines = []
    for line in whole.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            lines.append(json.loads(line))
    return [line for line in lines if isinstance(line, dict)]
