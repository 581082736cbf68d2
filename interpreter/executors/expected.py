"""What a result of a graph has to be like, known from its fake: kind, sizes, and how it lies in memory."""

from __future__ import annotations

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true


class Expected:
    """What a result of a graph is like: a tensor, or a size. A dimension whose size may change is None. That it needs a
    gradient at the end of the graph is said apart, as its fake may be written to later.

    Strides are known as they are where no size may change. Where one may, `order` has the dimensions from the outermost
    to the innermost of a tensor without gaps; it is None for others. `spread` are the dimensions that the tensor was
    expanded by, with a stride of 0.
    """

    def __init__(self, value, needs_gradient=False):
        self.tensor = isinstance(value, torch.Tensor)
        if not self.tensor:
            return
        self.dtype, self.device, self.requires_grad = value.dtype, value.device, needs_gradient
        self.shape = tuple(size if type(size) is int else None for size in value.shape)
        self.order = self.strides = None
        if value.layout is torch.strided:
            self.spread = {i for i, stride in enumerate(value.stride()) if type(stride) is int and stride == 0}
            if None not in self.shape and all(type(stride) is int for stride in value.stride()):
                self.strides = tuple(value.stride())
            else:
                self.order = order_in_memory(value, self.spread)

    def describes(self, value) -> bool:
        """Whether a result is like that. It may need a gradient where the graph's does not."""
        if not self.tensor:
            return type(value) is int
        return (
            isinstance(value, torch.Tensor)
            and (value.dtype, value.device.type, value.dim()) == (self.dtype, self.device.type, len(self.shape))
            and all(mine is None or mine == size for mine, size in zip(self.shape, value.shape))
            and (value.requires_grad or not self.requires_grad)
        )

    def strides_for(self, shape) -> tuple[int, ...] | None:
        """The strides of a result of these sizes; None where nothing is known."""
        return self.strides if self.order is None else strides_in(self.order, shape, self.spread)

    def is_laid_out(self, value) -> bool | None:
        """Whether a result lies in memory as expected; None where nothing is. Strides of dimensions of size 1 mean
        nothing.
        """
        strides = self.strides_for(value.shape) if self.tensor else None
        if strides is None:
            return None
        pairs = zip(value.shape, value.stride(), strides)
        return value.numel() == 0 or all(mine == other for size, mine, other in pairs if size != 1)

    def laid_out(self, value: torch.Tensor) -> torch.Tensor:
        """The same values as expected in memory; gradients pass through."""
        if self.is_laid_out(value):
            return value
        strides, narrow = self.strides_for(value.shape), value
        for i in self.spread:
            narrow = narrow.narrow(i, 0, 1)
        made = torch.empty_strided(narrow.shape, strides, dtype=value.dtype, device=value.device).copy_(narrow)
        return made.expand(value.shape) if self.spread else made

    def __str__(self):
        if not self.tensor:
            return "an int"
        shape = ", ".join("any" if size is None else str(size) for size in self.shape)
        return f"a {self.dtype} [{shape}] on {self.device}{' that needs a gradient' if self.requires_grad else ''}"


def order_in_memory(value, spread) -> tuple[int, ...] | None:
    """The dimensions from the outermost to the innermost of a fake that has no gaps, whatever its free sizes are, but
    was expanded by the dimensions `spread`; None for other fakes.
    """
    strides = value.stride()
    orders = [tuple(range(value.dim()))]
    hints = [stride if type(stride) is int else stride.node.hint for stride in strides]
    if None not in hints:  # which a size that depends on data has not
        orders.append(tuple(sorted(orders[0], key=lambda i: -hints[i])))
    for order in orders:
        dense = strides_in(order, value.shape, spread)
        if all(statically_known_true(size == 1) or statically_known_true(mine == other)
               for size, mine, other in zip(value.shape, strides, dense)):
            return order
    return None


def strides_in(order: tuple[int, ...], shape, spread) -> tuple:
    """The strides of a tensor without gaps whose dimensions lie in this order, from the outermost to the innermost,
    expanded by the dimensions `spread`.
    """
    strides, step = [0] * len(order), 1
    for i in reversed(order):
        if i not in spread:
            strides[i] = step
            step = step * shape[i]
    return tuple(strides)


def told(value) -> str:
    """A result, for a person."""
    if not isinstance(value, torch.Tensor):
        return f"one {type(value).__name__}"
    gradient = " that needs a gradient" if value.requires_grad else ""
    return f"a {value.dtype} {list(value.shape)} on {value.device}{gradient}"
