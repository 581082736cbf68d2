"""Files that pytest-benchmark saved (`pytest benchmarks/zoo --benchmark-json FILE`), read back as runs."""

from __future__ import annotations

import json
from pathlib import Path

from harness.errors import UsageError
from harness.plan import Cell
from harness.row import blank
from harness.timing import interval

#: Where the benchmarks of the zoo put what a run needs besides the timings.
KEY = "zoobench"


def read(path: Path) -> tuple[dict, list[dict], list[dict]]:
    """(info, rows, samples) of a saved file. UsageError: it is not one of the zoo's.

    A cell's ratio is its time over that of the `eager` subject, measured earlier in the same process and not in turn:
    it is worth less than a run's own, and its interval only says how much the jitted side varied.
    """
    try:
        saved = json.loads(path.read_text())
        whole = saved[KEY]
        cells = {cell.id: cell for cell in (Cell.fromdict(values) for values in whole["plan"])}
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path}: not saved by `pytest benchmarks/zoo --benchmark-json FILE`") from None
    info = {"started": saved["datetime"], "finished": saved["datetime"], "outcome": "finished", "noise": None,
            "options": {"without": []}, "refused": {}, **whole}
    timed, rows = {}, []
    for bench in saved["benchmarks"]:
        row = {**blank(cells[bench["extra_info"]["row"]["cell"]], ""), **bench["extra_info"]["row"]}
        timed[row["cell"]] = bench["stats"]
        rows.append({**row, "run_s": bench["stats"]["median"], "pairs": bench["stats"]["rounds"]})
    samples = []
    for row in rows:
        eager = timed.get(Cell.fromdict({**row, "subject": "eager", "executor": "eager"}).id)
        if eager:
            middle = eager["median"]
            ratios = [sample / middle for sample in timed[row["cell"]].get("data", [row["run_s"]])]
            low, high = interval(ratios[::max(1, len(ratios) // 400)])
            row.update(eager_s=middle, ratio=row["run_s"] / middle, ratio_low=low, ratio_high=high)
            samples.append({"cell": row["cell"], "eager_s": [middle] * len(ratios),
                            "run_s": [ratio * middle for ratio in ratios]})
    return info, rows, samples
