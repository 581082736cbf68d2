"""Compiled programs that are left in the middle: nothing is done twice, and nothing is left out.

Each scene writes to tensors from outside the call, and is left after that: by an exception, by another answer to a
question, by a backend that fails when all is done. Eager and jitted go through the same calls in step, each with a
tensor of its own that lives on from call to call.
"""

import warnings

import pytest
import torch

from interpreter import jit
from interpreter.executors.executor import NotCompiled
from tests.executors.jits import graph_itself

VALUES = [1.0, 2.0, 1.5, -1.0, -2.0, -2.0, 2.0, 1.0, -0.5, 3.0, 9.0]
PLACES = [0, 0, 1, 0, 1, 9, 9, 1, 2, 2, 9]  # 9 is out of range


def fails_when_done(graph, examples):
    """A backend that raises in each third call, after all has been done."""
    calls = []

    def run(*inputs):
        result = graph.forward(*inputs)
        calls.append(None)
        if len(calls) % 3 == 0:
            raise RuntimeError("late")
        return result

    return run


def prints_between(x, y, i):
    y.add_(1)
    print("a", end="")
    z = y[i]
    y.mul_(2)
    print("b", end="")
    return z + y.sum()


def draws_between(x, y, i):
    y.add_(1)
    y.mul_(torch.rand(3))
    return y[i] * torch.rand(1)


def asks_after_a_write(x, y, i):
    y.add_(1)
    if x.sum() > 0:
        y.mul_(2)
        return y[i]
    y.sub_(5)
    print("n", end="")
    return y[i] * x.sum()


def reads_before_it_writes(x, y, i):
    a = y.sum()
    y.add_(1)
    if x.sum() > 0:
        if y[i].sum() > 3:
            y.zero_()
            return a + y[i]
        return a
    return y * a


def writes_in_a_branch(x, y, i):
    a = y.sum()
    if x.sum() > 0:
        return x * 2 + a
    y.add_(1)
    print("p", end="")
    return y[i] + a


def overwrites(x, y, i):
    y[:2] = x[:2]
    return y[i] * torch.rand(1)


def writes_a_cache_twice(x, y, i):
    y.index_copy_(0, i, x[:1])
    s = y.sum()
    torch.rand(1)
    y.index_copy_(0, i, x[1:2])
    return s + y.sum()


def catches(x, y, i):
    y.add_(1)
    try:
        z = y[i]
    except IndexError:
        z = torch.zeros(1)
    y.mul_(3)
    return z + y


def asks_again_and_again(x, y, i):
    y.add_(x)
    if y.sum() > 4:
        y.mul_(2)
        if y.max() > 8:
            y.fill_(1)
            return y[i]
        return y[i] + 1
    y.sub_(1)
    return y[i]


def in_inference_mode(x, y, i):
    with torch.inference_mode():
        y.add_(1)
        a = y[i] * 2
        torch.rand(1)
        y.mul_(2)
    return a.clone()


def draws_into_what_is_given(x, y, i):
    y.normal_()
    return y[i]


SCENES = [
    prints_between,
    draws_between,
    asks_after_a_write,
    reads_before_it_writes,
    writes_in_a_branch,
    overwrites,
    writes_a_cache_twice,
    catches,
    asks_again_and_again,
    in_inference_mode,
    draws_into_what_is_given,
]


def result(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("executor", ["aot", graph_itself, fails_when_done])
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_done_twice(scene, executor, capsys):
    jitted = jit(scene, executor=executor)
    mine, theirs = torch.ones(3), torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        for number, (value, i) in enumerate(zip(VALUES, PLACES)):
            told = []
            for function, y in ((scene, mine), (jitted, theirs)):
                torch.manual_seed(number)
                x = torch.full((3,), value)
                found = result(function, x, y, torch.tensor([i]))
                told.append(f"{found} {x} {y} {torch.rand(1)} {capsys.readouterr().out}")
            assert told[0] == told[1], number
    assert jitted.stats.misses == 1
    assert jitted.stats.exits > 0


def test_a_write_that_autograd_follows_is_left_to_eager():
    def scene(x, w):
        y = x * 1
        return inner(y, w)

    def write(y, w):
        y.mul_(w)
        return y.sum()

    inner = jit(write, executor="aot")
    w = torch.ones(3, requires_grad=True)
    with pytest.warns(NotCompiled, match="autograd follows"):
        scene(torch.ones(3, requires_grad=True), w)
    scene(torch.ones(3, requires_grad=True), w).backward()
    assert torch.equal(w.grad, torch.ones(3))
    assert inner.stats.hits == 1


def test_in_inference_mode_everything_is_compiled():
    def f(x, y):
        with torch.inference_mode():
            y.add_(1)
            z = x @ y
            return z.sin()

    jitted = jit(f, executor="aot")
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for _ in range(3):
            result = jitted(torch.randn(3, 3), torch.randn(3, 3))
    assert result.is_inference()
    (entry,) = jitted.stats.entries
    assert [len(form.graphs) for form in entry.program.compiled] == [1]


@pytest.mark.parametrize("executor", ["eager", "aot", graph_itself])
def test_left_in_inference_mode(executor):
    def f(x, w, y):
        with torch.inference_mode():
            y.copy_(x * w)
            if y.sum() > 0:
                return (x * w).sum()
            y.add_(w)
            return y.sum() * w

    w = torch.ones(2, requires_grad=True)
    jitted = jit(f, executor=executor)
    mine, theirs = torch.zeros(2), torch.zeros(2)
    for value in (1.0, 2.0, -1.0, -2.0, 3.0, -4.0):
        x = torch.full((2,), value)
        expected, found = f(x, w, mine), jitted(x, w, theirs)
        assert str(expected) == str(found)
        assert str(mine) == str(theirs)
        assert found.is_inference()
        assert not torch.is_inference_mode_enabled()
    assert (jitted.stats.exits, jitted.stats.misses) == (1, 1)


def test_a_caller_in_inference_mode():
    def f(x, cache):
        cache[:1] = x
        return cache @ x.T

    jitted = jit(f, executor="aot")
    mine, theirs = torch.zeros(2, 3), torch.zeros(2, 3)
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for _ in range(3):
            x = torch.randn(1, 3)
            assert torch.equal(f(x, mine), jitted(x, theirs))
            assert torch.equal(mine, theirs)
    assert jitted.stats.hits == 2
