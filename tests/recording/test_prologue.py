"""The three gears of a prologue say the same: guards one by one, the generated check, and the check with a snapshot."""

import collections
import types

import pytest
import torch

from interpreter import jit
from interpreter.recording import warm
from interpreter.recording.generated import Generator


class Inner(torch.nn.Module):
    factor = 2

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("offset", torch.zeros(2))
        self.scale = 1.5
        self.names = ["a", "b"]
        self.table = {"x": 1, "y": None}
        self.order = collections.OrderedDict(p=1, q=2)

    def forward(self, x, flag=True):
        for name in self.names:
            x = x + len(name)
        if "z" in self.table:
            x = x - 1
        for key in self.order:
            x = x * self.order[key]
        return self.linear(x) * self.scale * self.factor + self.offset if flag else x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Inner() for _ in range(3))
        self.extra = None

    def forward(self, x, flag=True):
        for block in self.blocks:
            x = block(x, flag)
        return x if self.extra is None else x + SPACE.bias


SPACE = types.SimpleNamespace(bias=3)
X = torch.ones(1, 2)


def mutations():
    """(name, change of a model, whether the program still serves): what a guard could look at, and what none does."""
    hook = lambda module, args: None  # noqa: E731
    return [
        ("nothing", lambda m: None, True),
        ("values of a parameter", lambda m: m.blocks[1].linear.weight.data.add_(1), True),
        ("another attribute", lambda m: setattr(m, "unrelated", 5), True),
        ("another attribute, below", lambda m: setattr(m.blocks[2], "unrelated", 5), True),
        ("an equal float", lambda m: setattr(m.blocks[0], "scale", float("1.5")), True),
        ("an equal list", lambda m: setattr(m.blocks[0], "names", ["a", "b"]), True),
        (
            "a parameter of the same kind",
            lambda m: setattr(m.blocks[0].linear, "weight", torch.nn.Parameter(torch.ones(2, 2))),
            True,
        ),
        ("a submodule of the same kind", lambda m: setattr(m.blocks[1], "linear", torch.nn.Linear(2, 2)), True),
        ("a float", lambda m: setattr(m.blocks[2], "scale", 2.0), False),
        ("an int for a float", lambda m: setattr(m.blocks[2], "scale", 1), False),
        ("an item of a list", lambda m: m.blocks[0].names.__setitem__(1, "bb"), False),
        ("a longer list", lambda m: m.blocks[0].names.append("c"), False),
        ("a key that was absent", lambda m: m.blocks[0].table.update(z=1), False),
        ("the order of keys", lambda m: m.blocks[1].order.move_to_end("p"), False),
        ("a forward hook", lambda m: m.blocks[1].register_forward_pre_hook(hook), False),
        ("a parameter of another dtype", lambda m: m.blocks[1].linear.to(torch.float64), False),
        ("no bias", lambda m: setattr(m.blocks[1].linear, "bias", None), False),
        ("requires_grad", lambda m: m.blocks[1].linear.requires_grad_(False), False),
        ("an instance attribute over a class attribute", lambda m: setattr(m.blocks[0], "factor", 3), False),
        ("a class attribute", lambda m: setattr(Inner, "factor", 7), False),
        ("forward on the instance", lambda m: setattr(m.blocks[0], "forward", lambda x, flag: x), False),
        ("a longer module list", lambda m: m.blocks.append(Inner()), False),
        ("an attribute that was None", lambda m: setattr(m, "extra", 1), False),
        (
            "the class of a submodule",
            lambda m: setattr(m.blocks[1].linear, "__class__", type("Other", (torch.nn.Linear,), {})),
            False,
        ),
    ]


@pytest.fixture(autouse=True)
def restored():
    yield
    Inner.factor = 2


def outcome(call):
    """The result as numbers, or the exception's type and message."""
    try:
        return call(X).tolist()
    except Exception as error:
        return type(error), str(error)


def verdicts(prologue, args, kwargs):
    """What each gear says of a call: whether the program serves."""
    found = {
        "cold": prologue.values(args, kwargs) is not None,
        "generated": Generator(prologue.layout).write()[0](args, kwargs) is not None,
    }
    found["in use"] = prologue.check(args, kwargs) is not None
    return found


@pytest.mark.parametrize("calls", [1, 2, 5], ids=["cold", "one hit", "warm"])
@pytest.mark.parametrize("name, change, serves", mutations(), ids=lambda value: value if isinstance(value, str) else "")
def test_all_gears_agree(name, change, serves, calls):
    """After a change every gear gives the same verdict, which is the right one, however often the program has been
    used.
    """
    model = Model().eval()
    jitted = jit(model)
    with torch.no_grad():
        for _ in range(calls):
            jitted(X)
        prologue = jitted.stats.entries[0].prologue
        change(model)
        assert verdicts(prologue, (X,), {}) == dict.fromkeys(("cold", "generated", "in use"), serves)
        assert outcome(jitted) == outcome(model)


@pytest.mark.parametrize(
    "args, kwargs, serves",
    [
        ((X + 1,), {}, True),
        ((torch.ones(2, 2),), {}, False),
        ((X, True), {}, False),
        ((X,), {"flag": True}, False),
        ((X.double(),), {}, False),
        ((X.numpy(),), {}, False),
        ((), {}, False),
    ],
    ids=str,
)
def test_all_gears_look_at_the_arguments(args, kwargs, serves):
    """Arguments are looked at in every gear: their number, names, types, and what tensors are like."""
    model = Model().eval()
    jitted = jit(model)
    with torch.no_grad():
        for _ in range(3):
            jitted(X)
        prologue = jitted.stats.entries[0].prologue
        assert verdicts(prologue, args, kwargs) == dict.fromkeys(("cold", "generated", "in use"), serves)


def test_a_volatile_dict_does_not_keep_the_prologue_cold():
    """A module that counts its calls in an attribute nobody reads: the dict changes each time, and the snapshot copes
    with it.
    """
    if not warm.AVAILABLE:
        pytest.skip("versions of dicts can't be had here")
    model = Model().eval()
    jitted = jit(model)
    with torch.no_grad():
        for number in range(20):
            model.unrelated = number
            jitted(X)
    prologue = jitted.stats.entries[0].prologue
    assert (jitted.stats.misses, jitted.stats.hits) == (1, 19)
    assert prologue.snapshots <= 4
