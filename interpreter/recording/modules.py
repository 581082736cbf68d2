"""What every module of torch does on each call and each attribute, known to the recording machine.

More than half of the instructions of a model's forward are `Module.__call__` looking for hooks and `Module.__getattr__`
looking through the dicts of parameters, buffers and modules. These native handlers ask the trace for just what those
functions would read, so the guards are the same; whenever something is not the plain case (a hook, a tracing state, a
dict of another kind) they step back and the functions are interpreted. They are registered only where the functions
read what is known here.
"""

from __future__ import annotations

import torch
import torch.nn.modules.module as home

from interpreter.recording.outside import MISSING
from interpreter.vm.frame import Frame

Module = torch.nn.Module
HOOKS = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")
GLOBAL_HOOKS = (
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
)
TABLES = ("_parameters", "_buffers", "_modules")


def always(args, kwargs):
    return True


class Handler:
    """A native handler, in the form in which the machine keeps lookasides."""

    __slots__ = ("counted", "function", "native", "needed")

    def __init__(self, function):
        self.function = function
        self.native = self.counted = True
        self.needed = always


def own(machine, module, name):
    """An attribute of the module's own `__dict__`, or MISSING."""
    entry = machine.trace.outside.get(id(module))
    if entry is None:
        return module.__dict__.get(name, MISSING)
    return machine.trace.read_key(machine.trace.namespace(entry), name)


def module_getattr(machine, module, name):
    """`Module.__getattr__`: the parameter, buffer or submodule of that name."""
    trace = machine.trace
    if trace.ended is None:
        for table_name in TABLES:
            table = own(machine, module, table_name)
            if type(table) is not dict:
                break
            entry = trace.outside.get(id(table))
            value = table.get(name, MISSING) if entry is None else trace.read_key(entry, name)
            if value is not MISSING:
                return value
    return machine.enter(Module.__getattr__, [module, name])


def hooked(machine, module) -> bool:
    """Whether the module or all modules have hooks."""
    trace = machine.trace
    for name in HOOKS:
        hooks = own(machine, module, name)
        if hooks is MISSING or machine.truth(hooks):
            return True
    space = machine.space(home.__dict__)
    return any(machine.truth(trace.read_key(space, name)) for name in GLOBAL_HOOKS)


def plain_call(machine, module, args, kwargs):
    """What the call of a module without hooks is: a call of its `forward`."""
    method = machine.get_method(module, "forward")
    if method is not None:
        return machine.call(method[0], [module, *args], kwargs)
    forward = machine.get_attribute(module, "forward")
    return machine.call(machine.finish(forward) if type(forward) is Frame else forward, list(args), kwargs)


def module_call(machine, module, *args, **kwargs):
    """`Module.__call__`."""
    if (
        machine.trace.ended is None
        and own(machine, module, "_compiled_call_impl") is MISSING
        and machine.lookup(type(module), "_compiled_call_impl") is None
        and machine.lookup(type(module), "_call_impl") is Module._call_impl
        and own(machine, module, "_call_impl") is MISSING
    ):
        return module_call_impl(machine, module, *args, **kwargs)
    return machine.enter(Module._wrapped_call_impl, [module, *args], kwargs or None)


def module_call_impl(machine, module, *args, **kwargs):
    """`Module._call_impl`."""
    if machine.trace.ended is None and not torch._C._get_tracing_state() and not hooked(machine, module):
        return plain_call(machine, module, args, kwargs or None)
    return machine.enter(Module._call_impl, [module, *args], kwargs or None)


def as_known() -> bool:
    """Whether this torch's functions read what the handlers read."""
    reads = {
        Module.__getattr__: {"__dict__"},
        Module._wrapped_call_impl: {"_compiled_call_impl", "_call_impl"},
        Module._call_impl: {"forward", *HOOKS, *GLOBAL_HOOKS},
    }
    return all(names <= set(function.__code__.co_names) for function, names in reads.items()) and all(
        name in Module.__getattr__.__code__.co_consts for name in TABLES)


HANDLERS = {
    Module.__getattr__: Handler(module_getattr),
    Module._wrapped_call_impl: Handler(module_call),
    Module._call_impl: Handler(module_call_impl),
} if as_known() else {}
