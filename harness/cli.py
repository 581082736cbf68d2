"""The command line: `python -m harness list|run|report|compare|coverage|baseline|history|bisect|repro|nightly`.

Exit status: 0 nothing fell short; 1 parity, coverage or a missing cell; 2 wrong usage; 3 slower; 4 the two runs can't
be compared; 128 + N ended by signal N.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from pathlib import Path

from harness.environment import ROOT
from harness.errors import Interrupted, StoreError, UsageError, nearest


def main(argv: list[str] | None = None) -> int:
    """Runs a command and returns its exit status. Usage errors are one line on standard error."""
    if argv is None:
        argv = sys.argv[1:]
        signal.signal(signal.SIGINT, leave_at_once)
    try:
        arguments = parser().parse_args(argv)
        from harness import commands
        return getattr(commands, arguments.command)(arguments)
    except (UsageError, StoreError) as error:
        print(f"harness: {error}", file=sys.stderr)
        return error.status
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 2
    except Interrupted as stop:
        print("harness: interrupted", file=sys.stderr)
        return stop.status
    except BrokenPipeError:
        # The reader of our output has gone (`| head`). Nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def leave_at_once(number, _):
    """What Ctrl-C does while there is nothing to be put in order, such as during imports: an exception that is raised
    in the middle of torch's start would end in an abort.
    """
    os.write(2, b"harness: interrupted\n")
    os._exit(128 + number)


class Parser(argparse.ArgumentParser):
    """Says what was wrong in one line, in the same form as everything else, with the nearest right words."""

    def error(self, message):
        found = re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if found:
            known = [word.strip(" '") for word in found[3].split(",")]
            message = f"{found[1]}: {found[2]!r} is none of {', '.join(known)}{nearest(found[2], known)}"
        raise UsageError(message)


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="python -m harness", description="Runs the zoo, judges it and reports.")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    add_list(commands)
    add_run(commands)
    add_report(commands)
    add_compare(commands)
    add_coverage(commands)
    add_baseline(commands)
    add_history(commands)
    add_bisect(commands)
    add_repro(commands)
    add_nightly(commands)
    return top


def add_list(commands):
    listing = commands.add_parser("list", help="the zoo: models, families, what they stand for, workloads")
    listing.add_argument("--models", nargs="+", metavar="GLOB", default=["*"])
    listing.set_defaults(command="list_command")


def add_run(commands):
    run = commands.add_parser("run", help="run cells and report them")
    add_plan(run)
    run.add_argument("--resume", action="store_true", help="go on with the unfinished run in --out")
    run.add_argument("--out", type=Path, metavar="DIR", help="the run's folder (default: results/ and the time)")
    run.add_argument("--baseline", type=Path, metavar="DIR", default=ROOT / "results" / "baseline",
                     help="expectations to hold the run against (default: results/baseline)")
    run.set_defaults(command="run_command")


def add_plan(run):
    """The arguments that say which cells are run and how."""
    run.add_argument("--models", nargs="+", metavar="GLOB",
                     help="names, globs, family:NAME, file.py:Class or package.module:Class (default: the zoo's)")
    run.add_argument("--workloads", nargs="+", metavar="NAME", help="names, or all (default: forward train decode)")
    run.add_argument("--subjects", nargs="+", metavar="NAME",
                     help="interpreter, eager, dynamo, dynamo-fullgraph, thunder, or package.module:Class")
    run.add_argument("--executors", nargs="+", metavar="NAME", help="eager, aot, inductor, cudagraphs, or all")
    run.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    run.add_argument("--dtype", nargs="+", metavar="NAME",
                     help="float32, bfloat16, float64, float16, or all; workloads within autocast take float32 only")
    run.add_argument("--scale", choices=("tiny", "full"), default="tiny")
    run.add_argument("--depth", nargs="+", type=positive(int), metavar="N", help="layers; several for growth")
    run.add_argument("--jobs", type=positive(int), metavar="N", help="cells at once (default: half the cores)")
    run.add_argument("--threads", type=positive(int), metavar="N", default=1, help="threads of torch in a cell")
    run.add_argument("--timeout", type=positive(float), metavar="S", default=180.0, help="seconds for a cell")
    run.add_argument("--memory", type=size, metavar="BYTES", help="what a cell may allocate, such as 4G")
    run.add_argument("--budget", type=seconds, metavar="S", default=0.4,
                     help="seconds to sample a cell's times for; 0 takes no times")
    run.add_argument("--without", nargs="+", metavar="LOOKASIDE", default=[],
                     help="lookasides to do without, such as zip: what do they buy?")
    run.add_argument("--shard", metavar="I/N", help="the I-th of N parts of the plan")


def add_report(commands):
    report = commands.add_parser("report", help="show a run again and write its reports anew")
    report.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    report.set_defaults(command="report_command")


def add_compare(commands):
    compare = commands.add_parser("compare", help="two runs, or two git revisions, side by side")
    compare.add_argument("base", metavar="BASE")
    compare.add_argument("head", metavar="HEAD")
    compare.add_argument("--format", choices=("terminal", "markdown", "json"), default="terminal")
    compare.add_argument("--anyway", action="store_true", help="also where machines or versions differ")
    add_plan(compare)
    add_repository(compare)
    compare.set_defaults(command="compare_command")


def add_repository(command):
    command.add_argument("--repository", type=Path, metavar="DIR",
                         help="where git revisions are looked up (default: this checkout)")


def add_coverage(commands):
    coverage = commands.add_parser("coverage", help="routes of callables in a run, or what moved between two")
    coverage.add_argument("runs", nargs="*", metavar="RUN", help="a run (default: the newest), or BASE and HEAD")
    coverage.add_argument("--format", choices=("terminal", "markdown", "json"), default="terminal")
    coverage.add_argument("--inventory", action="store_true",
                          help="instead of a run: every callable written in C, and whether it has a lookaside")
    add_plan(coverage)
    add_repository(coverage)
    coverage.set_defaults(command="coverage_command")


def add_baseline(commands):
    baseline = commands.add_parser("baseline", help="write the exact facts of a run into results/baseline")
    baseline.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a stored run (default: run the zoo now)")
    baseline.add_argument("--into", type=Path, metavar="DIR", help="another folder than results/baseline")
    baseline.set_defaults(command="baseline_command")


def add_history(commands):
    history = commands.add_parser("history", help="a model's cells over all stored runs, with steps marked")
    history.add_argument("model", metavar="MODEL", help="a model's name, a glob, or a cell")
    history.add_argument("--results", type=Path, default=Path("results"), metavar="DIR")
    history.set_defaults(command="history_command")


def add_bisect(commands):
    bisect = commands.add_parser("bisect", help="the commit, or the lookasides, that a cell's change comes from")
    bisect.add_argument("cell", metavar="CELL", help="MODEL/WORKLOAD, or a cell's id")
    bisect.add_argument("--good", metavar="REV", help="a commit where it was as it should be")
    bisect.add_argument("--bad", metavar="REV", default="HEAD", help="a commit where it is not (default: HEAD)")
    bisect.add_argument("--fact", metavar="NAME",
                        help="a field of the row, route:CALLABLE, or ratio (default: the most telling that differs)")
    bisect.add_argument("--lookasides", action="store_true",
                        help="search among the lookasides of this checkout instead of among commits")
    bisect.add_argument("--budget", type=seconds, metavar="S", default=0.4)
    bisect.add_argument("--timeout", type=positive(float), metavar="S", default=180.0)
    add_repository(bisect)
    bisect.set_defaults(command="bisect_command")


def add_repro(commands):
    repro = commands.add_parser("repro", help="a standalone file that shows a cell's failure, as small as can be")
    repro.add_argument("cell", metavar="CELL", help="MODEL/WORKLOAD, or a cell's id")
    repro.add_argument("--out", type=Path, metavar="FILE", help="the file (default: results/repro/ and the cell)")
    repro.add_argument("--without", nargs="+", metavar="LOOKASIDE", default=[], help="lookasides to do without")
    repro.add_argument("--timeout", type=positive(float), metavar="S", default=60.0)
    repro.set_defaults(command="repro_command")


def add_nightly(commands):
    nightly = commands.add_parser("nightly", help="this commit beside the last night's, with a report and history")
    add_plan(nightly)
    add_repository(nightly)
    nightly.add_argument("--base", metavar="REV", help="what to compare with (default: the last night's commit)")
    nightly.add_argument("--head", metavar="REV", default="HEAD", help="what to run (default: HEAD)")
    nightly.set_defaults(command="nightly_command")


def positive(kind):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
        return value
    return parse


def seconds(text) -> float:
    return 0.0 if text.strip() in {"0", "0.0"} else positive(float)(text)


def size(text) -> int:
    """Bytes: a number, with K, M, G or T for powers of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not found or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 4G")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))
