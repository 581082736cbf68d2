"""How costs grow with a model's depth: a fixed part and a part per layer, by least squares."""

from __future__ import annotations

import pandas as pd

#: What is fitted, and in which unit it is reported.
QUANTITIES = {"first_call_s": "s", "instructions": "", "native_instructions": "", "run_s": "s", "eager_s": "s"}


def growth(cells: pd.DataFrame) -> pd.DataFrame:
    """A row per model, workload, subject, executor and quantity: `fixed`, `per_layer`, `r2` and the depths used.

    Only cells that passed count, and only where there are two depths at least. `r2` is the part of the variance that
    the straight line explains, None for two depths, where any line fits.
    """
    columns = ["model", "workload", "subject", "executor", "quantity", "fixed", "per_layer", "r2", "depths"]
    rows = []
    passed = cells[(cells["status"] == "pass") & cells["depth"].notna()] if len(cells) else cells
    for key, group in passed.groupby(["model", "workload", "subject", "executor"], sort=False):
        for quantity in QUANTITIES:
            known = group[group[quantity].notna()]
            if known["depth"].nunique() < 2:
                continue
            fixed, slope, r2 = line(known["depth"].astype(float), known[quantity].astype(float))
            rows.append((*key, quantity, fixed, slope, r2, sorted({int(d) for d in known["depth"]})))
    return pd.DataFrame(rows, columns=columns)


def line(x, y) -> tuple[float, float, float | None]:
    """Intercept, slope and r² of the least-squares line through the points."""
    from scipy.stats import linregress
    fit = linregress(list(x), list(y))
    return float(fit.intercept), float(fit.slope), float(fit.rvalue ** 2) if len(set(x)) > 2 else None
