"""``sys.settrace``, ``sys.setprofile`` and ``breakpoint``: the machine answers for them."""

import builtins
import importlib
import os
import sys

from . import tracing
from .natives import native
from .values import NULL


def _tracers(name, setter, getter):
    """Handlers for ``sys.settrace`` and ``sys.gettrace``, or those of profile functions."""

    @native(setter)
    def set_(machine, function, /):
        if not machine.can_trace:
            return machine.original(setter, [function])
        return tracing.begin(machine, name, None if function is getter() else function)

    @native(getter)
    def get_(machine):
        if not machine.can_trace:
            return machine.original(getter, [])
        found = getattr(machine.traces, name, None)
        return getter() if found is None else found


_tracers("tracer", sys.settrace, sys.gettrace)
_tracers("profiler", sys.setprofile, sys.getprofile)


@native(builtins.breakpoint)
def breakpoint_(machine, *args, **kwargs):
    hook = getattr(sys, "breakpointhook", NULL)
    if not machine.can_trace or hook is NULL:
        return machine.original(breakpoint, args, kwargs)
    sys.audit("builtins.breakpoint", hook)
    return machine.call(hook, list(args), kwargs)


@native(sys.breakpointhook)
def breakpointhook_(machine, *args, **kwargs):
    """The hook that the environment names, by default ``pdb.set_trace``; the original says what is wrong with it."""
    path = os.environ.get("PYTHONBREAKPOINT") or "pdb.set_trace"
    module, dot, name = path.rpartition(".")
    if path == "0" or not machine.can_trace or not module and dot:
        return machine.original(sys.__breakpointhook__, args, kwargs)
    try:
        hook = getattr(importlib.import_module(module or "builtins"), name)
    except Exception:
        return machine.original(sys.__breakpointhook__, args, kwargs)
    return machine.call(hook, list(args), kwargs)
