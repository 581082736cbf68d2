"""Runs of two git revisions: the same plan with each revision's interpreter, cell by cell in turn.

The harness and the models are the current ones; only `interpreter/` comes from the revision. The results are kept by
the contents of all three, so a comparison that was made once is not made again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from harness import noise
from harness.bench import Prepared, describe, now
from harness.compare import times
from harness.environment import ROOT, machine, packages
from harness.errors import Interrupted, UsageError
from harness.frames import Run, load
from harness.guardian import fork
from harness.measure import Options
from harness.plan import Cell
from harness.runner import leaving_on_signals
from harness.serve import serve
from harness.store import Store
from harness.worker import flush, own_session
from harness.worktrees import Revision, worktrees

#: Further processes in which a cell is timed, on both sides, where its times seem to differ.
REPEATS = 4
#: Runs that the cache holds.
KEPT = 40


class Server:
    """A parent process for the cells of one revision, whose files lie in `folder`."""

    def __init__(self, folder: Path, prepared: Prepared):
        orders, orders_write = os.pipe()
        answers, answers_write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = fork()
        if self.pid == 0:
            os.close(orders_write)
            os.close(answers)
            serve_and_leave(folder, orders, answers_write, parent)
        os.close(orders)
        os.close(answers_write)
        self.orders, self.answers = os.fdopen(orders_write, "w"), os.fdopen(answers)
        # Two of these import at the same time: the answer is waited for later.
        self.send({"subjects": list(dict.fromkeys([*prepared.subjects, "eager"])), "models": list(prepared.models),
                   "device": prepared.device})

    def send(self, order: dict):
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(order), file=self.orders, flush=True)

    def answer(self) -> dict:
        """One answer. UsageError where the process has died: with everything imported, that is the revision's fault."""
        line = self.answers.readline()
        if not line:
            raise UsageError("the process for a revision has ended by itself; what it said is above")
        return json.loads(line)

    def run(self, cell: Cell, options: Options) -> tuple[dict, dict]:
        self.send({"cell": cell.asdict(), "options": dataclasses.asdict(options)})
        answer = self.answer()
        return answer["row"], answer["details"]

    def kill(self):
        """Ends the process and the cells that it runs."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            if number == signal.SIGTERM and self.ended(2.0):
                break
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        for file in (self.orders, self.answers):
            with contextlib.suppress(OSError):
                file.close()

    def ended(self, patience: float) -> bool:
        """Whether the process is over within so many seconds."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                    time.sleep(0.01)
                    continue
            return True
        return False


def serve_and_leave(folder: Path, orders: int, answers: int, parent: int):
    """The life of a server's process. It ends with its parent, and leaves nothing of the parent's to be run twice."""
    status = 1
    try:
        own_session(parent)
        serve(str(folder), os.fdopen(orders), os.fdopen(answers, "w"))
        status = 0
    except Interrupted as stop:
        status = stop.status
    except BaseException:
        traceback.print_exc()
    finally:
        flush()
        os._exit(status)


@contextlib.contextmanager
def servers(folders: Sequence[Path], prepared: Prepared):
    """A server for each of the folders with an interpreter. Their processes are gone afterwards."""
    started: list[Server] = []
    try:
        for folder in folders:
            started.append(Server(folder, prepared))
        yield started
    finally:
        for server in started:
            server.kill()


def run_both(revisions: tuple[Revision, Revision], prepared: Prepared, options: Options, say, root: Path,
             results: Path) -> tuple[Run, Run]:
    """Runs of the plan with each of the revisions' interpreters, made in turn or read from the cache in `results`."""
    for note in prepared.notes:
        say(note)
    with leaving_on_signals(), worktrees(root) as trees:
        places = [trees.interpreter(revision) for revision in revisions]
        folders = [results / key(place / "interpreter", prepared, options) for place in places]
        kept = [finished(folder) for folder in folders]
        same = folders[0] == folders[1]
        if all(kept) and not same:
            say(f"both were run before: {folders[0].name}, {folders[1].name}")
            return load(folders[0]), load(folders[1])
        pair = [results / f"{folder.name}.{number}" if same else folder for number, folder in enumerate(folders)]
        for folder in pair:
            shutil.rmtree(folder, ignore_errors=True)
        with servers(places, prepared) as started:
            fill_both(revisions, started, pair, prepared, options, say)
    prune(results)
    return load(pair[0]), load(pair[1])


