"""What each sub-command does. Arguments come from `harness.cli`; the exit status is returned."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.environment import ROOT
from harness.errors import UsageError


def options(arguments):
    from harness.measure import Options
    return Options(budget=arguments.budget, timeout=arguments.timeout, memory=arguments.memory,
                   threads=arguments.threads, timed=arguments.budget > 0, without=tuple(arguments.without))


def request(arguments, **more):
    from harness.bench import Request
    names = ("models", "workloads", "subjects", "executors", "device", "dtype", "scale", "depth", "jobs", "shard")
    return Request(**{name: getattr(arguments, name) for name in names}, options=options(arguments), **more)


def run_command(arguments) -> int:
    if arguments.resume and arguments.out is None:
        raise UsageError("--resume: say which run to go on with: --out DIR")
    check_folder(arguments)
    from harness.bench import bench
    return bench(request(arguments, baseline=arguments.baseline, resume=arguments.resume, out=arguments.out), say=say)


def check_folder(arguments):
    """What is wrong with --out or --baseline is said before anything slow is imported."""
    kept = arguments.baseline
    if kept != ROOT / "results" / "baseline" and not (kept / "versions.json").exists():
        raise UsageError(f"--baseline {kept}: holds no baseline (no versions.json): make baseline writes one")
    folder = arguments.out
    if folder is None or arguments.resume:
        return
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: is a file; name a folder")
    if (folder / "run.json").exists():
        raise UsageError(f"--out {folder}: already holds a run; name another folder, or go on with it by --resume")


def say(text: str):
    """A line of progress, at once. A run goes on when nobody reads them any more (`| head`)."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def list_command(arguments) -> int:
    from rich.table import Table

    from harness.bench import select
    from harness.report import console
    models = select(arguments.models)
    table = Table(header_style="bold")
    for column in ("model", "family", "stands for", "workloads"):
        table.add_column(column, justify="right" if column == "stands for" else "left", overflow="fold")
    for model in models:
        table.add_row(model.name, model.family, str(len(model.stands_for) or ""), " ".join(model.workloads))
    out = console()
    out.print(table)
    from harness.bench import unknown_names
    if unknown := unknown_names():
        out.print(f"no model stands for {', '.join(unknown)}: LitGPT is newer than the zoo")
    out.print(f"{len(models)} models stand for {sum(len(m.stands_for) for m in models)} configuration names of LitGPT")
    return 0


def report_command(arguments) -> int:
    from harness import report
    from harness.frames import load
    from harness.summary import summarise
    short = False
    for folder in arguments.runs:
        summary = summarise(load(folder))
        report.terminal(summary)
        try:
            report.write(summary)
        except OSError as error:
            raise UsageError(f"{folder}: reports can't be written there: {error.strerror}") from None
        short = short or bool(summary.shortcomings)
    return 1 if short else 0


def compare_command(arguments) -> int:
    from harness.compare import compare
    from harness.compare_report import show
    from harness.frames import load
    names = (arguments.base, arguments.head)
    base, head = runs_of(arguments, *names) or (load(names[0]), load(names[1]))
    found = compare(base, head, names, anyway=arguments.anyway)
    show(found, arguments.format)
    return found.status


def runs_of(arguments, base: str, head: str):
    """The runs of two git revisions, made now or cached; None where both names are folders of runs."""
    runs = [name for name in (base, head) if (Path(name) / "run.json").exists() or Path(name).is_file()]
    if len(runs) == 2:
        return None
    if runs:
        raise UsageError(f"{runs[0]} is a run, and the other is none: compare two runs, or two revisions")
    from harness.bench import prepare
    from harness.revisions import run_both
    from harness.worktrees import resolve
    root = arguments.repository or ROOT
    revisions = resolve(base, root), resolve(head, root)
    prepared = prepare(request(arguments))
    return run_both(revisions, prepared, options(arguments), say_aside, root, root / "results" / "cache")


def say_aside(text: str):
    """A line of progress where standard output is kept for the result."""
    print(text, file=sys.stderr, flush=True)


def coverage_command(arguments) -> int:
    from harness import coverage_report
    from harness.frames import load, newest
    if arguments.inventory:
        if arguments.runs:
            raise UsageError("coverage --inventory takes no run: it is about the interpreter, not about what was run")
        return coverage_report.show_inventory(arguments.format)
    if len(arguments.runs) > 2:
        raise UsageError(f"coverage takes a run, or two to compare, not {len(arguments.runs)}")
    if len(arguments.runs) < 2:
        run = load(arguments.runs[0] if arguments.runs else newest(Path("results")))
        return coverage_report.show_one(run, arguments.format)
    base, head = arguments.runs
    pair = runs_of(arguments, base, head) or (load(base), load(head))
    return coverage_report.show_two(pair[0], pair[1], arguments.format)


def baseline_command(arguments) -> int:
    from harness import baseline
    from harness.frames import load
    folder = arguments.into or baseline.FOLDER
    if arguments.run is not None:
        run = load(arguments.run)
    else:
        import tempfile

        from harness.bench import Request, bench
        from harness.measure import Options
        from harness.runner import leaving_on_signals
        with leaving_on_signals(), tempfile.TemporaryDirectory(prefix="zoobench-") as out:
            status = bench(Request(device="cpu", options=Options(timed=False), out=Path(out) / "run"), say)
            if status > 1:
                return status
            run = load(Path(out) / "run")
    failed = run.cells[run.cells["status"] != "pass"]["cell"].tolist() + run.missing
    try:
        for path in baseline.write(run, folder):
            say(str(path))
    except OSError as error:
        raise UsageError(f"{folder} can't be written: {error.strerror}") from None
    for cell in failed:
        say(f"does not pass, and is now expected not to: {cell}")
    return 0


