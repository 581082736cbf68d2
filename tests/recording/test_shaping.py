"""Shapes that depend on data: a tensor is given where an operation takes a number, and Python asks for the sizes of
what comes out.
"""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.utils import rnn

from interpreter import jit
from interpreter.recording.shaping import data_dependent

X = torch.arange(24.0).reshape(6, 4)
ONES = torch.ones(12)

SHAPED = {
    "arange": lambda n: torch.arange(n),
    "linspace": lambda n: torch.linspace(0, 1, n),
    "zeros": lambda n: torch.zeros(n, 2),
    "full": lambda n: torch.full((n,), 1.0),
    "eye": lambda n: torch.eye(n),
    "new_zeros": lambda n: X.new_zeros(n),
    "randint": lambda n: torch.randint(0, 1, (n,)),
    "expand": lambda n: torch.ones(1).expand(n),
    "repeat": lambda n: torch.ones(2).repeat(n, 1),
    "tile": lambda n: torch.tile(torch.ones(2), (n,)),
    "view": lambda n: ONES.view(n, -1),
    "reshape": lambda n: ONES.reshape(n, -1),
    "unflatten": lambda n: ONES.unflatten(0, (n, -1)),
    "as_strided": lambda n: ONES.as_strided((n,), (1,)),
    "resize_": lambda n: torch.ones(12).resize_(n),
    "narrow": lambda n: X.narrow(0, 0, n),
    "slice": lambda n: X[:n],
    "slice from": lambda n: X[n:, 1],
    "pieces of a slice": lambda n: X[:n].unbind(0),
    "split": lambda n: ONES.split(n),
    "chunk": lambda n: ONES.chunk(n),
    "tensor_split": lambda n: torch.tensor_split(X, n),
    "one_hot": lambda n: F.one_hot(n),
    "one_hot, classes": lambda n: F.one_hot(torch.tensor(0), n),
    "repeat_interleave": lambda n: torch.ones(2).repeat_interleave(n),
    "unfold": lambda n: ONES.unfold(0, n, 1),
    "pad": lambda n: F.pad(torch.ones(2), (0, n)),
    "interpolate": lambda n: F.interpolate(torch.ones(1, 1, 4), size=n),
    "adaptive_avg_pool1d": lambda n: F.adaptive_avg_pool1d(torch.ones(1, 1, 12), n),
    "topk": lambda n: X.topk(n).values,
    "diagonal": lambda n: torch.diagonal(X, n),
    "diag": lambda n: torch.diag(torch.ones(3), n),
    "tril_indices": lambda n: torch.tril_indices(n, n),
    "bincount": lambda n: torch.bincount(n.view(1)),
    "fft": lambda n: torch.fft.fft(ONES, n=n).real,
    "pad_sequence": lambda n: rnn.pad_sequence([X[:n], X[:2]]),
    "pad_packed_sequence": lambda n: rnn.pad_packed_sequence(
        rnn.pack_padded_sequence(X[None], n.view(1), batch_first=True), batch_first=True
    )[0],
    "range": lambda n: torch.stack([X[0] * i for i in range(n)]),
}


def outcome(call, value):
    """What Python can tell of the shapes of a result, or of the exception."""
    try:
        found = call(torch.tensor(value))
    except Exception as error:
        return type(error), str(error)
    parts = found if isinstance(found, (tuple, list)) else [found]
    return [(part.shape, part.tolist()) for part in parts]


@pytest.mark.parametrize("name", SHAPED)
def test_sizes_that_a_tensor_tells_are_asked_again(name):
    """The first size of what comes out scales it, in later calls too."""

    def call(n):
        found = SHAPED[name](n)
        if isinstance(found, tuple | list):
            return [part * len(found) for part in found]
        return found * found.shape[0] if found.dim() else found

    jitted = jit(call)
    for value in (3, 2, 4, 1, 3, 0, 2):
        assert outcome(jitted, value) == outcome(call, value)


RANKED = {
    "flatten": lambda n: torch.zeros(1, 2, 3, 4).flatten(0, n),
    "torch.flatten": lambda n: torch.flatten(torch.zeros(1, 2, 3, 4), end_dim=n),
    "tensordot": lambda n: torch.tensordot(torch.ones(2, 2, 2), torch.ones(2, 2, 2), dims=n),
    "squeeze": lambda n: torch.zeros(1, 2, 1, 3).squeeze(n),
    "flatten by item": lambda n: torch.zeros(1, 2, 3, 4).flatten(0, torch.tensor(n).item()),
    "Flatten": lambda n: torch.nn.Flatten(0, n)(torch.zeros(1, 2, 3, 4)),
}


@pytest.mark.parametrize("name", RANKED)
def test_a_rank_that_a_number_tells_is_asked_again(name):
    """How many dimensions there are, and how long they are, when the number has changed and changes again."""
    call = RANKED[name]
    jitted = jit(lambda n: (call(n).dim(), call(n).shape, len(call(n).shape), call(n).ndim))
    for n in (1, 2, 3, 0, 2, 1):
        try:
            expected = call(n)
        except (IndexError, RuntimeError) as error:
            with pytest.raises(type(error)):
                jitted(n)
        else:
            assert jitted(n) == (expected.dim(), expected.shape, expected.dim(), expected.dim())


@pytest.mark.parametrize(
    "function, args",
    [
        (torch.add, (X, torch.tensor(2))),
        (torch.index_select, (X, 0, torch.tensor([1]))),
        (torch.narrow, (X, 0, torch.tensor(1), 2)),
        (F.embedding, (torch.tensor([1]), X)),
        (F.linear, (X, torch.ones(2, 4))),
        (torch.Tensor.index_copy_, (X, 0, torch.tensor([1]), X[:1])),
        (torch.Tensor.__getitem__, (X, torch.tensor(1))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_takes_a_tensor_is_not_taken_for_shaping(function, args):
    """A tensor where the operation takes one leaves the shape to the shapes: nothing is asked again for it."""
    assert not data_dependent(function, args, {})
