"""Backward passes of what a backend made, until one of them has been seen to work.

Compilers make the backward pass late, when it is wanted for the first time, and what they made may fail only then:
inside the user's `backward()`, where no program can be taken up. So as long as no backward pass of a piece has come
through, autograd is given a function of our own in its place. Where the backend's backward pass raises, the same
operations are done one by one, on the inputs that the piece was called with, and their gradients are those asked for.
"""

from __future__ import annotations

import torch

from interpreter.executors.graphs import GraphWriter
from interpreter.executors.surroundings import Surroundings


class Changed(Exception):
    """An input was written to since the piece was called: its gradients can't be had from it any more."""


class Kept:
    """What a call of a piece took and gave. `own` are its inputs without their history, `before` the same for doing the
    operations again: what the piece writes to is copied."""

    def __init__(self, piece, inputs):
        self.piece = piece
        self.own = [severed(value) for value in inputs]
        self.before = [
            value.clone() if number in piece.overwrites else value for number, value in enumerate(map(severed, inputs))
        ]
        self.surroundings = Surroundings()
        with torch.enable_grad():
            self.results = piece.checked(*self.own)
        self.versions = [version(value) for value in self.before]

    def found(self, gradients):
        """The gradients of the inputs, from where they can be had."""
        piece, error = self.piece, self.piece.failure
        if error is None:
            try:
                found = self.gradients(gradients)
            except Exception as raised:
                error = raised
            else:
                piece.proven = True
                return found
        try:
            found = self.gradients_one_by_one(gradients)
        except Changed:
            raise error from None
        piece.fails(error)
        return found

    def gradients(self, gradients):
        """Those of the inputs, by what the backend made."""
        return gradients_by(self.own, self.results, gradients)

    def gradients_one_by_one(self, gradients):
        """The same by the operations themselves. Raises Changed."""
        if self.versions != [version(value) for value in self.before]:
            raise Changed
        graph = GraphWriter(self.piece.takes).write(self.piece.operations, self.piece.gives)
        with self.surroundings.again(), torch.enable_grad():
            inputs = [severed(value) for value in self.before]
            return gradients_by(inputs, graph(*inputs), gradients)


class OnProbation(torch.autograd.Function):
    """A call of a piece, to autograd."""

    @staticmethod
    def forward(ctx, piece, *inputs):
        ctx.kept, ctx.inputs = Kept(piece, inputs), inputs
        ctx.save_for_backward(torch.empty(0))  # a second backward pass through the same graph raises as in eager
        ctx.set_materialize_grads(False)
        given = [value.detach() if isinstance(value, torch.Tensor) else value for value in ctx.kept.results]
        ctx.mark_non_differentiable(
            *[mine for mine, value in zip(given, ctx.kept.results) if mine is not value and not value.requires_grad]
        )
        return tuple(given)

    @staticmethod
    def backward(ctx, *gradients):
        _ = ctx.saved_tensors
        if all(gradient is None for gradient in gradients):
            return (None,) * (1 + len(ctx.inputs))
        with torch.no_grad():
            found = ctx.kept.found(gradients)
        if torch.is_grad_enabled():
            places = [number for number, gradient in enumerate(found) if gradient is not None]
            once = Once.apply([found[number] for number in places], *gradients, *ctx.inputs)
            found = [once[places.index(number)] if number in places else None for number in range(len(found))]
        return None, *found


class Once(torch.autograd.Function):
    """Gradients that no gradient can be taken of, as those of AOTAutograd: `depends` are what they were made from."""

    @staticmethod
    def forward(ctx, found, *depends):
        return tuple(found)

    @staticmethod
    def backward(ctx, *gradients):
        raise RuntimeError(
            "a compiled program has gradients, and no gradients of gradients (create_graph=True): "
            'for those use executor="eager"'
        )


def on_probation(piece, inputs) -> bool:
    """Whether a call of a piece needs to be watched. What autograd follows through a write is left to the backend."""
    return (
        not piece.proven
        and torch.is_grad_enabled()
        and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)
        and not any(inputs[number].requires_grad for number in piece.overwrites)
    )


def severed(value):
    """A tensor's data as a tensor without history; anything else as it is."""
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def version(value):
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else None


def gradients_by(inputs, results, gradients):
    """Of each input its gradient, or None."""
    followed = [
        (result, gradient)
        for result, gradient in zip(results, gradients)
        if gradient is not None and isinstance(result, torch.Tensor) and result.requires_grad
    ]
    places = [number for number, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.requires_grad]
    found = torch.autograd.grad(
        [result for result, _ in followed],
        [inputs[number] for number in places],
        [gradient for _, gradient in followed],
        retain_graph=True,
        allow_unused=True,
    )
    by_place = dict(zip(places, found))
    return [by_place.get(number) for number in range(len(inputs))]
