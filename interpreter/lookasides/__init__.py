"""Stand-ins for callables written in C, one file per C module. Importing this package registers them all."""
from interpreter.lookasides.registry import REGISTRY, find, lookaside, lookasides

__all__ = ["REGISTRY", "find", "lookaside", "lookasides"]
