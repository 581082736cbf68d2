"""Gradients through compiled programs of values that are written to, seen, or shared before and after a graph ends."""

import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter import jit
from interpreter.executors.executor import NotCompiled
from tests.executors.agreement import same


def doubled(gradient):
    return gradient if gradient is None else gradient * 2


#: What may end a graph.
BREAKS = {
    "nothing": lambda value: None,
    "a print": lambda value: print(end=""),
    "a question": lambda value: bool(value.sum() > -1000),
    "a hook": lambda value: value.register_hook(doubled) if value.requires_grad else None,
}


def gradients(results, leaves):
    """Of each result by each leaf: zeros where there is none (a graph gives these), nan where autograd raises."""
    found = []
    for result in results:
        if isinstance(result, torch.Tensor) and result.requires_grad:
            try:
                slopes = torch.autograd.grad(result.sum(), leaves, retain_graph=True, allow_unused=True)
            except RuntimeError:
                found.append(math.nan)
            else:
                found.append([torch.zeros(4) if slope is None else slope for slope in slopes])
    return found


def agree_in_gradients(function, rows=(3, 3, 4, 5, 4), executor="aot"):
    """Results, whether they need gradients, and these, on calls that are recorded and served."""
    jitted = jit(function, executor=executor)
    for count in rows:
        x = torch.rand(count, 4, generator=torch.Generator().manual_seed(count))
        outcomes = []
        for each in (function, jitted):
            leaves = [torch.full((4,), 1.5, requires_grad=True), torch.full((4,), 0.5, requires_grad=True)]
            try:
                results = each(x.clone(), *leaves)
            except RuntimeError as error:
                outcomes.append(type(error))
                continue
            outcomes.append([results, gradients(results, leaves)])
        if type(outcomes[0]) is not list or type(outcomes[1]) is not list:
            assert outcomes[0] == outcomes[1]
            continue
        (expected, slopes), (actual, others) = outcomes
        same(expected, actual)
        for mine, other in zip(slopes, others, strict=True):
            torch.testing.assert_close(mine, other, equal_nan=True)
    return jitted


@pytest.mark.parametrize("between", BREAKS)
@pytest.mark.parametrize("late", [False, True], ids=["needs a gradient", "comes to need one"])
def test_a_value_that_is_written_to_after_a_graph_has_ended(between, late):
    """A write to what an earlier graph gave is followed by autograd, also where the value needed no gradient before."""

    def f(x, w, v):
        y = x.clone() if late else x * w
        BREAKS[between](y)
        y.mul_(v)
        return (y,)

    assert agree_in_gradients(f).stats.hits == 3


@pytest.mark.parametrize("between", BREAKS)
def test_a_view_of_it(between):
    def f(x, w, v):
        y = x * w
        row, whole = y[0], y.view(-1)
        BREAKS[between](y)
        row.mul_(v)
        z = whole * 2
        y.add_(1)
        return y, z, row, whole

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)  # a graph that would write to what two of its inputs share
        agree_in_gradients(f)


def test_a_value_that_is_written_to_and_seen_is_one_graph():
    """It needs to be seen as it is after the last write: before that a graph need not end."""

    def f(x, w, v):
        y = x.clone()
        y.add_(w)
        y.mul_(v)
        return (y,)

    def g(x, w, v):
        (y,) = f(x, w, v)
        return y, y.mean(0)

    assert [len(entry.graphs) for entry in agree_in_gradients(f).stats.entries] == [1, 1]
    assert [len(entry.graphs) for entry in agree_in_gradients(g).stats.entries] == [2, 2]


def test_parts_of_a_result_that_is_no_part_of_a_graph():
    """What is taken from it is done where it is done: graphs take tensors, not tuples."""
    rnn = torch.nn.LSTM(4, 4)

    def f(x, w, v):
        out, (h, c) = rnn((x * w)[None])
        return out * v, h + c

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        agree_in_gradients(f)


def test_sparse_values_between_graphs():
    """They have no memory that could be asked for, and graphs go on around them."""

    def f(x, w, v):
        dense = (x * w).relu() * v
        return dense, torch.sparse.mm((x * w).to_sparse(), w.expand(4, 4))

    assert all(entry.graphs for entry in agree_in_gradients(f).stats.entries)


