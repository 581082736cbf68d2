"""A jitted module is a module, and a jitted function a function: what people do with them besides calling."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

from interpreter.jit import jit


@pytest.fixture
def pair():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Dropout(0.5))
    return module, jit(module)


def test_it_shows_what_the_original_has(pair):
    module, jitted = pair
    assert isinstance(jitted, nn.Module)
    assert list(jitted.state_dict()) == list(module.state_dict())
    assert all(a is b for a, b in zip(jitted.parameters(), module.parameters(), strict=True))
    assert [name for name, _ in jitted.named_modules()] == [name for name, _ in module.named_modules()]
    assert len(jitted) == 3
    assert jitted[0] is module[0]
    assert list(jitted) == list(module)
    assert repr(jitted) == repr(module)
    assert "append" in dir(jitted)
    assert not hasattr(jit(nn.Linear(2, 2)), "__len__")


def test_changes_go_to_the_original(pair):
    module, jitted = pair
    assert jitted.eval() is jitted
    assert not module[2].training
    assert jitted.train() is jitted
    assert jitted.double() is jitted
    assert module[0].weight.dtype == torch.float64
    jitted.float().requires_grad_(False)
    assert not module[0].weight.requires_grad
    jitted.tag = 5
    assert module.tag == 5
    del jitted.tag
    assert not hasattr(module, "tag")
    jitted.load_state_dict({key: value + 1 for key, value in module.state_dict().items()})
    jitted.register_forward_hook(lambda m, args, out: out * 0 + 3)
    assert jitted(torch.ones(2)).tolist() == [3, 3]
    assert jitted(torch.zeros(2)).tolist() == [3, 3]


def test_it_is_a_part_of_other_modules(pair):
    module, jitted = pair
    outer = nn.Sequential(jitted, nn.Tanh())
    assert list(outer.state_dict()) == ["0.0.weight", "0.0.bias"]
    outer.eval()
    assert not module.training
    again = jit(outer)
    for scale in (1, 2, 3):
        assert torch.equal(again(torch.ones(2) * scale), module(torch.ones(2) * scale).tanh())
    assert again.stats.hits == 2
    with torch.no_grad():
        module[0].weight.mul_(2)
    module[1] = nn.GELU()
    assert torch.equal(again(torch.ones(2)), module(torch.ones(2)).tanh())
    assert jit(jitted)._jit.original is module


def test_copies_and_pickles_have_originals_of_their_own(pair):
    module, jitted = pair
    jitted.eval()(torch.ones(2))
    for other in (copy.deepcopy(jitted), pickle.loads(pickle.dumps(jitted))):
        assert type(other).__name__ == "JittedModule"
        assert other[0].weight is not module[0].weight
        assert torch.equal(other(torch.ones(2)), module(torch.ones(2)))
        assert other.stats.calls == 1
    torch.save(jitted.state_dict(), io.BytesIO())


def test_functions_keep_their_names_and_take_every_kind_of_argument():
    @jit
    def scaled(x, /, n, *rest, k=1, **more):
        """Doc."""
        return x * n * k + len(rest) + len(more)

    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "Doc."
    x = torch.ones(2)
    for _ in range(2):
        assert scaled(x, 2).tolist() == [2, 2]
        assert scaled(x, n=2, k=3).tolist() == [6, 6]
        assert scaled(x, 2, 5, 6, z=1).tolist() == [5, 5]
    assert scaled.stats.hits == 3


@pytest.mark.parametrize(
    "make", [lambda: torch.sin, lambda: nn.Linear(2, 2).forward, lambda: lambda x: x * 2, lambda: nn.ReLU().__call__]
)
def test_whatever_can_be_called_can_be_jitted(make):
    original = make()
    jitted = jit(original)
    for scale in (1, 2, 3):
        assert torch.equal(jitted(torch.ones(2) * scale), original(torch.ones(2) * scale))
