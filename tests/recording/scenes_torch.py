"""Scenes about torch: modes, gradients, hooks, randomness, modules, and functions that run Python code of their own."""

from __future__ import annotations

import copy
import functools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.recording.agree import Scene

SCENES = []


def scene(build):
    SCENES.append(build)
    return build


def X(n=2):
    return torch.arange(float(n)) + 1


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.k + 0 * x, None


@scene
def transforms_over_closures():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x):
            loss = lambda x: (self.w * x).sin().sum()
            g = torch.func.grad(loss)(x)
            h = torch.func.vmap(lambda a: a * self.w.sum())(x)
            j = torch.func.jacrev(lambda v: v * v)(x)
            return g, h, j, torch.func.functional_call(self, {}, (x,)) if x.sum() > 100 else None
    m = M()
    return Scene(m, [(X(),), (X(),), lambda: m.w.data.mul_(2), (X(),), (X(3)[:2],)], hits=2)


@scene
def checkpoints_see_what_was_written_before():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.n = nn.Linear(2, 2), 0

        def forward(self, x, count):
            if count:
                self.n += 1
            y = checkpoint(lambda t: self.lin(t).tanh() * (self.n + 1), x, use_reentrant=False)
            return y + self.n
    return Scene(M(), [(X(), False), (X(), False), (X(), True), (X(), True), (X(), False)], tail=True, backward=True)


@scene
def functions_of_autograd_with_state_around():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.n = nn.Parameter(torch.ones(2)), 0

        def forward(self, x):
            self.n += 1
            y = Double.apply(x * self.w, self.n)
            return y, Double.apply(y, 2)
    return Scene(M(), [(X(),)] * 4, backward=True)


@scene
def gradients_inside():
    w = nn.Parameter(torch.ones(2))

    def f(x):
        y = x.detach().requires_grad_()
        z = (y ** 3 * w).sum()
        (g,) = torch.autograd.grad(z, y, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), y)
        z.backward() if z.requires_grad else None
        return g.detach(), h, y.grad, w.grad
    return Scene(f, [(X(),), (X() * 2,), (X(),), (X(3)[1:],)], state=lambda: w)


@scene
def hooks_on_tensors_and_modules():
    log = []

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.ReLU()
            self.a.register_full_backward_hook(lambda m, gi, go: log.append("backward"))
            self.handle = self.b.register_forward_hook(lambda m, args, out: out + len(log))

        def forward(self, x):
            y = self.a(x)
            if y.requires_grad:
                y.register_hook(lambda g: g * 2)
            return self.b(y)
    m = M()
    return Scene(m, [(X(),), (X(),), lambda: m.handle.remove(), (X(),), (X(),)], state=lambda: log, backward=True, tail=True)


@scene
def grad_modes_nested_and_left_by_exceptions():
    @torch.no_grad()
    def g(x):
        return x * 2

    def f(x, bad):
        flags = [torch.is_grad_enabled()]
        try:
            with torch.inference_mode(False), torch.set_grad_enabled(not bad), torch.autocast("cpu", torch.bfloat16, enabled=not bad):
                flags.append(torch.is_grad_enabled())
                y = x @ x
                if bad:
                    raise ValueError
        except ValueError:
            flags.append(torch.is_grad_enabled())
            y = g(x)
        return flags, y, y.dtype, g(x).requires_grad, torch.is_autocast_enabled("cpu")
    x = torch.ones(2, 2).requires_grad_()
    return Scene(f, [(x, False), (x, True), (x, False), (x, True)], hits=2)


@scene
def generators_and_seeds():
    gen = torch.Generator()

    def f(x):
        torch.manual_seed(int(x.numel()))
        a = torch.rand(2)
        b = torch.rand(2, generator=gen)
        return a, b, torch.initial_seed(), torch.randperm(3), torch.get_rng_state()[:4]
    return Scene(f, [(X(),), (X(),), lambda: gen.manual_seed(3), (X(),)], state=lambda: gen.get_state(), tail=True)


@scene
def module_tree_changes():
    m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Sequential(nn.Linear(3, 2), nn.GELU()))
    shared = nn.Linear(2, 2)
    return Scene(m, [(torch.ones(2, 2),), (torch.ones(2, 2),), lambda: m.eval(), (torch.ones(2, 2),), lambda: m.append(shared), (torch.ones(2, 2),),
                     lambda: m.append(shared), (torch.ones(2, 2),), lambda: setattr(shared, "weight", nn.Parameter(torch.ones(2, 2))), (torch.ones(2, 2),),
                     lambda: m.train(), lambda: m[1].eval(), (torch.ones(2, 2),), (torch.ones(2, 2),), lambda: m.double(), (torch.ones(2, 2).double(),)],
                 hits=2, backward=True)


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
    return Scene(m, [(X(),), (X(),), lambda: setattr(m, "b", nn.Linear(2, 2)), (X(),), (X(),), lambda: m.c.update({"z": nn.Tanh()}), (X(),)], hits=2)


@scene
def copies_of_modules_and_tensors():
    def f(m, x):
        n = copy.deepcopy(m)
        with torch.no_grad():
            for p in n.parameters():
                p.mul_(2)
        shallow = copy.copy(m)
        y = copy.deepcopy(x)
        return n(x) + m(x), shallow is m, shallow.weight is m.weight, y, copy.copy([x])[0] is x, copy.deepcopy({"a": [x, x]})
    return Scene(f, [(nn.Linear(2, 2), X()), (nn.Linear(2, 2), X()), (nn.Linear(2, 2, bias=False), X())], tail=True)


