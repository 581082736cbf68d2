"""The row of a cell: the same fields whatever became of it, so that frames have the same columns."""

from __future__ import annotations

#: What can become of a cell.
STATUSES = ("pass", "parity", "raised", "eager_failed", "timeout", "crash", "oom", "skipped")

#: Exact counters, equal in every run of the same code. Runs are compared by these first.
COUNTERS = ("instructions", "native_instructions", "graphs", "operations", "guards", "checks", "entries", "hits",
            "sharp_edges", "breaks")

#: A cell's fields before anything is known about it.
BLANK: dict = {
    "status": None, "detail": "", "parity": "none", "max_abs_err": None,
    "first_call_s": None, "first_call_low": None, "first_call_high": None, "first_calls": None, "cold_call_s": None,
    "interpret_s": None, "lower_s": None, "phases": {},
    **dict.fromkeys(COUNTERS),
    "run_s": None, "eager_s": None, "ratio": None, "ratio_low": None, "ratio_high": None,
    "pairs": None, "inner": None, "warmup": None, "noisy": None, "break_even": None,
    "peak_bytes": None, "eager_peak_bytes": None, "process_peak_bytes": None,
    "tail": None, "fallback": None, "program_hash": None, "missed": [], "raises": None, "nondeterministic": None,
    "first_difference": None, "retimed": None,
    "layers": None, "parameters": None, "phase": None, "signal": None, "wall_s": None, "output": "", "trace": "",
}


def blank(cell, family: str) -> dict:
    """A row with the cell's identity and nothing else known."""
    return {"cell": cell.id, **cell.asdict(), "family": family,
            **{key: value.copy() if isinstance(value, dict | list) else value for key, value in BLANK.items()}}


def break_even(row: dict) -> float | None:
    """After how many calls the first call has paid for itself; None where a later call is not surely faster."""
    if not row["first_call_s"] or not row["ratio_high"] or row["ratio_high"] >= 1:
        return None
    saved = row["eager_s"] * (1 - row["ratio"])
    return max(1.0, (row["first_call_s"] - row["eager_s"] * row["ratio"]) / saved)
