"""Backends: what they are given, those that fail, those that are slow, and torch's own."""

import threading
import warnings

import pytest
import torch
from torch.nn import functional as F

from interpreter import jit
from interpreter.executors.executor import NotCompiled
from tests.executors.agreement import agree, same, tensor


def test_a_backend_gets_a_graph_and_examples():
    given = []

    def backend(graph, examples):
        given.append((graph, examples))
        return graph.forward

    agree(lambda x: x.sin() + 1, tensor(3), tensor(3), executor=backend, graphs=[1])
    (graph, (example,)) = given[0]
    assert isinstance(graph, torch.fx.GraphModule)
    assert example.shape == (3,)


@pytest.mark.parametrize("name", ["eager", "aot_eager"])
def test_backends_of_torch(name):
    agree(lambda x: x.sin() + 1, tensor(3), tensor(3), executor=torch._dynamo.lookup_backend(name), graphs=[1])


FAILING = {
    "raises": (RuntimeError("no such instruction"), "broken.*no such instruction"),
    "gives no callable": (None, "broken.*None, which can't be called"),
    "fails when called": (lambda *inputs: 1 / 0, "broken.*ZeroDivisionError"),
    "gives a text": (lambda *inputs: "result", "one str where the graph gives a tuple of 1"),
    "gives a tensor that is in no tuple": (lambda x: x.sin(), "one Tensor where the graph gives a tuple of 1"),
    "gives too little": (lambda *inputs: (), "0 results where the graph gives a tuple of 1"),
    "gives another shape": (lambda x: (x.sin()[:2],), r"\[2\] on cpu.*, not a torch.float32 \[3\]"),
    "gives another type": (lambda x: (x.double(),), "float64"),
    "gives no gradient": (lambda x: (x.detach().sin(),), "that needs a gradient"),
}


@pytest.mark.parametrize("how", FAILING)
def test_a_backend_that_fails_is_named_and_eager_serves(how):
    made, reason = FAILING[how]

    def broken(graph, examples):
        if isinstance(made, Exception):
            raise made
        return made

    called = callable(made)
    calls = [tensor(3, requires_grad=True)] * 4
    with pytest.warns(NotCompiled, match=reason) as told:
        jitted = agree(lambda x: x.sin(), *calls, executor=broken, hits=2 if called else 3)
    assert len(told) == 1
    (entry,) = jitted.stats.entries
    (fallback,) = entry.fallbacks
    assert fallback in str(told[0].message)
    assert fallback in jitted.explain()


def test_that_a_program_is_not_compiled_can_be_made_an_error():
    def f(x):
        return torch.autograd.grad((x * x).sum(), x, create_graph=True)

    with pytest.raises(NotCompiled, match="aot.*did not compile"):
        jit(f, executor="aot")(torch.ones(2, requires_grad=True))


def test_a_program_that_writes_before_a_question_is_compiled():
    def f(x, y):
        x.add_(1)
        return y + 1 if x.sum() > 0 else y

    agree(f, *(lambda s=s: (torch.full((3,), s), torch.randn(3)) for s in (0.0, 1.0, -5.0, -6.0, 2.0)), hits=3)


def test_calls_are_served_while_the_compiler_works():
    go = threading.Event()

    def slow(graph, examples):
        go.wait(60)
        return graph.forward

    jitted = agree(lambda x: x.sin(), tensor(3), tensor(3), executor=slow, compile="background", graphs=[1])
    (entry,) = jitted.stats.entries
    assert not entry.program.compiled
    go.set()
    entry.program.wait()
    assert entry.program.compiled
    x = torch.randn(3)
    same(jitted(x), x.sin())


def test_a_failure_in_the_background_is_reported_once():
    def broken(graph, examples):
        raise RuntimeError("no such instruction")

    jitted = jit(lambda x: x.sin(), executor=broken, compile="background")
    x = torch.randn(3)
    jitted(x)
    jitted.stats.entries[0].program.wait()
    with pytest.warns(NotCompiled, match="no such instruction"):
        jitted(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(jitted(x), x.sin())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cudagraphs_need_a_device():
    with pytest.raises(ValueError, match="cudagraphs.*CUDA"):
        jit(torch.sin, executor="cudagraphs")


def test_phases_say_what_compiling_took():
    jitted = agree(lambda x: x.sin(), tensor(3), tensor(3))
    phases = jitted.stats.entries[0].phases
    assert phases["lower"] > 0
    assert phases["backend"] > 0


def test_inductor():
    def f(x, w):
        return (F.silu(x @ w) * x).sum(-1)

    jitted = jit(f, executor="inductor")
    x, w = torch.randn(4, 4), torch.randn(4, 4, requires_grad=True)
    jitted(x, w)
    x = torch.randn(4, 4)
    actual, expected = jitted(x, w), f(x, w)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(torch.autograd.grad(actual.sum(), w), torch.autograd.grad(expected.sum(), w))
    assert jitted.stats.hits == 1
    assert len(jitted.stats.entries[0].graphs) == 1
