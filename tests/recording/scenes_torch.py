"""Scenes about torch: modes, gradients, hooks, randomness, modules, and functions that run Python code of their own."""

from __future__ import annotations

import copy
import functools

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


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
        z = (y**3 * w).sum()
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
    return Scene(
        m, [(X(),), (X(),), lambda: m.handle.remove(), (X(),), (X(),)], state=lambda: log, backward=True, tail=True
    )


@scene
def grad_modes_nested_and_left_by_exceptions():
    @torch.no_grad()
    def g(x):
        return x * 2

    def f(x, bad):
        flags = [torch.is_grad_enabled()]
        try:
            with (
                torch.inference_mode(False),
                torch.set_grad_enabled(not bad),
                torch.autocast("cpu", torch.bfloat16, enabled=not bad),
            ):
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
def losses_and_shapes():
    def f(x, target):
        logits = nn.functional.linear(x, torch.ones(3, 2))
        loss = nn.functional.cross_entropy(logits, target)
        top, index = logits.topk(2, dim=-1)
        mask = torch.ones(x.size(0), x.size(0)).tril()
        b, t = logits.shape
        return (
            loss,
            top,
            index,
            logits.view(b * t),
            mask.masked_fill(mask == 0, float("-inf")),
            torch.einsum("ij,kj->ik", logits, logits),
            torch.split(logits, [1, 2], dim=1),
            logits.unbind(0),
            torch.arange(b),
            x.new_full((b, 1), t),
        )

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

    return Scene(
        M(),
        [(torch.randn(1, 2, 4), torch.arange(2)), *[(torch.randn(1, 1, 4), torch.tensor([i])) for i in range(2, 6)]],
    )


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

    return Scene(
        f,
        [
            (X(),),
            (torch.eye(2).to_sparse(),),
            (torch.zeros(0),),
            (torch.tensor(3.0),),
            (torch.ones(2, dtype=torch.complex64),),
            (torch.ones(2, 2).T,),
        ],
    )


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

    return Scene(
        f,
        [
            (X(), torch.zeros(2)),
            (X() * 2, torch.zeros(2)),
            (torch.ones(2, 2), torch.zeros(2, 2)),
            (torch.ones(2, 2), torch.zeros(2, 2)),
        ],
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
    return Scene(
        f,
        [(x, good), (x * 2, good), (x * 2, bad), (x, bad), (x, good), (x * 9, good), (x * 2, good), (x * 9, bad)],
        hits=1,
    )


@scene
def left_in_the_middle_without_anything_to_keep():
    def f(x, i):
        with torch.no_grad():
            return x[i] * 2, torch.is_grad_enabled()

    return Scene(f, [(X().requires_grad_(), torch.tensor(i)) for i in (0, 1, 7, 0)], hits=2)


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
def accumulating_gradients_and_clipping():
    m = nn.Linear(2, 2)

    def f(x, step):
        loss = m(x).pow(2).mean() / 2
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
        if step:
            with torch.no_grad():
                for p in m.parameters():
                    p -= 0.1 * p.grad
                    p.grad = None
        return loss.detach(), norm, [p.grad is None for p in m.parameters()]

    return Scene(
        f, [(X(), False), (X(), False), (X(), True), (X(), False), (X(), True), (X(), True)], state=lambda: m, tail=True
    )


@scene
def gradients_that_are_set_by_hand():
    w = nn.Parameter(torch.ones(2))

    def f(x, fresh):
        if fresh or w.grad is None:
            w.grad = torch.zeros(2)
        before = w.grad
        (w * x).sum().backward()
        same = w.grad is before
        w.grad += x
        w.grad.data.mul_(2)
        return same, w.grad, before.sum()

    return Scene(f, [(X(), True), (X(), False), (X(), False), (X(), True), (X(), True)], state=lambda: w)


@scene
def views_of_inputs_changed_after_an_exit():
    def f(x, buf):
        v = buf[: x.size(0)]
        v += x
        w = buf.view(-1)
        if w.sum() > 20:
            w.zero_()
            return v, buf
        w[-1] = 7
        if v[0] > 3:
            v.neg_()
        return v, w, buf.t()

    return Scene(f, [(k * torch.ones(n), torch.zeros(4)) for k in (1, 4, 9) for n in (1, 2, 4)] * 2)


@scene
def modes_of_the_user():
    log = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            log.append(function.__name__)
            return function(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, args=(), kwargs=None):
            log.append(str(function))
            return function(*args, **(kwargs or {}))

    def f(x, kind):
        with kind():
            y = x * 2 + 1
        with torch.device("cpu"):
            return y.sin() + torch.ones(2)

    return Scene(f, [(X(), Mode), (X(), Mode), (X(), Dispatch), (X(), Dispatch), (X(), Mode)], lambda: log, tail=True)
