"""Executors against eager: results, writes, sharing, gradients, random numbers and exceptions of served calls."""

import math
import warnings

import pytest
import torch
from torch.nn import functional as F

from interpreter import jit
from interpreter.executors.executor import NotCompiled
from tests.executors.agreement import agree, same, tensor

# One graph, or several


def test_a_function_of_tensors_is_one_graph():
    def f(x):
        return F.gelu(x @ x.mT) + 1

    agree(f, tensor(3, 4), tensor(3, 4), graphs=[1])


def test_tensors_made_like_another():
    def f(x):
        y = x.new_zeros(3, 2) + x.new_ones((2,)) + x.new_full((2,), 3.0)
        y.index_copy_(0, torch.tensor([1]), x[:1])
        return y * x.stride(0)

    agree(f, tensor(4, 2), tensor(4, 2), graphs=[1])


def test_sizes_that_change_stay_one_graph():
    def f(x):
        if x.shape[0] > 1:
            x = x.view(x.shape[0] * 4)
        return x * x.shape[0]

    agree(f, *(tensor(n, 4) for n in (3, 5, 7, 9, 2)), graphs=[1, 1], hits=3)


def test_arithmetic_of_sizes_that_change():
    def f(x):
        n = x.shape[0]
        k = min(3, n // 2) + max(1, n - 8)
        m = max(n, 6) - min(n, 5) + math.floor(n / 2)
        return x.topk(k, 0).values * m

    agree(f, *(tensor(n, 4) for n in (4, 6, 7, 9, 5, 11)), executor="aot", hits=4)


def test_a_loop_over_a_size_that_changes():
    """As long as the size that was compiled for, and not for others."""

    def f(x):
        total = 0
        for i in range(x.size(0)):
            total = total + x[i] * i
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)  # an index that may be out of range
        agree(f, *(tensor(n, 2) for n in (2, 3, 4, 2, 3, 4, 5, 3)), executor="aot", hits=3)


def test_where_a_tensor_begins_is_asked_each_time():
    def f(x):
        return x * (x.storage_offset() + 1)

    def rows(n):
        return lambda: (torch.arange(12.0).view(4, 3)[n : n + 2],)

    with pytest.warns(NotCompiled, match="where in its memory a tensor begins"):
        agree(f, rows(0), rows(0), rows(1), rows(2), rows(1), executor="aot", hits=2)


def test_numbers_that_change_beside_truths():
    def f(x, n):
        return x * 2 if n == True else x + (n + True)  # noqa: E712 - the comparison is what is tested

    agree(f, *(lambda n=n: (torch.ones(2), n) for n in (1, 5, 7, 1, 9)), hits=2)


def test_sizes_that_depend_on_data_are_in_the_graph():
    def f(x, weights):
        y = torch.zeros_like(x)
        for row, weight in zip((x > 0).T, weights):
            (chosen,) = torch.where(row)
            y[chosen] += x[chosen] @ weight
        return y

    def make(shift):
        return lambda: (torch.randn(5, 3) + shift, [torch.randn(3, 3) for _ in range(3)])

    agree(f, make(0.0), make(-9.0), make(9.0), make(0.3), graphs=[1])


def test_what_comes_before_code_of_the_users_is_a_graph():
    def f(x, y):
        a = x + y.sin()
        y.requires_grad_(Double.apply(x).requires_grad)
        return a, y

    agree(f, *[lambda: (torch.randn(4), torch.zeros(4))] * 3, graphs=[1])


def test_prints_and_random_numbers_are_done_between_graphs(capsys):
    def f(x):
        y = x.sin()
        print("between", x.shape[0])
        return F.dropout(y, 0.5).cos()

    agree(f, tensor(4), tensor(4), tensor(4), graphs=[2])
    assert capsys.readouterr().out == "between 4\n" * 6


def test_modes_switched_inside():
    def f(x, w):
        with torch.no_grad():
            a = x @ w
        with torch.autocast("cpu", dtype=torch.bfloat16):
            b = x @ w
        return a + 1, b * 2, x @ w

    def make():
        return torch.randn(3, 3), torch.randn(3, 3, requires_grad=True)

    agree(f, make, make, make, graphs=[3])


def test_a_mode_that_is_switched_to_what_it_is():
    def f(x):
        with torch.no_grad():
            y = x.sin()
        return y.cos() * x

    with torch.no_grad():
        agree(f, tensor(3), tensor(3), tensor(3), graphs=[1])
    agree(f, *[tensor(3, requires_grad=True)] * 3, graphs=[2])


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 5


