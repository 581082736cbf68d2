"""Operations whose result has a shape that depends on the data of their arguments, not on their shapes alone.

Some always have (`nonzero`, an index by a mask). Others have where a tensor is given in the place of a number, which
torch allows: `x[:n]`, `torch.arange(n)`, `x.expand(n, 2)` read the element of `n` in C, where no Python is asked. Which
places of an operation take a number and no tensor is told by the schemas of its overloads.
"""

from __future__ import annotations

import functools

import torch

from interpreter.recording.torch_calls import plain_name

ALWAYS = {
    # those that torch tags as `dynamic_output_shape`, under the names that Python calls them by
    "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "_unique2", "bincount", "_unique",
    "unique_dim", "unique_dim_consecutive", "linalg_lstsq", "lstsq", "_ctc_loss",
    # and what has no tag
    "to_sparse", "coalesce", "nonzero_static", "boolean_mask", "combinations", "_pack_padded_sequence",
}  # fmt: skip
NUMBERS = {"IntType", "SymIntType", "NumberType", "FloatType", "BoolType"}


def data_dependent(function, args, kwargs) -> bool:
    """Whether the shape of the result may depend on the data of the arguments."""
    name = plain_name(function)
    if name in ALWAYS:
        return True
    if name in ("__getitem__", "index"):
        index = args[1] if len(args) > 1 else None
        return any(map(selects, index if isinstance(index, (tuple, list)) else (index,)))
    if name == "where":
        return len(args) + len(kwargs) == 1
    if name == "repeat_interleave":
        return sum(isinstance(value, torch.Tensor) for value in (*args, *kwargs.values())) > 1 or len(args) == 1
    if name == "one_hot" and (args[1] if len(args) > 1 else kwargs.get("num_classes", -1)) == -1:
        return True
    if name == "tensor_split" and any(isinstance(value, torch.Tensor) for value in (*args[1:], *kwargs.values())):
        return True
    return given_for_number(name, args, kwargs)


def selects(part) -> bool:
    """Whether how much a part of an index selects is told by data: a mask, or a bound that is a tensor."""
    if isinstance(part, torch.Tensor):
        return part.dtype in (torch.bool, torch.uint8)
    return type(part) is slice and any(isinstance(bound, torch.Tensor) for bound in (part.start, part.stop, part.step))


def given_for_number(name: str, args, kwargs) -> bool:
    """Whether a tensor stands where the operation takes numbers."""
    places = number_places(name)
    if places is None:  # a function written in Python: its first argument is what it works on
        return any(map(small, args[1:])) or any(map(small, kwargs.values()))
    positions, names, rest = places
    for position, value in enumerate(args):
        if (position in positions or position >= rest) and holds_tensor(value):
            return True
    return any(key in names and holds_tensor(value) for key, value in kwargs.items())


def holds_tensor(value) -> bool:
    """Whether a value is a tensor, or a container with one in it however deep."""
    if isinstance(value, (tuple, list)):
        return any(map(holds_tensor, value))
    if isinstance(value, dict):
        return any(map(holds_tensor, value.values()))
    return isinstance(value, torch.Tensor)


def small(value) -> bool:
    """Whether a value is, or holds, a tensor that torch takes for an integer."""
    if isinstance(value, (tuple, list)):
        return any(map(small, value))
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    with torch._C.DisableTorchFunction():
        return value.numel() == 1 and not value.is_floating_point() and value.dtype is not torch.bool


@functools.lru_cache(maxsize=4096)
def number_places(name: str):
    """The positions and the names of the arguments that are numbers in every overload of an operation, and from which
    position on a list of them can be written out; None where torch has no schema of that name."""
    schemas = [schema for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}") if gives_tensors(schema)]
    if not schemas:
        return None
    numbers: dict = {}
    last = 64
    for schema in schemas:
        for position, argument in enumerate(schema.arguments):
            is_number, is_list = takes_number(argument.type)
            for place in (argument.name,) if argument.kwarg_only else (argument.name, position):
                numbers[place] = numbers.get(place, True) and is_number
            if is_list and not argument.kwarg_only:
                last = min(last, position)
    found = [place for place, is_number in numbers.items() if is_number]
    rest = last if all(numbers.get(position, True) for position in range(last, last + 8)) else 64
    return (
        frozenset(place for place in found if type(place) is int),
        frozenset(place for place in found if type(place) is str),
        rest,
    )


def gives_tensors(schema) -> bool:
    """Whether an overload gives tensors: others of the name are for texts and lists of TorchScript."""
    return any("Tensor" in str(returned.type) for returned in schema.returns)


def takes_number(kind) -> tuple[bool, bool]:
    """Whether a type of a schema is a number or a list of them, and whether it is a list."""
    if kind.kind() == "OptionalType":
        kind = kind.getElementType()
    if kind.kind() == "ListType":
        return kind.getElementType().kind() in NUMBERS, True
    return kind.kind() in NUMBERS, False
