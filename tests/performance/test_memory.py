"""What recording and replaying hold on to: peaks against eager's, programs of deep models, and growth over many
calls.
"""

import gc
import types
import weakref

import pytest
import torch

from harness.memory import profiled
from interpreter import jit


def chain(x):
    for _ in range(20):
        x = (x.sin() + 1).view(-1).cos()
    return x.sum()


class Layers(torch.nn.Module):
    def __init__(self, count=8, width=400):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


@pytest.mark.parametrize("name", ["chain", "layers"])
def test_no_call_holds_more_than_eager(name):
    """By the allocator's own count, the recording call and the replays keep no more intermediate results alive than
    eager does.
    """
    call, x = (chain, torch.randn(40_000)) if name == "chain" else (Layers(), torch.randn(100, 400))
    with torch.no_grad():
        call(x)
        eager = profiled(lambda: call(x))
        jitted = jit(call)
        peaks = [profiled(lambda: jitted(x)) for _ in range(3)]
    if eager is None:
        pytest.skip("this torch has no profiler")
    assert jitted.stats.hits == 2
    assert 0 < max(peaks) <= 1.05 * eager


def test_many_recordings_do_not_accumulate():
    """10,000 calls with 50 recordings leave as many objects as 5,000 with 25: entries are bounded and what they replace
    is freed.
    """
    space = types.ModuleType("space")
    exec("mode = 0\ndef f(x):\n    return x + len(mode)", space.__dict__)

    def round_of_calls(jitted):
        for number in range(25):
            space.mode = "m" * (number % 5 + 1)
            for _ in range(200):
                jitted(x)
        gc.collect()
        return len(gc.get_objects())

    x = torch.ones(2)
    jitted = jit(space.f)
    round_of_calls(jitted)
    before = round_of_calls(jitted)
    after = round_of_calls(jitted)
    assert after - before < 200
    assert jitted.stats.calls == 15_000


def test_an_entry_lets_go_of_a_module_that_was_replaced():
    """A global module is replaced by another: once a call has gone to the new one, nothing of ours keeps the old one
    alive.
    """
    space = types.ModuleType("space")
    exec("def f(x):\n    return model(x)", space.__dict__)
    space.model = torch.nn.Linear(3, 3)
    jitted, x = jit(space.f), torch.ones(1, 3)
    for _ in range(3):
        jitted(x)
    old = weakref.ref(space.model)
    space.model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    assert torch.equal(jitted(x), space.model(x))
    gc.collect()
    assert old() is None


def test_a_jitted_module_is_freed_with_its_jit():
    """Dropping the module and its jit frees the parameters."""
    module = torch.nn.Linear(3, 3)
    jitted = jit(module)
    for _ in range(3):
        jitted(torch.ones(1, 3))
    parameter = weakref.ref(module.weight)
    del module, jitted
    gc.collect()
    assert parameter() is None


@pytest.mark.parametrize("calls", [1, 2, 3, 5])
def test_no_argument_outlives_its_call(calls):
    """However often a program has served, what it was given is freed with the caller's last reference."""
    jitted = jit(Layers(2, 8))
    for _ in range(calls):
        x = torch.ones(1, 8)
        result = jitted(x)
        alive = weakref.ref(x)
        del x
        del result  # autograd holds the inputs of its graph
        gc.collect()
        assert alive() is None
