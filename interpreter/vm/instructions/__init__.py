"""The instructions, a file for each family. Importing this package fills the registry."""

from . import (
    asynchronous,
    attributes,
    building,
    calls,
    context,
    exceptions,
    generators,
    imports,
    intrinsics,
    iteration,
    jumps,
    matching,
    names,
    operators,
    stack,
    subscripts,
)

FAMILIES = (
    asynchronous, attributes, building, calls, context, exceptions, generators, imports, intrinsics, iteration, jumps,
    matching, names, operators, stack, subscripts,
)  # fmt: skip
