"""Scenes about tensors: what they are, views of them, what is written to them and to their attributes."""

from __future__ import annotations

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def tensor_properties():
    def f(x):
        return (
            x.shape,
            x.dtype,
            x.stride(),
            x.requires_grad,
            x.is_leaf,
            x.grad is None,
            x.is_contiguous(),
            x.dim(),
            len(x),
            x.storage_offset(),
        )

    y = X().requires_grad_()
    z = X()
    z.grad = X()
    return Scene(
        f,
        [
            (X(),),
            (X(3),),
            (X().double(),),
            (torch.ones(2, 2),),
            (torch.ones(2, 2).T,),
            (y,),
            (z,),
            (X(4)[::2],),
            (X(4)[2:],),
            (y * 1,),
        ],
    )


@scene
def tensors_own_attributes():
    def f(x, y):
        x.tag = getattr(x, "tag", 0) + 1
        y.requires_grad_()
        y.note = x
        x.data = x.data + 1
        return x * x.tag, y.note, y.requires_grad

    return Scene(f, [(X(), X()), (X(), X()), (X(3), X(3))])


@scene
def detached_and_required():
    def f(x):
        y = x.detach()
        before = y.requires_grad
        y.requires_grad_()
        z = (y * 2).sum()
        if z > 6:
            return before, y, z
        return z, y.requires_grad

    return Scene(f, [(X(),), (X() * 2,), (X() * 3,), (X() * 0,), (X(),)])


@scene
def metadata_changed_in_place():
    def f(x):
        shape = x.shape
        x.unsqueeze_(0)
        x.t_()
        y = x.sum()
        if y > 5:
            x.squeeze_(1)
        return shape, x.shape, y

    return Scene(f, [(X(),), (X(3),), (X(),), (X(3),), (X() * 4,), (X(),)], tail=True)


@scene
def views_and_aliases_in_results():
    def f(x, w):
        y = x.view(-1)
        a, b = y[:1], y.detach()
        c = x.contiguous()
        d = x.to(torch.float32)
        return x, y, a, b, c, d, c is x, w, w.data, [x, x], x.T, y.expand(2, -1)

    return Scene(
        f,
        [
            (torch.ones(2, 2), torch.nn.Parameter(X())),
            (torch.ones(2, 2), torch.nn.Parameter(X())),
            (torch.ones(3, 2), torch.nn.Parameter(X())),
            (torch.ones(4, 2), torch.nn.Parameter(X())),
            (torch.ones(2, 4).T, X()),
            (torch.ones(2, 3).T, X()),
            (torch.ones(5, 2), torch.nn.Parameter(X())),
        ],
    )


@scene
def input_tensor_lists_changed_in_place():
    def f(xs, cache):
        for i, x in enumerate(xs):
            x.add_(i)
            cache.setdefault(i, []).append(x)
        xs[0], xs[-1] = xs[-1], xs[0]
        return torch.stack(xs).sum(), len(cache[0])

    return Scene(
        f, [([X(), X() * 2], {}), ([X(), X() * 2], {}), ([X(), X(), X()], {0: [1]}), ([X(), X() * 2], {})], hits=1
    )


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
def numpy_and_python_lists_of_tensors():
    def f(x):
        y = torch.as_tensor(x.numpy().sum())
        return y + x, x.tolist(), [float(v) for v in x], torch.tensor([x[0], x[1]]), torch.from_numpy(x.numpy())

    return Scene(f, [(X(),), (X() * 2,), (X(),)], tail=True)


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
