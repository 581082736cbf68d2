"""Stand-ins for callables written in C, a file per C module. Importing this package registers them all.

The package can be called: ``interpreter.lookasides()`` is the live mapping from qualified name to function.
"""
from interpreter import callable_module
from interpreter.lookasides import (  # noqa: F401 - imported for what they register
    bisect,
    builtins_attributes,
    builtins_calls,
    builtins_conversions,
    builtins_iterables,
    builtins_iterators,
    comparisons,
    containers,
    functools,
    heapq,
    itertools,
    mappings,
    math,
    operator,
    re,
    strings,
)
from interpreter.lookasides.registry import REGISTRY, find, lookaside, lookasides

__all__ = ["REGISTRY", "find", "lookaside", "lookasides"]


callable_module(__name__)
