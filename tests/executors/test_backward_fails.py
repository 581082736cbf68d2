"""Backends whose backward pass can't be made, or raises: results, gradients and errors are eager's, and it is said."""

import warnings

import pytest
import torch
from torch._dynamo.backends.common import aot_autograd

from interpreter import jit
from interpreter.executors.executor import NotCompiled


def as_it_is(graph, examples):
    return graph.forward


def no_backward_can_be_made(graph, examples):
    raise RuntimeError("no such instruction")


def no_backward_runs(graph, examples):
    def run(*inputs):
        raise RuntimeError("no such instruction")

    return run


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("no such instruction")


def with_a_function_of_its_own(graph, examples):
    return lambda *inputs: tuple(Broken.apply(result) for result in graph(*inputs))


BACKENDS = {
    "its backward can't be compiled": aot_autograd(fw_compiler=as_it_is, bw_compiler=no_backward_can_be_made),
    "its backward raises when it is run": aot_autograd(fw_compiler=as_it_is, bw_compiler=no_backward_runs),
    "an autograd function of its own raises": with_a_function_of_its_own,
}
WORKING = aot_autograd(fw_compiler=as_it_is, bw_compiler=as_it_is)


class Layers(torch.nn.Module):
    """Parameters, buffers that are written to, a size that is returned, two results, one of which has no gradient."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.unused = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        y = self.norm(self.linear(x))
        return y.relu(), (y.detach() > 0).sum(), x.shape[0]


def step(module, callee, seed):
    """All that a step of training gives and leaves behind."""
    torch.manual_seed(seed)
    x = torch.randn(5, 4, requires_grad=True)
    module.zero_grad()
    result, count, size = callee(x)
    result.square().sum().backward()
    gradients = [parameter.grad for parameter in module.parameters()]
    buffers = [buffer.clone() for buffer in module.buffers()]
    return [result, count, size, x.grad, *gradients, *buffers, result.requires_grad, count.requires_grad]


def same(a, b):
    assert len(a) == len(b)
    for mine, other in zip(a, b):
        assert torch.equal(mine, other) if isinstance(mine, torch.Tensor) else mine == other


@pytest.mark.parametrize("how", BACKENDS)
@pytest.mark.parametrize("grad_scope", [torch.enable_grad, lambda: torch.autocast("cpu", torch.bfloat16)])
def test_a_step_of_training_is_eagers(how, grad_scope):
    eager, other = Layers(), Layers()
    jitted = jit(other, executor=BACKENDS[how])

    def within(callee):
        def call(x):
            with grad_scope():
                return callee(x)

        return call

    with pytest.warns(NotCompiled, match="no such instruction") as told:
        for seed in range(4):
            same(step(eager, within(eager), seed), step(other, within(jitted), seed))
    assert len([each for each in told if each.category is NotCompiled]) == 1
    assert jitted.stats.hits == 3
    (entry,) = jitted.stats.entries
    (fallback,) = entry.fallbacks
    assert "no such instruction" in fallback
    assert not entry.program.compiled


def served(function, backend=WORKING):
    """`function` jitted, with a program that was compiled and has served."""
    jitted = jit(function, executor=backend)
    for _ in range(2):
        jitted(torch.randn(3, requires_grad=True))
    assert jitted.stats.hits == 1
    return jitted


def raised(function):
    with pytest.raises(RuntimeError) as error:
        function()
    return str(error.value)


def of_all(x):
    return (x.sin() * x).cos()


def of_some(x):
    """How many there are, the data decides, and the gradient needs to know: it is compiled along with the call."""
    return of_all(x[torch.nonzero(x > 0).squeeze(1)]).sum()


@pytest.mark.parametrize("backend", [WORKING, "aot"])
@pytest.mark.parametrize("f", [of_all, of_some])
@pytest.mark.parametrize("proven", [False, True])
def test_backward_twice(proven, f, backend):
    jitted = served(f, backend)
    if proven:
        jitted(torch.randn(3, requires_grad=True)).sum().backward()
    x = torch.randn(3, requires_grad=True)
    for callee in (f, jitted):
        x.grad = None
        loss = callee(x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        assert torch.allclose(x.grad, 2 * torch.autograd.grad(f(x).sum(), x)[0])
        assert "second time" in raised(loss.backward)
    assert not jitted.stats.entries[0].fallbacks


def test_a_result_is_changed_in_place():
    def f(x):
        return x.sin() * 2

    x = torch.randn(3, requires_grad=True)
    gradients = []
    for callee in (f, served(f)):
        y = callee(x)
        y.mul_(3)
        gradients += torch.autograd.grad(y.square().sum(), x)
    same(gradients[:1], gradients[1:])


@pytest.mark.parametrize("backend", [WORKING, *BACKENDS.values()])
def test_a_gradient_of_a_gradient_is_refused_and_not_wrong(backend):
    jitted = served(lambda x: x.sin(), backend)
    x = torch.randn(3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        (first,) = torch.autograd.grad(jitted(x).sum(), x, create_graph=True)
    assert torch.allclose(first, x.cos())
    assert "gradients of gradients" in raised((first.sum() + x.sum()).backward)


def test_an_input_that_changed_meanwhile():
    """Its gradients can't be had from it any more: the backend's error is not kept back."""
    jitted = served(lambda x: x * 2, BACKENDS["its backward can't be compiled"])
    x = torch.randn(3, requires_grad=True)
    y = jitted(x)
    with torch.no_grad():
        x.add_(1)
    assert "no such instruction" in raised(y.sum().backward)


def test_after_a_backward_that_worked_nothing_is_watched():
    jitted = served(lambda x: x.sin())
    (piece,) = jitted.stats.entries[0].program.compiled[0].pieces
    x = torch.randn(3, requires_grad=True)
    assert "OnProbation" in type(jitted(x).grad_fn).__name__
    jitted(x).sum().backward()
    assert piece.proven
    assert "OnProbation" not in type(jitted(x).grad_fn).__name__


class TwoBiases(torch.nn.Module):
    """Their gradients are one sum, which Inductor's C++ stores twice."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)

    def forward(self, x):
        return self.a(x) + self.b(x.sin())


@pytest.mark.long
def test_code_that_the_compiler_refuses_is_written_otherwise():
    eager, other = TwoBiases().half(), TwoBiases().half()
    jitted = jit(other, executor="inductor")
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for _ in range(2):
            x = torch.randn(3, 32, 64, dtype=torch.float16)
            for module, callee in ((eager, eager), (other, jitted)):
                module.zero_grad()
                callee(x).float().square().mean().backward()
    assert jitted.stats.hits == 1
    for mine, theirs in zip(eager.parameters(), other.parameters()):
        assert torch.allclose(mine.grad.float(), theirs.grad.float(), rtol=2e-3, atol=1e-6)
    (piece,) = jitted.stats.entries[0].program.compiled[0].pieces
    assert piece.proven
