"""Calls whose inside is not recorded: the whole call is one operation, done again by every later call.

Autograd functions, checkpointed blocks, the transforms of `torch.func` and the autograd engine run Python code (the
function that they are given, hooks, `backward`) under conditions of their own. A program calls them again as they were
called, with the functions made anew, so what that Python code reads is read anew. Two things could go wrong, and end
the trace: that code could see what the call has written before, which a program writes only at its end; and it could
change what the call has read before, or an object made inside.
"""

from __future__ import annotations

import functools
import types

import torch
import torch.utils.checkpoint

from interpreter.recording import mode, sources
from interpreter.recording.numbers import pin, plain
from interpreter.recording.outside import MISSING, is_constant
from interpreter.recording.special import SPECIAL, special
from interpreter.vm.calls import native_key

CONTAINERS = (list, dict, set)
CODE = (types.FunctionType, types.MethodType, functools.partial)
TRANSFORMS = {"wrapper", "wrapped", "wrapper_fn", "wrapped_with_chunks", "jvp_fn", "trace_fn"}
FUNCTIONS = (
    torch.autograd.grad,
    torch.autograd.backward,
    torch.utils.checkpoint.checkpoint,
    torch.utils.checkpoint.checkpoint_sequential,
    torch.func.vjp,
    torch.func.jvp,
    torch.autograd.functional.jacobian,
    torch.autograd.functional.hessian,
    torch.autograd.functional.vjp,
    torch.autograd.functional.jvp,
    torch.autograd.functional.hvp,
    torch.autograd.functional.vhp,
    torch.cond,
)


@special(*FUNCTIONS)
def call_whole(machine, callable, args, kwargs):
    """One operation. Called with the function itself where that is fixed, else with the function as the first
    argument."""
    trace = machine.trace
    machine.note(native_key(callable), "torch")
    args, kwargs = tuple(map(pin, args)), {key: pin(value) for key, value in (kwargs or {}).items()}
    functions = [value for value in (*args, *kwargs.values()) if isinstance(value, (*CODE, torch.nn.Module))]
    if isinstance(callable, types.FunctionType) and callable not in SPECIAL:
        functions.append(callable)
    for value in (*args, *kwargs.values()):
        machine.see(value)
    why = may_see_writes(trace, functions) or may_change(trace, functions)
    if why:
        machine.sharp(callable, why)
        return callable(*args, **kwargs)
    with torch.overrides._pop_mode_temporarily():
        if isinstance(callable, types.FunctionType) and id(callable) in trace.made:
            result = mode.record(trace, calling, "calling", (callable, *args), kwargs, False, True)
        else:
            result = mode.record(trace, callable, mode.plain_name(callable), args, kwargs, False, True)
    trace.grads_moved = True
    changed = changed_behind(trace)
    if changed:
        machine.sharp(callable, f"changed {changed}, which the call had read before")
    return result


def calling(function, *args, **kwargs):
    """The operation that calls a function made inside the call."""
    return function(*args, **kwargs)


def may_see_writes(trace, functions) -> str | None:
    """Whether Python code that runs now could see something that this call has written."""
    if not trace.writes:
        return None
    if functions or any(not at_argument(trace, write.args[0]) for write in trace.writes):
        return "runs Python code that may read what the call has written before it"
    return None


def at_argument(trace, written) -> bool:
    """Whether a written object is reached from the arguments or the jitted module, and not from a global name or a
    closure."""
    entry = trace.find(written)
    source = entry.source if entry is not None else None
    while source is not None and source.parent is not None:
        source = source.parent
    return isinstance(source, sources.Argument) or isinstance(source, sources.Pinned) and source.name == "self"


def may_change(trace, functions) -> str | None:
    """Whether a function reaches a container or an object that was made inside the call, which it could change
    unseen."""
    waiting, seen = list(functions), set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or trace.find(value) is not None:
            continue
        seen.add(id(value))
        if pin(value) is not value:
            continue
        if isinstance(value, types.FunctionType):
            for cell in value.__closure__ or ():
                try:
                    waiting.append(cell.cell_contents)
                except ValueError:
                    continue
            waiting += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        elif isinstance(value, types.MethodType):
            waiting += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, tuple):
            waiting += value
        elif (
            isinstance(value, CONTAINERS)
            or hasattr(value, "__dict__")
            and not isinstance(value, (torch.Tensor, type, types.ModuleType))
        ):
            return f"is given a function over a {type(value).__qualname__} that was made inside the call"
    return None


def changed_behind(trace) -> str | None:
    """The source of something that was read before and is now another object."""
    for entry in trace.outside.values():
        value = entry.value
        if type(value) is dict:
            for key, known in entry.known.items():
                if differ(value.get(key, MISSING), known):
                    return f"{entry.source}[{key!r}]"
        elif isinstance(value, list) and entry.known and entry.original is None:
            for index, known in entry.known.items():
                if type(index) is int and (index >= len(value) or differ(value[index], known)):
                    return f"{entry.source}[{index}]"
        elif isinstance(value, types.CellType) and "contents" in entry.known:
            if differ(contents(value), entry.known["contents"]):
                return str(entry.source)
        elif not isinstance(value, torch.Tensor):
            for key, known in entry.known.items():
                if type(key) is tuple and key[0] == "slot" and differ(getattr(value, key[1], MISSING), known):
                    return f"{entry.source}.{key[1]}"
    return None


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def differ(now, known) -> bool:
    now, known = plain(now), plain(known)
    return now is not known and not (
        is_constant(now) and is_constant(known) and type(now) is type(known) and now == known
    )


@functools.lru_cache(maxsize=4096)
def transforms(code: types.CodeType) -> bool:
    """Whether a function is what a transform of `torch.func` gives."""
    return code.co_name in TRANSFORMS and "/torch/_functorch/" in code.co_filename.replace("\\", "/")
