"""Scenes about autograd: gradients taken inside, hooks, functions of the user's own, optimizers."""

from __future__ import annotations

import torch
from torch import nn
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
def gradient_attributes():
    w = torch.nn.Parameter(torch.ones(2))

    def f(x):
        if w.grad is not None:
            w.grad.zero_()
        loss = (w * x).sum()
        loss.backward()
        had = w.grad.clone()
        w.grad.add_(1)
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)
        return loss.detach(), had, w.grad is None

    return Scene(f, [(X(),), (X(),), (X() * 2,), lambda: setattr(w, "grad", None), (X(),), (X(),)], state=lambda: w)


@scene
def training_step_with_an_optimizer():
    m = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)

    def f(x):
        opt.zero_grad()
        loss = m(x).pow(2).sum()
        loss.backward()
        opt.step()
        return loss.detach()

    return Scene(f, [(X(),), (X(),), (X() * 2,), (X(),)], state=lambda: m, tail=True)


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
