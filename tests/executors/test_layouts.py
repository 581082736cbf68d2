"""Results of compiled programs lie in memory as eager's do: strides can be seen, and `view` depends on them."""

import pytest
import torch

from interpreter import jit


def turned(value):
    """The same values, the last dimension outermost in memory."""
    if value.dim() < 2:
        return value
    return value.movedim(-1, 0).clone(memory_format=torch.contiguous_format).movedim(0, -1)


def turning(graph, examples):
    """A backend whose results lie otherwise."""
    return lambda *inputs: [turned(value) for value in graph(*inputs)]


def with_nothing(x):
    """Inductor drops what is empty, and keeps the strides of the rest; eager gives contiguous memory."""
    return torch.cat((x.transpose(0, 1) * 2, x.transpose(0, 1)[..., 3:]), -1)


def flattened(x):
    return with_nothing(x).view(-1)


def seen_and_used(x):
    """The first result ends a graph where a gradient may be asked for: the second graph is made for its strides."""
    first = with_nothing(x).sin()
    return first, (first.view(-1) * first.reshape(-1)).sum()


def transposed(x):
    return with_nothing(x).transpose(0, 1)


def expanded(x):
    return with_nothing(x).unsqueeze(1).expand(-1, 2, -1, -1).sin().sum(1, keepdim=True).expand(-1, 5, -1, -1)


def with_gaps(x):
    return (with_nothing(x) * 2)[..., ::2]


def overlapping(x):
    return with_nothing(x).sum((1, 2)).unfold(0, 2, 1)


def shape_and_strides(results):
    return [(value.shape, value.stride()) for value in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize(
    "function", [with_nothing, flattened, seen_and_used, transposed, expanded, with_gaps, overlapping]
)
@pytest.mark.parametrize("backend", [turning, "inductor"], ids=["turning", "inductor"])
def test_results_lie_as_those_of_eager(backend, function, gradients):
    jitted = jit(function, executor=backend)
    for _ in range(3):
        mine = torch.randn(2, 4, 3, requires_grad=gradients)
        its = mine.detach().clone().requires_grad_(gradients)
        want, got = function(mine), jitted(its)
        assert shape_and_strides(want) == shape_and_strides(got)
        for a, b in zip(*[each if isinstance(each, tuple) else (each,) for each in (want, got)]):
            torch.testing.assert_close(a, b)
            if gradients:
                a.sum().backward(retain_graph=True)
                b.sum().backward(retain_graph=True)
                torch.testing.assert_close(mine.grad, its.grad)
    assert jitted.stats.hits == 2
    assert not jitted.stats.entries[0].fallbacks


@pytest.mark.parametrize("function", [with_nothing, flattened, transposed, expanded])
@pytest.mark.parametrize("backend", [turning, "inductor"], ids=["turning", "inductor"])
def test_results_of_changing_sizes_lie_as_those_of_eager(backend, function):
    """What a size becomes is not known when the graph is made; in which order the dimensions lie is."""
    jitted = jit(function, executor=backend)
    for size in (4, 5, 6, 9):
        x = torch.randn(2, size, 3)
        want, got = function(x), jitted(x)
        assert shape_and_strides(want) == shape_and_strides(got)
        torch.testing.assert_close(want, got)
    assert jitted.stats.misses == 2
    assert jitted.stats.hits == 2
    assert not jitted.stats.entries[0].fallbacks