def history_command(arguments) -> int:
    from harness.history import history
    from harness.report import console, rich_table
    found = history(arguments.model, arguments.results)
    shown = found[["started", "commit", "cell", "status", "parity", "instructions", "ratio", "step"]].copy()
    shown["commit"] = [(commit or "")[:10] + ("+" if dirty else "")
                       for commit, dirty in zip(found["commit"], found["dirty"])]
    console().print(rich_table(shown))
    steps = int((found["step"] != "").sum())
    console().print(f"{len(found)} rows of {found['cell'].nunique()} cells, {steps} steps")
    return 0


def prepared_for(cell):
    """What it takes to run one cell."""
    from harness.bench import Prepared, resolve_device, select
    from harness.subjects import find
    from models import WORKLOADS
    if cell.device != "cpu":
        resolve_device(cell.device)
    [model] = select([cell.model])[:1]
    if cell.workload not in model.workloads:
        raise UsageError(f"{cell.id}: {model.supports(cell.workload)}")
    if reason := WORKLOADS[cell.workload].supports(cell.dtype):
        raise UsageError(f"{cell.id}: {reason}")
    return Prepared([cell], {cell.model: model}, {cell.subject: find(cell.subject)}, {}, cell.device)


def bisect_command(arguments) -> int:
    from harness.bench import preload
    from harness.bisect import bisect, cell_of
    from harness.measure import Options
    cell = cell_of(arguments.cell)
    prepared = prepared_for(cell)
    settings = Options(budget=arguments.budget, timeout=arguments.timeout)
    if arguments.lookasides:
        from harness.bisect_lookasides import bisect_lookasides
        preload(prepared)
        found = bisect_lookasides(cell, prepared, settings, say)
        say(f"without {', '.join(found.names)}: {found.without['status']} {found.without['parity']} "
            f"{found.without['detail']}")
        say(f"with {'them' if len(found.names) > 1 else 'it'}: {found.with_all['status']} {found.with_all['parity']} "
            f"{found.with_all['detail']}")
        return 0
    if arguments.good is None:
        raise UsageError("bisect: say which commit was good: --good REV (or search among lookasides: --lookasides)")
    root = arguments.repository or ROOT
    result = bisect(cell, arguments.good, arguments.bad, prepared, settings, root, say, arguments.fact)
    return show_bisection(result, root)


def show_bisection(result, root) -> int:
    from harness.worktrees import git
    for name, measured in (("good", result.good), ("bad", result.bad)):
        say(f"{name}: {result.fact} {measured.value(result.fact)}; {measured.row['status']} "
            f"{measured.row['parity']} {measured.row['detail']}".rstrip())
    if len(result.commits) == 1:
        say(f"{result.commits[0]} is the first bad commit")
        say(git("show", "--no-patch", "--format=%an, %ad%n%s", result.commits[0], root=root))
    else:
        say(f"the first bad commit is one of these {len(result.commits)}, the others can't be run:")
        for commit in result.commits:
            say(git("show", "--no-patch", "--format=%H %s", commit, root=root))
    return 0


def repro_command(arguments) -> int:
    import dataclasses
    import subprocess

    from harness import runner
    from harness.bench import check_lookasides, preload
    from harness.bisect import cell_of
    from harness.measure import Options
    cell = cell_of(arguments.cell)
    prepared = prepared_for(cell)
    from harness import repro
    without = tuple(arguments.without)
    start = repro.recipe(cell, prepared.models[cell.model], without)
    preload(prepared)
    if prepared.refused:
        raise UsageError(f"repro: {'; '.join(prepared.refused.values())}")
    check_lookasides(without)
    settings = Options(timed=False, timeout=arguments.timeout, without=without)
    [(row, _)] = list(runner.run([cell], prepared.models, prepared.subjects, settings))
    if row["status"] == "pass":
        raise UsageError(f"{cell.id} passes: there is no failure to show")
    if row["status"] == "eager_failed":
        raise UsageError(f"{cell.id}: eager itself fails, which is not the interpreter's doing: {row['detail']}")
    say(f"{row['status']}: {row['detail']}")
    start = dataclasses.replace(start, title=f"{cell.id}: {row['status']}.")
    with runner.leaving_on_signals(), repro.frozen():
        signature, output = repro.run_forked(start.text(), arguments.timeout)
        if not signature:
            raise UsageError(f"the failure does not show in a file by itself, which ends with: {output.strip()[-300:]}")
        say(f"by itself: {signature}")
        found = repro.shrink(start, signature, lambda r: repro.run_forked(r.text(), arguments.timeout)[0], say)
    path = arguments.out or Path("results") / "repro" / f"{cell.id.replace('/', '_').replace(':', '_')}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found.text())
    except OSError as error:
        raise UsageError(f"--out {path}: can't be written: {error.strerror}") from None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    try:
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False,
                              env=environment, timeout=10 * arguments.timeout)
        said = (done.stdout.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
        shown = done.returncode != 0
    except subprocess.TimeoutExpired:
        said, shown = f"still runs after {10 * arguments.timeout:g} s", signature == "timeout"
    say(f"{path}: {said}")
    return 0 if shown else 1


def nightly_command(arguments) -> int:
    from harness.bench import prepare
    from harness.nightly import nightly
    prepared = prepare(request(arguments))
    return nightly(prepared, options(arguments), say, root=arguments.repository or ROOT, base=arguments.base,
                   head=arguments.head)
