"""Scenes about modules: their trees, hooks, copies and states, and what is replaced in them."""

from __future__ import annotations

import copy
import functools

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def module_tree_changes():
    m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Sequential(nn.Linear(3, 2), nn.GELU()))
    shared = nn.Linear(2, 2)
    return Scene(
        m,
        [
            (torch.ones(2, 2),),
            (torch.ones(2, 2),),
            lambda: m.eval(),
            (torch.ones(2, 2),),
            lambda: m.append(shared),
            (torch.ones(2, 2),),
            lambda: m.append(shared),
            (torch.ones(2, 2),),
            lambda: setattr(shared, "weight", nn.Parameter(torch.ones(2, 2))),
            (torch.ones(2, 2),),
            lambda: m.train(),
            lambda: m[1].eval(),
            (torch.ones(2, 2),),
            (torch.ones(2, 2),),
            lambda: m.double(),
            (torch.ones(2, 2).double(),),
        ],
        hits=2,
        backward=True,
    )


@scene
def walking_modules_and_states():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)
            self.b = self.a
            self.c = nn.ModuleDict({"x": nn.ReLU(), "y": nn.Linear(2, 2, bias=False)})
            self.p = nn.ParameterDict({"k": torch.ones(2)})

        def forward(self, x):
            names = [name for name, _ in self.named_parameters()]
            kinds = [type(module).__name__ for module in self.modules()]
            state = {key: value.sum() for key, value in self.state_dict().items()}
            total = sum(p.numel() for p in self.parameters())
            for name, child in self.named_children():
                if name != "p":
                    x = child(x) if name != "c" else child["y"](child["x"](x))
            return x * self.p["k"], names, kinds, state, total, self.get_submodule("c.y") is self.c["y"]

    m = M()
    return Scene(
        m,
        [
            (X(),),
            (X(),),
            lambda: setattr(m, "b", nn.Linear(2, 2)),
            (X(),),
            (X(),),
            lambda: m.c.update({"z": nn.Tanh()}),
            (X(),),
        ],
        hits=2,
    )


@scene
def copies_of_modules_and_tensors():
    def f(m, x):
        n = copy.deepcopy(m)
        with torch.no_grad():
            for p in n.parameters():
                p.mul_(2)
        shallow = copy.copy(m)
        y = copy.deepcopy(x)
        return (
            n(x) + m(x),
            shallow is m,
            shallow.weight is m.weight,
            y,
            copy.copy([x])[0] is x,
            copy.deepcopy({"a": [x, x]}),
        )

    return Scene(f, [(nn.Linear(2, 2), X()), (nn.Linear(2, 2), X()), (nn.Linear(2, 2, bias=False), X())], tail=True)


@scene
def parametrized_modules():
    m = nn.Sequential(
        torch.nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)),
        torch.nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2)),
    )
    return Scene(
        m, [(torch.ones(2, 2),)] * 3 + [lambda: m.eval(), (torch.ones(2, 2),), (torch.ones(2, 2),)], backward=True
    )


@scene
def callables_of_every_kind_inside():
    inner = torch.compile(lambda x: x.sin() + 1, backend="eager")

    @torch.compiler.disable
    def plain(x):
        return x * 2

    @functools.wraps(plain)
    def wrapped(*args, **kwargs):
        return plain(*args, **kwargs)

    def f(x, act):
        return act(inner(x)) + wrapped(x) + torch.jit.is_scripting()

    return Scene(
        f,
        [
            (X(), torch.nn.functional.silu),
            (X(), torch.nn.functional.silu),
            (X(), nn.SiLU()),
            (X(), torch.Tensor.sin),
            (X(), "x".join),
        ][:4],
        hits=1,
    )


@scene
def the_module_protocol_in_all_its_ways():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x, *, k=1):
            return x * self.w * k

    class Calls(Inner):
        def __call__(self, x, **kwargs):
            return super().__call__(x, **kwargs) + 1

    class Gets(Inner):
        def __getattr__(self, name):
            if name == "virtual":
                return 5
            return super().__getattr__(name)

        def forward(self, x, *, k=1):
            return super().forward(x, k=k) + self.virtual

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = Inner(), Calls(), Gets()

        def forward(self, x):
            return self.c(self.b(self.a(x, k=2)), k=3)

    m = M()
    x = X()
    return Scene(
        m,
        [
            (x,),
            (x,),
            lambda: setattr(m.a, "forward", lambda x, k: x - k),
            (x,),
            (x,),
            lambda: delattr(m.a, "forward"),
            (x,),
            lambda: m.b.register_forward_pre_hook(lambda mod, args, kwargs: (args, {"k": 7}), with_kwargs=True),
            (x,),
            (x,),
            lambda: m.c.register_forward_hook(lambda mod, args, kwargs, out: out * kwargs["k"], with_kwargs=True),
            (x,),
            (x,),
            lambda: m.c.register_forward_hook(lambda mod, args, out: None, always_call=True),
            (x,),
            lambda: setattr(m.a, "__class__", Calls),
            (x,),
            (x,),
            lambda: setattr(Inner, "forward", lambda self, x, k=1: x + k),
            (x,),
            (x,),
            lambda: m._backward_hooks.clear(),
            (x,),
            lambda: m.b._forward_pre_hooks.clear(),
            (x,),
            (x,),
        ],
        hits=6,
        backward=True,
    )