def test_a_users_autograd_function_is_run_as_it_is():
    def f(x):
        return (Double.apply(x.sin()),)

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    same(torch.autograd.grad(jitted(x)[0].sum(), x)[0], torch.autograd.grad(f(x)[0].sum(), x)[0])


# Objects and memory


def test_what_is_returned_is_shared_as_in_eager():
    def f(x, w):
        y = x @ w
        z = y.view(-1)
        return x, x[1:], y, z, y, z[2:], w.T

    jitted = jit(f, executor="aot")
    x, w = torch.randn(3, 3), torch.randn(3, 3)
    jitted(x, w)
    given, part, y, z, again, tail, turned = jitted(x, w)
    assert jitted.stats.hits == 1
    assert given is x
    assert again is y
    y[0, 2] = 7
    x[1, 0] = 8
    w[0, 1] = 9
    assert (z[2], tail[0], part[0, 0], turned[1, 0]) == (7, 7, 8, 9)
    agree(f, *[lambda: (torch.randn(3, 3), torch.randn(3, 3))] * 2)


def test_writes_to_inputs_and_views_of_them():
    def f(x, y):
        x.add_(1)
        x[0].mul_(y)
        return x.view(-1), y + x.sum()

    agree(f, *[lambda: (torch.randn(2, 3), torch.randn(3))] * 3, graphs=[1])


def test_inputs_that_begin_to_share_memory():
    def f(x, y):
        x.add_(1)
        return y * 2

    def apart():
        return torch.randn(4), torch.randn(4)

    def shared():
        whole = torch.randn(4)
        return whole, whole.view(4)

    with pytest.warns(NotCompiled, match="share"):
        agree(f, apart, apart, *[shared] * 7, apart, graphs=None)


def test_statistics_of_a_batch_norm():
    module = torch.nn.BatchNorm1d(3)
    other = torch.nn.BatchNorm1d(3)
    jitted = jit(other, executor="aot")
    for _ in range(3):
        x = torch.randn(5, 3)
        same(module(x), jitted(x))
    same(list(module.buffers()), list(other.buffers()))
    assert jitted.stats.hits >= 1


# Gradients


def test_gradients_by_a_result_of_the_call():
    def f(x):
        h = x.sin()
        return h, (h * h).sum()

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    (h, y), (own, other) = jitted(x), f(x)
    same(torch.autograd.grad(y, [h, x]), torch.autograd.grad(other, [own, x]))


def test_a_hook_on_a_value_made_inside():
    def f(x):
        h = x.sin()
        h.register_hook(lambda gradient: gradient * 10)
        return h.cos() + h

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    same(torch.autograd.grad(jitted(x).sum(), x), torch.autograd.grad(f(x).sum(), x))


# Leaving a compiled program


def test_a_branch_on_data_does_nothing_twice(capsys):
    def f(x):
        noise = torch.rand(3)
        print("once")
        y = x * noise
        if y.sum() > 0:
            return y + torch.rand(3)
        return y - 1

    agree(f, *(lambda s=s: (torch.full((3,), s),) for s in (1.0, 2.0, -1.0, -2.0, 3.0, -3.0)), hits=4)
    assert capsys.readouterr().out == "once\n" * 12


def test_a_branch_reads_what_was_computed_before_it():
    def f(x):
        a = x.sin()
        b = a.cos()
        if b.sum() > 2:
            return b + 1
        return a * 2, b

    agree(f, *(lambda s=s: (torch.full((3,), s),) for s in (0.0, 1.5, 0.1, 1.4, 0.0)), hits=3)


def test_an_exception_is_that_of_the_operation():
    def f(table, index):
        try:
            return table[index].sin()
        except IndexError as error:
            return str(error)

    agree(f, *(lambda n=n: (torch.randn(4), torch.tensor([0, n])) for n in (1, 2, 9, 3)), hits=2)


def test_numbers_asked_of_inputs_are_asked_first():
    def f(cache, position, x):
        cache[:2].add_(x)
        if position.item() < 2:
            return cache.sum()
        return cache.cumsum(0) * x

    calls = [lambda n=n: (torch.ones(4), torch.tensor(n), torch.tensor(2.0)) for n in (0, 1, 2, 3, 0, 2)]
    agree(f, *calls, hits=4, graphs=[2])
