"""Python run by Python: a virtual machine, lookasides, recording, executors.

Importing this package is cheap: nothing here imports torch. ``jit`` and its companions, which need it, are loaded when
they are first asked for.

Some of the names are also those of submodules (``interpreter.jit`` is a function and a file). These submodules can be
called, so that it does not matter which of the two an import has put here.
"""

import importlib
import sys
import types

from interpreter.own_builtins import keep

keep()

_HOMES = {
    "interpret": "interpreter.interpret",
    "InterpreterError": "interpreter.vm.errors",
    "lookaside": "interpreter.lookasides",
    "lookasides": "interpreter.lookasides",
    "jit": "interpreter.jit",
    "is_interpreting": "interpreter.vm.current",
}

__all__ = ["InterpreterError", "interpret", "is_interpreting", "jit", "lookaside", "lookasides"]


def __getattr__(name):
    """The public names, each loaded from its own module on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    if home != f"{__name__}.{name}":
        globals()[name] = value
    return value


class CallableModule(types.ModuleType):
    """A module that can be called: that calls the function in it which bears its name."""

    def __call__(self, *args, **kwargs):
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


def callable_module(name):
    """Make the module of this name callable."""
    sys.modules[name].__class__ = CallableModule
