"""A whole run: plan, folder, cells, noise, reports."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from harness import expected as expectations
from harness import noise, runner
from harness.environment import cuda_devices, environment, usable_cores
from harness.errors import Interrupted, StoreError, UsageError, nearest
from harness.measure import Options
from harness.plan import Cell, plan, shard
from harness.row import blank
from harness.store import Store
from harness.subjects import Unavailable, find, own

DTYPES = ("float32", "float64", "bfloat16", "float16")
EXECUTORS = ("eager", "aot", "inductor", "cudagraphs")


@dataclass
class Request:
    """What a command line asks for, before any of it is looked up."""

    models: list[str] | None = None
    workloads: list[str] | None = None
    subjects: list[str] | None = None
    executors: list[str] | None = None
    device: str = "auto"
    dtype: list[str] | None = None
    scale: str = "tiny"
    depth: list[int] | None = None
    jobs: int | None = None
    shard: str | None = None
    resume: bool = False
    out: Path | None = None
    options: Options | None = None
    baseline: Path | None = None

    def planless(self) -> bool:
        """Whether it says nothing about which cells to run."""
        plain = Request()
        return all(getattr(self, name) == getattr(plain, name) for name in (
            "models", "workloads", "subjects", "executors", "device", "dtype", "scale", "depth", "shard"))


@dataclass
class Prepared:
    """The request looked up: what will be run, on what, by what."""

    cells: list[Cell]
    models: dict
    subjects: dict
    refused: dict[str, str]
    device: str
    #: What is worth saying once nothing is wrong with the command.
    notes: tuple[str, ...] = ()


def prepare(request: Request) -> Prepared:
    """Looks everything up and plans. Raises UsageError for what is not there."""
    models = select(request.models)
    workloads = workload_names(request.workloads)
    subjects = [find(name) for name in dict.fromkeys(request.subjects or ["interpreter"])]
    device, notes = resolve_device(request.device)
    executors = expand(request.executors or ["eager"], available_executors(device), EXECUTORS, "executor")
    dtypes = expand(request.dtype or ["float32"], ("float32", "bfloat16", "float64"), DTYPES, "dtype")
    cells = plan(models, workloads, subjects, executors, dtypes=dtypes, device=device, scale=request.scale,
                 depths=request.depth or [None])
    return Prepared(shard(cells, request.shard), {m.name: m for m in models}, {s.name: s for s in subjects}, {}, device,
                    notes)


def planned(folder) -> Prepared:
    """What the run in `folder` set out to do."""
    cells = Store.read_plan(folder)
    models = select(list(dict.fromkeys(cell.model for cell in cells)))
    subjects = [find(name) for name in dict.fromkeys(cell.subject for cell in cells)]
    device = cells[0].device if cells else "cpu"
    return Prepared(cells, {m.name: m for m in models}, {s.name: s for s in subjects}, {}, device)


def select(patterns):
    """The models of these names. Those in files of one's own are imported here, and what that changes of this process
    is put back. UsageError: there is no such model.
    """
    try:
        from models import UnknownModel
        from models import select as choose
    except ImportError as error:
        raise UsageError(f"the zoo cannot be imported: {error}") from error
    try:
        for pattern in patterns or []:
            with unchanged():
                choose([pattern])
        return choose(patterns)
    except UnknownModel as error:
        raise UsageError(f"--models: {error}") from None


@contextlib.contextmanager
def unchanged():
    """Puts back what code that is imported may change of this process, and with it of all cells: torch's defaults,
    the standard streams, the directory, what signals do. What it prints goes to standard error.
    """
    import torch
    dtype, threads, grad = torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()
    deterministic = torch.are_deterministic_algorithms_enabled()
    streams, directory = (sys.stdin, sys.stdout, sys.stderr), os.getcwd()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    handlers = [signal.getsignal(number) for number in numbers]
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(directory)
        with contextlib.suppress(ValueError):
            for number, handler in zip(numbers, handlers):
                signal.signal(number, handler)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(grad)
        torch.use_deterministic_algorithms(deterministic)


def workload_names(names) -> list[str]:
    from models import UnknownWorkload, expand_workloads
    try:
        return [workload.name for workload in expand_workloads(names)]
    except UnknownWorkload as error:
        raise UsageError(f"--workloads: {error}") from None


def expand(names, everything, known, what) -> list[str]:
    """The names, "all" replaced by those that this machine can do. UsageError: one that is not known."""
    for name in names:
        if ":" in name and what == "executor":
            check_own(name)
        elif name not in known and name != "all":
            option = {"executor": "--executors", "dtype": "--dtype"}[what]
            raise UsageError(f"{option} {name}: unknown {what}{nearest(name, known)}; known are {', '.join(known)}, "
                             "or all")
    if "all" in names:
        return list(everything)
    return list(dict.fromkeys(names))


def check_own(executor: str):
    """UsageError: there is no function of this name."""
    try:
        own(executor)
    except Exception as error:
        raise UsageError(f"--executors {executor}: {type(error).__name__}: {error}") from None


def available_executors(device: str) -> tuple[str, ...]:
    return EXECUTORS if device.startswith("cuda") else tuple(e for e in EXECUTORS if e != "cudagraphs")


def resolve_device(name: str) -> tuple[str, tuple[str, ...]]:
    """"cpu" or "cuda:N", and what to say of it: "auto" is CUDA where there is one. UsageError: there is no such one."""
    if name == "cpu":
        return "cpu", ()
    if name != "auto" and name.split(":", maxsplit=1)[0] != "cuda":
        raise UsageError(f"--device {name}: unknown; it is auto, cpu, cuda or cuda:N")
    devices = cuda_devices()
    if name == "auto":
        return ("cuda:0", ()) if devices else ("cpu", ("no CUDA device here: running on the CPU",))
    index = name.partition(":")[2] or "0"
    if not index.isdigit() or int(index) >= len(devices):
        there = f"there are {len(devices)}: {', '.join(devices)}" if devices else "this machine has no CUDA device"
        raise UsageError(f"--device {name}: not there; {there}")
    return f"cuda:{index}", ()


def preload(prepared: Prepared):
    """Imports all that cells need into this process, to be forked. Subjects that can't be used are refused."""
    import scipy.stats  # noqa: F401
    import torch
    # One thread while this process is the parent: a pool of threads would not survive a fork.
    torch.set_num_threads(1)
    for name, subject in prepared.subjects.items():
        try:
            subject.preload()
        except Unavailable as why:
            prepared.refused[name] = str(why)


