"""The instructions, a file for each family. Importing this package fills the registry."""

from . import (
    asynchronous,
    attributes,
    building,
    calls,
    context,
    exceptions,
    fusions,
    generators,
    imports,
    intrinsics,
    iteration,
    jumps,
    matching,
    names,
    operators,
    python314,
    shortcuts,
    stack,
    stepping,
    subscripts,
)

FAMILIES = (
    asynchronous, attributes, building, calls, context, exceptions, fusions, generators, imports, intrinsics, iteration,
    jumps, matching, names, operators, python314, shortcuts, stack, stepping,
    subscripts,
)  # fmt: skip