@scene
def hooks_for_all_modules():
    m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    handles = []
    hook = lambda mod, args, out: out * 2
    return Scene(
        m,
        [
            (X(),),
            (X(),),
            lambda: handles.append(nn.modules.module.register_module_forward_hook(hook)),
            (X(),),
            (X(),),
            lambda: handles.pop().remove(),
            (X(),),
            (X(),),
        ],
        hits=2,
    )


@scene
def lazy_modules_and_changing_sizes():
    m = nn.Sequential(nn.LazyLinear(3), nn.LayerNorm(3), nn.Softmax(-1))
    torch.manual_seed(1)
    return Scene(
        m,
        [(torch.ones(2, 4),), (torch.ones(2, 4),), (torch.ones(3, 4),), (torch.ones(4, 4),), (torch.ones(2, 4),)],
        tail=True,
    )


@scene
def embeddings_norms_and_pools():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Embedding(10, 4, padding_idx=0, max_norm=1.0)
            self.c = nn.Conv1d(4, 4, 3, padding=1)
            self.n = nn.GroupNorm(2, 4)
            self.i = nn.InstanceNorm1d(4, track_running_stats=True)
            self.p = nn.AdaptiveAvgPool1d(2)
            self.drop = nn.Dropout1d(0.3)

        def forward(self, ids):
            x = self.e(ids).transpose(1, 2)
            return self.drop(self.p(self.i(self.n(self.c(x))))), self.e.weight.norm(), self.i.num_batches_tracked

    m = M()
    return Scene(
        m,
        [(torch.arange(6).view(2, 3),)] * 3
        + [lambda: m.eval(), (torch.arange(6).view(2, 3),), (torch.arange(8).view(2, 4),)],
        hits=1,
        backward=True,
    )


@scene
def parameters_and_buffers_replaced_inside():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("b", torch.zeros(2))

        def forward(self, x):
            if self.b.sum() > 4:
                self.w = torch.nn.Parameter(self.w.detach() * 2)
                self.b = torch.zeros(2)
            self.b += x.detach()
            self.register_buffer("c", self.b.clone(), persistent=False)
            return self.w * x + self.b

    return Scene(M(), [(X(),)] * 6)


@scene
def modules_added_and_switched_inside():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList()
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, x):
            if len(self.layers) < 2:
                self.layers.append(torch.nn.ReLU())
            was = self.drop.training
            self.drop.eval()
            for layer in self.layers:
                x = self.drop(layer(x))
            self.drop.train(was)
            return x * len(self.layers)

    return Scene(M(), [(X(),)] * 4, hits=1)


@scene
def functional_calls_and_swapped_parameters():
    m = nn.Linear(2, 2)

    def f(x, w):
        swapped = torch.func.functional_call(m, {"weight": w}, (x,))
        return (
            swapped,
            m(x),
            m.weight is w,
            torch.nn.utils.parameters_to_vector(m.parameters()),
            [n for n, _ in m.named_parameters()],
        )

    return Scene(f, [(X(), torch.ones(2, 2)), (X(), torch.zeros(2, 2)), (X(), torch.ones(2, 2))], hits=1, tail=True)


@scene
def callable_modules_and_module_lists_sliced():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))
            self.act = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
            self.depth = 3

        def forward(self, x, name):
            for block in self.blocks[: self.depth]:
                x = self.act[name](block(x))
            for i in reversed(range(len(self.blocks))):
                if i % 2:
                    x = x + self.blocks[i].bias
            return (
                x,
                len(self.blocks[1:]),
                [n for n in self.act],
                "b" in self.act,
                self.blocks[-1] is self.blocks[len(self.blocks) - 1],
            )

    m = M()
    return Scene(
        m,
        [
            (X(), "a"),
            (X(), "a"),
            (X(), "b"),
            lambda: setattr(m, "depth", 1),
            (X(), "a"),
            lambda: m.blocks.pop(0),
            (X(), "a"),
            (X(), "a"),
        ],
        hits=2,
    )