def check_lookasides(names):
    """UsageError: one of the names has no lookaside."""
    if not names:
        return
    from interpreter.lookasides import lookasides
    registered = lookasides()
    for name in names:
        if name not in registered:
            raise UsageError(f"--without {name}: there is no such lookaside{nearest(name, registered)}")


def bench(request: Request, say=print) -> int:
    """Runs what is asked for and reports it. Returns the exit status; raises UsageError."""
    if request.resume and request.planless():
        prepared = planned(request.out)
    else:
        prepared = prepare(request)
    at_once = jobs(request, prepared)
    options = bounded(request.options or Options(), prepared.device, at_once)
    folder = request.out or Path("results") / datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    preload(prepared)
    check_lookasides(options.without)
    expected = expectations.read()
    if request.resume:
        store = resume(request, folder, prepared, say)
    else:
        store = Store.create(folder, describe(prepared, options))
    if request.resume:
        options = Options(**{**store.run["options"], "without": tuple(store.run["options"]["without"]),
                             "timeout": options.timeout, "memory": options.memory})
        check_lookasides(options.without)
    for note in prepared.notes:
        say(note)
    with store:
        status = fill(store, prepared, options, expected, at_once, say)
    return conclude(store, status, say, request.baseline)


def bounded(options: Options, device: str, at_once: int) -> Options:
    """Options with a bound for memory where none is given: a cell that eats it should not take the machine with it."""
    if options.memory is not None or device != "cpu":
        return options
    return dataclasses.replace(options, memory=int(0.8 * psutil.virtual_memory().available / at_once))


