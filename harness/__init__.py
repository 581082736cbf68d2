"""Plans cells, runs each in its own process, judges them, stores rows, reports.

A *cell* is one model under one workload, run by one subject with one executor, dtype, device, scale and depth. A *run*
is a folder with a row per cell. `load(folder)` reads one back as pandas frames.
"""


def __getattr__(name):
    """`load` and the rooms are imported when first asked for, so that starting up costs neither pandas nor torch."""
    if name == "load":
        from harness.frames import load
        return load
    if name in {"compare", "coverage"}:
        import importlib
        return importlib.import_module(f"harness.{name}")
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