def prune(results: Path):
    """Drops the runs that were made longest ago once there are more than KEPT."""
    runs = sorted(results.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in runs[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


def fill_both(revisions, started, folders, prepared: Prepared, options: Options, say):
    beginnings = [server.answer() for server in started]
    stores = []
    for revision, beginning, folder in zip(revisions, beginnings, folders):
        store = Store.create(folder, {**describe(prepared, options), "environment": beginning["environment"],
                                      "refused": beginning["refused"],
                                      "revision": {"name": revision.name, "commit": revision.commit}})
        for subject, why in beginning["refused"].items():
            say(f"{revision.name}: {subject}: {why}")
        stores.append(store)
    with contextlib.ExitStack() as stack:
        for store in stores:
            stack.enter_context(store)
        for number, cell in enumerate(prepared.cells):
            pair = in_turn(started, cell, options, number)
            repeat_suspects(started, cell, options, pair)
            for store, (row, details) in zip(stores, pair):
                store.add(row, **details)
            words = " and ".join(row["parity"] if row["status"] == "pass" else row["status"] for row, _ in pair)
            say(f"[{number + 1}/{len(prepared.cells)}] {cell.id}: {words}")
        measured = noise.summary([started[0].run(cell, options)[0] for cell in noise_cells(prepared)]
                                 if options.timed else [])
        for store in stores:
            store.run.update(noise=measured, outcome="finished", finished=now())
            store.save()


def noise_cells(prepared: Prepared) -> list[Cell]:
    """A/A cells on models that can be timed."""
    return noise.cells([cell for cell in prepared.cells if prepared.models[cell.model].expected is None])


def in_turn(started, cell: Cell, options: Options, number: int) -> list[tuple[dict, dict]]:
    """The cell with each of the revisions, the one first that was not first the last time."""
    order = (0, 1) if number % 2 == 0 else (1, 0)
    found = {side: started[side].run(cell, options) for side in order}
    return [found[0], found[1]]


def repeat_suspects(started, cell: Cell, options: Options, pair):
    """Where times seem to differ, takes them again in further processes: a process can be slow by its layout alone.

    The ratio becomes the median over processes, its interval their whole range.
    """
    rows = [row for row, _ in pair]
    if not options.timed or not any(times([tuple(rows)], 0.0)["verdict"]):
        return
    ratios: list[list[float]] = [[row["ratio"]] for row in rows]
    for number in range(REPEATS):
        for side, (row, _) in enumerate(in_turn(started, cell, options, number + 1)):
            if row["ratio"]:
                ratios[side].append(row["ratio"])
    for row, measured in zip(rows, ratios):
        row.update(repeats=measured, ratio=statistics.median(measured), ratio_low=min(measured),
                   ratio_high=max(measured))


def key(interpreter: Path, prepared: Prepared, options: Options) -> str:
    """A name for a run that is the same if and only if nothing that it depends on differs."""
    digest = hashlib.sha256()
    cells = [cell.asdict() for cell in prepared.cells]
    facts = [cells, dataclasses.asdict(options), machine(), packages(), sys.version]
    digest.update(json.dumps(facts, sort_keys=True).encode())
    for name in (*prepared.models, *prepared.subjects):
        if ".py:" in name:
            digest.update(Path(name.rpartition(":")[0]).read_bytes())
    for top in (interpreter, ROOT / "harness", ROOT / "models"):
        for path in sorted(top.rglob("*.py")):
            digest.update(f"{path.relative_to(top)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def finished(folder: Path) -> bool:
    try:
        return json.loads((folder / "run.json").read_text())["outcome"] == "finished"
    except (OSError, ValueError):
        return False
