"""Python run by Python: a virtual machine, lookasides, recording, executors.

Importing this package is cheap: nothing here imports torch. ``jit`` and its companions, which need it, are loaded when
they are first asked for.
"""

import importlib

_HOMES = {
    "interpret": "interpreter.interpret",
    "InterpreterError": "interpreter.vm.errors",
    "lookaside": "interpreter.lookasides",
    "lookasides": "interpreter.lookasides",
    "jit": "interpreter.jit",
    "is_interpreting": "interpreter.jit",
}

__all__ = [*_HOMES]


def __getattr__(name):
    """The public names, each loaded from its own module on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value
