"""`jit`: a callable whose calls are recorded once and then served by programs."""

from __future__ import annotations

import copy
import functools
import types

import torch

from interpreter import callable_module
from interpreter.recording.faults import users
from interpreter.serving import Jit, SharpEdge
from interpreter.vm.hiding import hidden

__all__ = ["JittedFunction", "JittedModule", "SharpEdge", "jit"]

EXECUTORS = ("eager", "aot", "inductor", "cudagraphs")


class JittedFunction:
    """A jitted function: call it as the function. `stats`, `ledger` and `explain()` say what became of the calls."""

    def __init__(self, jit: Jit):
        self._jit = jit
        self.stats, self.ledger, self.explain = jit.stats, jit.ledger, jit.explain
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            if hasattr(jit.original, name):
                setattr(self, name, getattr(jit.original, name))
        self.__wrapped__ = jit.original

    @hidden
    def __call__(self, *args, **kwargs):
        try:
            return self._jit.call(args, kwargs)
        except BaseException as error:
            users(error)
            raise

    def __get__(self, obj, owner=None):
        return self if obj is None else types.MethodType(self, obj)

    interpreted_at = "__wrapped__"  # where its `__dict__` holds what the interpreter calls in its place

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self

    def __reduce__(self):
        return jit_again, (self._jit.original, self._jit.options)

    def __repr__(self):
        return f"<jitted {self._jit.original!r}>"


class JittedModule(torch.nn.Module):
    """A jitted module: parameters, buffers, modes and attributes are the original's."""

    def __init__(self, jit: Jit):
        object.__setattr__(self, "_jit", jit)
        object.__setattr__(self, "stats", jit.stats)
        object.__setattr__(self, "ledger", jit.ledger)
        object.__setattr__(self, "explain", jit.explain)
        object.__setattr__(self, "__dict__", self.__dict__ | {"_original": jit.original})

    __call__ = JittedFunction.__call__
    forward = JittedFunction.__call__

    def __getattr__(self, name):
        return getattr(self.__dict__["_original"], name)

    def __setattr__(self, name, value):
        setattr(self.__dict__["_original"], name, value)

    def __delattr__(self, name):
        delattr(self.__dict__["_original"], name)

    interpreted_at = "_original"

    def __deepcopy__(self, memo):
        return jit_again(copy.deepcopy(self.__dict__["_original"], memo), self._jit.options)

    def __copy__(self):
        return jit_again(copy.copy(self.__dict__["_original"]), self._jit.options)

    def __reduce__(self):
        return jit_again, (self.__dict__["_original"], self._jit.options)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self.__dict__["_original"])})


def jit_again(original, options: dict):
    """A copy of a jitted callable: the same options, no entries."""
    return jit(original, **options)


def _forwarded(name):
    def forward(self, *args, **kwargs):
        result = getattr(self.__dict__["_original"], name)(*args, **kwargs)
        return self if result is self.__dict__["_original"] else result

    forward.__name__ = name
    return forward


for _name, _member in list(vars(torch.nn.Module).items()):
    if (
        callable(_member)
        and not isinstance(_member, type)
        and (not _name.startswith("__") or _name == "__repr__")
        and _name not in ("forward", "_call_impl", "_wrapped_call_impl", *vars(JittedModule))
    ):
        setattr(JittedModule, _name, _forwarded(_name))


CONTAINER_METHODS = (
    "__len__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__iter__",
    "__contains__",
    "__reversed__",
    "__add__",
    "__iadd__",
)


@functools.lru_cache(maxsize=1024)
def jitted_class(kind: type) -> type:
    """The class of jitted modules whose original is of this class: it can be indexed, measured and iterated where the
    original can.
    """
    methods = {name: _forwarded(name) for name in CONTAINER_METHODS if hasattr(kind, name)}
    return (
        type("JittedModule", (JittedModule,), {**methods, "__module__": JittedModule.__module__})
        if methods
        else JittedModule
    )


def jit(fn_or_module, *, executor="eager", dynamic=None, sharp_edges="allow", compile="now"):
    """A callable that gives what `fn_or_module` gives, from recorded programs.

    executor: "eager", "aot", "inductor", "cudagraphs", or a callable that takes an `fx.GraphModule` and example inputs
    and returns a callable. dynamic: None: ints, floats and sizes that have changed once are no longer guarded by value;
    False: never. sharp_edges: "allow", "warn" or "error": what to do where recording has to end and the rest of the
    call is run unrecorded each time. compile: "now", or "background": calls run on the eager executor until the backend
    is ready. Raises TypeError for something that can't be called, ValueError for an option that isn't known or that
    this machine can't have.
    """
    if not callable(fn_or_module):
        raise TypeError(f"jit takes a function or a module, not {fn_or_module!r}")
    if not callable(executor) and executor not in EXECUTORS:
        raise ValueError(
            f"executor={executor!r} is not known: it is one of {', '.join(EXECUTORS)}, "
            "or a backend as torch.compile takes it"
        )
    if sharp_edges not in ("allow", "warn", "error"):
        raise ValueError(f'sharp_edges={sharp_edges!r} is not known: it is "allow", "warn" or "error"')
    if dynamic is not None and type(dynamic) is not bool:
        raise ValueError(f"dynamic={dynamic!r} is not known: it is None, True or False")
    if compile not in ("now", "background"):
        raise ValueError(f'compile={compile!r} is not known: it is "now" or "background"')
    if isinstance(fn_or_module, (JittedFunction, JittedModule)):
        fn_or_module = fn_or_module._jit.original
    made = Jit(fn_or_module, executor, dynamic, sharp_edges, compile)
    return jitted_class(type(fn_or_module))(made) if isinstance(fn_or_module, torch.nn.Module) else JittedFunction(made)


callable_module(__name__)