def jobs(request: Request, prepared: Prepared) -> int:
    """Cells at once: half the cores, so that those which run have their core to themselves; one on a GPU."""
    if request.jobs:
        return request.jobs
    threads = request.options.threads if request.options else 1
    return 1 if prepared.device != "cpu" else max(1, usable_cores() // (2 * threads))


def describe(prepared: Prepared, options: Options) -> dict:
    """The head of run.json."""
    return {
        "started": now(), "finished": None, "outcome": "running",
        "plan": [cell.asdict() for cell in prepared.cells],
        "models": {m.name: {"family": m.family, "stands_for": list(m.stands_for)} for m in prepared.models.values()
                   if any(c.model == m.name for c in prepared.cells)},
        "unknown_names": unknown_names(),
        "options": asdict(options),
        "refused": prepared.refused,
        "environment": environment(prepared.device),
        "noise": None,
    }


def unknown_names() -> list[str]:
    """Configuration names of the installed LitGPT that no model stands for: it is newer than the zoo."""
    from models import missing
    return list(missing())


def resume(request: Request, folder, prepared: Prepared, say) -> Store:
    """Opens the run in `folder` again. UsageError: what is asked for is not what was planned there."""
    store = Store.resume(folder)
    planned = [Cell.fromdict(values) for values in store.run["plan"]]
    if planned != prepared.cells:
        store.close()
        differing = {c.id for c in planned} ^ {c.id for c in prepared.cells}
        such = sorted(differing)[0] if differing else "their order"
        raise UsageError(f"--resume: {folder} was planned otherwise ({len(differing)} cells differ, such as {such}): "
                         "give the arguments it was begun with")
    store.run.setdefault("resumed", []).append(now())
    store.run["outcome"] = "running"
    store.save()
    return store


def fill(store: Store, prepared: Prepared, options: Options, expected, at_once: int, say) -> int:
    """Runs the cells that have no row yet, adds rows as they end. Returns 0, or the status of an early end."""
    done = {row["cell"] for row in store.rows()}
    skips = expectations.skips(prepared.cells, expected)
    waiting = [cell for cell in prepared.cells if cell.id not in done]
    if done:
        say(f"{len(done)} of {len(prepared.cells)} cells are there already")
    progress = Progress(len(prepared.cells), len(done), say)
    try:
        for cell in [cell for cell in waiting if cell.id in skips]:
            row = {**blank(cell, prepared.models[cell.model].family), "status": "skipped", "detail": skips[cell.id]}
            store.add(row)
            progress.ended(row)
        for row, details in runner.run([c for c in waiting if c.id not in skips], prepared.models, prepared.subjects,
                                       options, jobs=at_once, refused=prepared.refused, let_go=store.forget):
            store.add(row, **details)
            progress.ended(row)
        if options.timed and store.run["noise"] is None:
            store.run["noise"] = measure_noise(prepared, options, say)
        outcome, status = "finished", 0
    except Interrupted as stop:
        outcome, status = "interrupted", stop.status
    except StoreError as error:
        print(f"harness: {error}", file=sys.stderr)
        outcome, status = "the folder could not be written", error.status
    store.run.update(outcome=outcome, finished=now())
    try:
        store.save()
    except StoreError as error:
        print(f"harness: {error}", file=sys.stderr)
    return status


def measure_noise(prepared: Prepared, options: Options, say) -> dict | None:
    """Times eager against eager on a few models of the plan."""
    from harness.subjects import Eager
    passed = [cell for cell in prepared.cells if prepared.models[cell.model].expected is None]
    rows = [row for row, _ in runner.run(noise.cells(passed), prepared.models, {"eager": Eager}, options)]
    return noise.summary(rows)


def conclude(store: Store, status: int, say, held_against: Path | None) -> int:
    """Reads the run back, writes its reports, shows it. A run that ended early keeps the status that it ended with."""
    from harness import baseline, report
    from harness.frames import load
    from harness.summary import summarise
    run = load(store.folder)
    departures, unjudged = baseline.check(run, held_against) if held_against and not status else ([], None)
    summary = summarise(run)
    summary.shortcomings += departures
    if unjudged:
        say(f"not held against the baseline: {unjudged}")
    report.terminal(summary)
    try:
        report.write(summary)
        say(f"{store.folder}/report.html")
    except OSError as error:
        print(f"harness: reports can't be written: {error.strerror}", file=sys.stderr)
        status = status or 1
    return status or (1 if summary.shortcomings else 0)


class Progress:
    """A line per cell as it ends: number, status, what was found, seconds."""

    def __init__(self, planned: int, done: int, say):
        self.planned, self.done, self.say = planned, done, say
        self.start = time.monotonic()

    def ended(self, row: dict):
        self.done += 1
        facts = [row["status"]]
        if row["status"] == "pass":
            facts[0] = row["parity"]
            if row["ratio"]:
                facts.append(f"{row['ratio']:.2f}x")
        elif row["detail"]:
            facts.append(row["detail"].splitlines()[0][:160])
        wall = f" {row['wall_s']:.1f} s" if row["wall_s"] else ""
        self.say(f"[{self.done:>{len(str(self.planned))}}/{self.planned}] {row['cell']}: {' '.join(facts)}{wall}")


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
