"""Compiling beside a program that runs: neither notices the other."""

import subprocess
import sys
import textwrap
import warnings

import pytest
import torch

from interpreter import jit
from interpreter.executors.executor import NotCompiled


def chain(x, w):
    for _ in range(30):
        x = torch.nn.functional.silu(x @ w) + x
    return x


@pytest.fixture(autouse=True)
def no_silent_fallback():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        yield


def compiling(jitted):
    (entry,) = jitted.stats.entries
    return entry.program.busy()


def test_what_runs_meanwhile_draws_its_own_numbers():
    torch.manual_seed(0)
    expected = torch.rand(5000)
    torch.manual_seed(0)
    jitted = jit(chain, executor="aot", compile="background")
    jitted(torch.ones(2, 2), torch.ones(2, 2, requires_grad=True))
    drawn, methods = [], set()
    while compiling(jitted):
        if len(drawn) < 5000:
            drawn.append(torch.rand(1))
        methods.add((torch.nn.Module.__call__, torch.nn.Module.__getattr__))
    assert jitted.stats.entries[0].program.compiled
    assert torch.equal(torch.cat(drawn), expected[:len(drawn)])
    assert methods == {(torch.nn.Module.__call__, torch.nn.Module.__getattr__)}


def test_several_at_once():
    functions = [lambda x, w, n=n: chain(x, w) * n for n in range(4)]
    several = [jit(function, executor="aot", compile="background") for function in functions]
    for _ in range(3):
        for function, jitted in zip(functions, several):
            x, w = torch.randn(2, 2), torch.randn(2, 2)
            assert torch.equal(function(x, w), jitted(x, w))
    for function, jitted in zip(functions, several):
        jitted.stats.entries[0].program.wait()
        x, w = torch.randn(2, 2), torch.randn(2, 2)
        assert torch.equal(function(x, w), jitted(x, w))
        assert jitted.stats.entries[0].program.compiled
        assert jitted.stats.misses == 1


def test_a_program_that_ends_while_something_is_compiled():
    text = """
        import torch, interpreter
        jitted = interpreter.jit(lambda x: x.sin() + 1, executor="aot", compile="background")
        print(jitted(torch.zeros(2)))
        raise SystemExit(3)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (3, "tensor([1., 1.])\n"), done.stderr