def test_parts_of_a_result_that_is_seen():
    """Where one part of a tuple has to end a graph, all its parts do."""

    def f(x, w, v):
        first, second, third = (x * w).split((1, 1, 2), -1)
        return first, first * second, second, third.sum() * 2

    agree_in_gradients(f)


@pytest.mark.parametrize("drop", [0.0, 0.1])
@pytest.mark.parametrize("training", [False, True])
def test_attention_is_in_a_graph_where_it_draws_nothing(drop, training):
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=drop).train(training)
    jitted = jit(layer, executor="aot")
    for rows in (3, 3, 4):
        x = torch.rand(2, rows, 4)
        torch.manual_seed(0)
        expected = layer(x)
        torch.manual_seed(0)
        torch.testing.assert_close(jitted(x), expected)
    if drop == 0.0 or not training:
        assert [len(entry.graphs) for entry in jitted.stats.entries] == [1, 1]


def test_gradients_of_gradients_inside_are_left_to_the_eager_executor():
    def f(x, w, v):
        y = x * w
        (slope,) = torch.autograd.grad((y**3).sum(), w, create_graph=True)
        return (slope * v,)

    with pytest.warns(NotCompiled, match="a gradient is made to have gradients"):
        agree_in_gradients(f)


STEPS = st.tuples(
    st.sampled_from(["add", "write", "write w", "row", "write row", "detach", "no grad", "seen", *BREAKS]),
    st.integers(0, 7),
    st.integers(0, 7),
)


def program(steps):
    """A function of x and two leaves, of steps on a list of values."""

    def f(x, w, v):
        values, given = [x.clone(), x * w], []
        for kind, i, j in steps:
            one, other = values[i % len(values)], values[j % len(values)]
            if kind == "add":
                values.append(one + other.mean() * v)
            elif kind == "write":
                one.mul_(other.mean())
            elif kind == "write w":
                one.add_(v)
            elif kind == "row":
                values.append(one[..., 1:3].repeat(1, 2) if one.dim() == 2 else one)
            elif kind == "write row":
                one[0] = v * 2
            elif kind == "detach":
                values.append(one.detach())
            elif kind == "no grad":
                with torch.no_grad():
                    one.add_(1)
            elif kind == "seen":
                given.append(one)
            else:
                BREAKS[kind](one)
        return (*given, values[-1], values[0])

    return f


@pytest.mark.parametrize("way", ["requires_grad_", "requires_grad", "detach_", "data"])
def test_a_value_that_is_made_to_need_one(way):
    """Or to need none, by what is no operation of a graph."""

    def f(x, w, v):
        y = x.clone() if way.startswith("requires") else x * w
        if way == "requires_grad_":
            y.requires_grad_()
        elif way == "requires_grad":
            y.requires_grad = True
        elif way == "detach_":
            y.detach_()
        else:
            y.data = y.data * 2
        z = y * v
        z.mul_(y)
        slopes = torch.autograd.grad(z.sum(), [y], retain_graph=True) if y.requires_grad else ()
        return z, *slopes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        assert agree_in_gradients(f).stats.hits == 3


@pytest.mark.parametrize("executor", ["aot", "inductor"])
def test_what_a_write_overwrites_is_kept_for_the_backward_pass(executor):
    def f(x, w, v):
        y = x * w
        print(end="")
        y.mul_(w)
        return (y,)

    agree_in_gradients(f, rows=(3, 3), executor=executor)


def test_a_write_to_what_is_given():
    """Its history is seen by who gave it, and can't be taken back: that is said."""
    jitted = jit(lambda y, v: (y.mul_(v), y.sum()), executor="aot")
    with pytest.warns(NotCompiled, match="in a way that autograd follows"):
        for _ in range(3):
            v = torch.full((4,), 0.5, requires_grad=True)
            y, z = v * 3, v * 3
            jitted(y, v)
            z.mul_(v)
            same(torch.autograd.grad(z.sum(), v), torch.autograd.grad(y.sum(), v))
    assert jitted.stats.hits == 2


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_random_steps(steps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        agree_in_gradients(program(steps), rows=(3, 3, 4, 4))
