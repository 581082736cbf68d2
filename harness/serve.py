"""A parent that forks cells on request, for one revision of the interpreter.

Two of these run side by side in a comparison of revisions, so that each cell can be run with both before the next one
begins. They are forked from a process that has torch and the models imported, and no interpreter: each then imports
its own. Requests and answers are JSON lines.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from harness import runner
from harness.bench import Prepared, preload, select
from harness.environment import environment
from harness.measure import Options
from harness.plan import Cell
from harness.subjects import find


def serve(folder: str, orders: TextIO, answers: TextIO):
    """Answers orders until there are no more. `folder` is where `interpreter` must come from."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "interpreter"]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    prepared = None
    for line in orders:
        order = json.loads(line)
        if prepared is None:
            prepared = begin(order, folder)
            answer = {"refused": prepared.refused, "environment": environment(prepared.device)}
        else:
            answer = run(order, prepared)
        print(json.dumps(answer, default=str), file=answers, flush=True)


def begin(order: dict, folder: str) -> Prepared:
    """Imports what the cells need; `refused` has the subjects that can't be used."""
    subjects = {name: find(name) for name in order["subjects"]}
    models = {model.name: model for model in select(order["models"])}
    prepared = Prepared([], models, subjects, {}, order["device"])
    absent = missing(folder) if "interpreter" in subjects else None
    if absent:
        del subjects["interpreter"]
    preload(prepared)
    if absent:
        prepared.refused["interpreter"] = absent
    return prepared


def missing(folder: str) -> str | None:
    """Why the interpreter of this revision can't be had, or None. Another one that is installed is not taken for it."""
    if not os.path.isdir(os.path.join(folder, "interpreter")):
        return "this revision has no interpreter/"
    try:
        import interpreter
        from interpreter import jit  # noqa: F401
    except BaseException as error:
        return f"this revision's interpreter does not import: {type(error).__name__}: {error}"
    place = os.path.realpath(interpreter.__path__[0])
    return None if place == os.path.realpath(os.path.join(folder, "interpreter")) else f"found {place} instead"


def run(order: dict, prepared: Prepared) -> dict:
    """One cell, in a forked process: its row and what belongs to it."""
    options = Options(**{**order["options"], "without": tuple(order["options"]["without"])})
    [(row, details)] = list(runner.run([Cell.fromdict(order["cell"])], prepared.models, prepared.subjects, options,
                                       refused=prepared.refused))
    return {"row": row, "details": details}