@scene
def parametrized_modules():
    m = nn.Sequential(torch.nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)), torch.nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2)))
    return Scene(m, [(torch.ones(2, 2),)] * 3 + [lambda: m.eval(), (torch.ones(2, 2),), (torch.ones(2, 2),)], backward=True)


@scene
def losses_and_shapes():
    def f(x, target):
        logits = nn.functional.linear(x, torch.ones(3, 2))
        loss = nn.functional.cross_entropy(logits, target)
        top, index = logits.topk(2, dim=-1)
        mask = torch.ones(x.size(0), x.size(0)).tril()
        b, t = logits.shape
        return loss, top, index, logits.view(b * t), mask.masked_fill(mask == 0, float("-inf")), torch.einsum("ij,kj->ik", logits, logits), \
            torch.split(logits, [1, 2], dim=1), logits.unbind(0), torch.arange(b), x.new_full((b, 1), t)
    return Scene(f, [(torch.randn(n, 2), torch.zeros(n, dtype=torch.long)) for n in (2, 3, 4, 5, 3)])


@scene
def attention_with_a_cache():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(4, 12)
            self.register_buffer("cache", torch.zeros(1, 8, 4), persistent=False)
            self.pos = 0

        def forward(self, x, input_pos):
            q, k, v = self.qkv(x).chunk(3, -1)
            self.cache.index_copy_(1, input_pos, k)
            self.pos = self.pos + x.size(1)
            keys = self.cache[:, : self.pos]
            y = nn.functional.scaled_dot_product_attention(q, keys, keys)
            return y + v

    return Scene(M(), [(torch.randn(1, 2, 4), torch.arange(2)), *[(torch.randn(1, 1, 4), torch.tensor([i])) for i in range(2, 6)]])


@scene
def experts_that_see_what_is_routed_to_them():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(4, 3, bias=False)
            self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

        def forward(self, x):
            probs, indices = torch.topk(self.gate(x), 2)
            probs = probs.softmax(dim=1)
            masks = (indices.unsqueeze(-1) == torch.arange(3)).permute(2, 0, 1)
            y = torch.zeros_like(x)
            for mask, expert in zip(masks, self.experts):
                token, which = torch.where(mask)
                y[token] += probs[token, which, None] * expert(x[token])
            return y
    return Scene(M(), [(torch.randn(n, 4),) for n in (5, 5, 5, 3, 3, 6, 6)], hits=3, backward=True)


@scene
def subclass_of_tensor_given():
    class Tagged(torch.Tensor):
        pass

    def f(x):
        return x * 2 + 1
    return Scene(f, [(X(),), (X().as_subclass(Tagged),), (X().as_subclass(Tagged),), (X(),)], tail=True)


@scene
def odd_tensors():
    def f(x):
        return x.sum(), x * 2, x.is_sparse, x.layout
    return Scene(f, [(X(),), (torch.eye(2).to_sparse(),), (torch.zeros(0),), (torch.tensor(3.0),), (torch.ones(2, dtype=torch.complex64),), (torch.ones(2, 2).T,)])


@scene
def out_arguments_and_views():
    def f(x, out):
        torch.add(x, 1, out=out)
        v = x.view(-1)
        v[0] = 5
        w = x.as_strided((2,), (1,))
        w.copy_(out)
        x.t().zero_() if x.dim() == 2 else None
        return v, out, x.sum()
    return Scene(f, [(X(), torch.zeros(2)), (X() * 2, torch.zeros(2)), (torch.ones(2, 2), torch.zeros(2, 2)), (torch.ones(2, 2), torch.zeros(2, 2))])


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
    return Scene(f, [(X(), torch.nn.functional.silu), (X(), torch.nn.functional.silu), (X(), nn.SiLU()), (X(), torch.Tensor.sin), (X(), "x".join)][:4], hits=1)


@scene
def numpy_and_python_lists_of_tensors():
    def f(x):
        y = torch.as_tensor(x.numpy().sum())
        return y + x, x.tolist(), [float(v) for v in x], torch.tensor([x[0], x[1]]), torch.from_numpy(x.numpy())
    return Scene(f, [(X(),), (X() * 2,), (X(),)], tail=True)


@scene
def defaults_of_dtype_and_device():
    def f(x):
        with torch.device("meta"):
            shape = torch.ones(3).sum().shape
        old = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        y = torch.ones(2)
        torch.set_default_dtype(old)
        return x + y, shape, torch.ones(1).dtype
    return Scene(f, [(X(),), (X(),)], hits=1)


@scene
def left_in_the_middle_of_a_mode():
    def f(x, bad):
        flags = [torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_default_dtype()]
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            y = x * 2
            if y.sum() > 5:
                y = y + 1
                flags.append(torch.is_grad_enabled())
            z = y[bad]
            flags.append((y.requires_grad, torch.is_autocast_enabled("cpu")))
        with torch.inference_mode():
            w = x.detach() + 1
            if w.max() > 4:
                w = w * 2
        return flags, y, z, w, x * 2, torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    x, good, bad = X().requires_grad_(), torch.tensor(0), torch.tensor(7)
    return Scene(f, [(x, good), (x * 2, good), (x * 2, bad), (x, bad), (x, good), (x * 9, good), (x * 2, good), (x * 9, bad)], hits=1)


@scene
def left_in_the_middle_without_anything_to_keep():
    def f(x, i):
        with torch.no_grad():
            return x[i] * 2, torch.is_grad_enabled()
    return Scene(f, [(X().requires_grad_(), torch.tensor(i)) for i in (0, 1, 7, 0)], hits=2)
