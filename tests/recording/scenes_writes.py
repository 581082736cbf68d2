"""Scenes in which a call writes something that outlives it, in every way Python has, or makes what it gives back."""

from __future__ import annotations

import bisect
import collections
import contextlib
import contextvars
import dataclasses
import functools
import heapq
import itertools
import operator
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def slots_and_dict_attributes():
    class Both:
        __slots__ = ("__dict__", "a")

    one = Both()
    one.a = 1

    def f(x):
        one.a += 1
        one.b = getattr(one, "b", 0) + one.a
        one.last = x * one.b
        if one.a > 3:
            del one.a
            one.a = 0
        return x * one.a, one.__dict__

    return Scene(f, [(X(),)] * 6, state=lambda: one)


@scene
def class_attributes_written():
    class Base:
        count = 0
        names = []

    class Derived(Base):
        pass

    def f(x):
        Derived.count += 1
        Base.count = Base.count + 10
        type(Derived()).names.append(Derived.count)
        setattr(Base, f"extra_{len(Base.names) % 2}", x)
        if hasattr(Base, "extra_1"):
            del Base.extra_1
        return x * Derived.count + Base.count

    return Scene(f, [(X(),)] * 4, state=lambda: (Base, Derived))


@scene
def globals_cells_and_defaults():
    space = types.ModuleType("space")
    exec(
        "n = 0\nlog = []\ndef f(x, seen=[]):\n    global n, m\n    n += 1\n    m = x * n\n    seen.append(n)\n"
        "    log.append(m)\n"
        "    globals()['k'] = len(seen)\n    if n == 3:\n        del m\n    return x + len(seen)",
        space.__dict__,
    )
    total, last = 0, None

    def g(x):
        nonlocal total, last
        total += 1
        last = space.f(x)
        return last * total

    return Scene(
        g, [(X(),)] * 4, state=lambda: (space.n, space.log, getattr(space, "m", None), space.k, total, last, space.f)
    )


@scene
def every_method_of_deque():
    def f(q, x):
        q.append(x)
        q.appendleft(1)
        q.extend([2, 3])
        q.extendleft(itertools.islice(itertools.count(), 2))
        q.rotate(2)
        last, first = q.pop(), q.popleft()
        q[1] = 7
        q.insert(1, 8)
        q.reverse()
        del q[0]
        q += [x]
        n = q.count(7)
        if 8 in q:
            q.remove(8)
        return last, first, n, len(q), q.copy(), q[-1]

    return Scene(
        f,
        [
            (collections.deque([5, 6], 9), X()),
            (collections.deque([5, 6], 9), X()),
            (collections.deque([5, 6, 7]), X()),
            (collections.deque([5, 6], 9), X()),
        ],
    )


@scene
def every_method_of_ordered_and_default_dicts():
    def f(od, dd, c, x):
        od["z"] = x
        od.move_to_end("a", last=False)
        key = od.popitem(last=False)
        od.setdefault("q", []).append(x)
        od |= {"w": 1}
        dd["new"].append(x)
        dd["old"] += [1]
        value = dd.pop("gone", None)
        c["k"] += 2
        c.update("kab")
        c.subtract("a")
        return key, list(od), value, len(dd), c.most_common(2), +c, c.total()

    make = lambda: (collections.OrderedDict(b=1, a=2), collections.defaultdict(list), collections.Counter("ab"), X())
    return Scene(f, [make(), make(), make()], hits=1)


@scene
def every_method_of_set():
    def f(s, t, x):
        s.add(3)
        s.discard(1)
        s |= {9}
        s -= {2}
        s.update([4, 5], (6,))
        s &= {3, 4, 5, 9, 11}
        s ^= {5, 12}
        if 12 in s:
            s.remove(12)
        t = t | s
        s.difference_update({4})
        return x * len(s), sorted(t), s.isdisjoint({3}), sorted(s.union({1}))

    return Scene(
        f, [({1, 2}, frozenset({8}), X()), ({1, 2}, frozenset({8}), X()), ({1, 5, 11}, frozenset(), X())], hits=1
    )


@scene
def lists_through_the_library():
    def f(xs, heap, x):
        heapq.heappush(heap, len(xs))
        smallest = heapq.heappop(heap)
        bisect.insort(xs, 3)
        xs.sort(key=lambda n: -n)
        operator.setitem(xs, 0, 9)
        operator.iadd(xs, [1])
        xs *= 2
        xs[1:3] = [x.size(0)]
        del xs[::3]
        return x * xs[0], smallest, xs.pop(), xs.index(9) if 9 in xs else None

    return Scene(f, [([1, 5, 4], [2, 3], X()), ([1, 5, 4], [2, 3], X()), ([7], [], X())], tail=True)


@scene
def writes_before_and_after_a_check():
    log, counts = [], {"calls": 0}

    def f(x):
        counts["calls"] += 1
        log.append("before")
        x.add_(1)
        if x.sum() > 10:
            log.append("large")
            x.mul_(2)
        else:
            log.append(("small", counts["calls"]))
        if x.max() > 20:
            log.append("huge")
        counts["after"] = counts["calls"]
        return x * counts["calls"]

    return Scene(
        f,
        [
            (X(),),
            (X(4),),
            (X(),),
            (torch.full((2,), 30.0),),
            (torch.full((2,), 5.0),),
            (torch.full((2,), -5.0),),
            (torch.full((2,), 30.0),),
            (torch.full((2,), 5.0),),
        ],
        state=lambda: (log, counts),
    )


@scene
def writes_before_a_raise():
    log = []

    def f(d, x):
        d["n"] = d.get("n", 0) + 1
        log.append(d["n"])
        x.mul_(2)
        y = x.view(2, 1)
        log.append("viewed")
        if y.sum() < 0:
            raise ValueError("negative", d["n"])
        d["y"] = y
        return y

    return Scene(
        f, [({}, X()), ({}, X()), ({}, X(3)), ({}, -X()), ({}, -X()), ({"n": 4}, X()), ({}, X())], state=lambda: log
    )


@scene
def an_operation_raises_and_is_caught():
    log = []

    def f(x, i):
        log.append("try")
        x.add_(1)
        try:
            y = x[i]
            log.append("found")
        except IndexError as error:
            log.append(type(error).__name__)
            y = x * 0
        finally:
            log.append("finally")
        x.add_(1)
        return y + x

    good, bad = torch.tensor([0, 1]), torch.tensor([0, 9])
    return Scene(f, [(X(), good), (X(), bad), (X(), good), (X(), bad), (X(), good)], state=lambda: log)


@scene
def random_numbers_and_side_exits():
    def f(x, p):
        a = torch.rand(2) + torch.randn_like(x)
        x = torch.nn.functional.dropout(x, p)
        b = x.clone().uniform_()
        torch.nn.init.normal_(b, std=2.0)
        if a.sum() > x.sum():
            return a, torch.rand(1), b
        return x, torch.bernoulli(torch.full((3,), 0.5)), b

    return Scene(f, [(X(), 0.5), (X() * 9, 0.5), (X() * -9, 0.5), (X(), 0.5), (X(), 0.1), (X() * 9, 0.5), (X(3), 0.5)])


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
def objects_made_inside_and_kept():
    kept = []

    @dataclasses.dataclass
    class Record:
        value: object
        links: list = dataclasses.field(default_factory=list)

    class Slotted:
        __slots__ = ("a", "b")

    def f(x):
        one, two = Record(x * 2), Record(x.size(0))
        one.links += [two, one]
        two.links.append(kept)
        s = Slotted()
        s.a = one
        kept.append((one, s, {"two": two}, lambda: one))
        return one, two, kept[-1][3]

    return Scene(f, [(X(),), (X(),), (X(3),)], state=lambda: kept)


@scene
def results_of_every_kind():
    Point = collections.namedtuple("Point", "x y")

    class Weird(dict):
        pass

    def f(x, d):
        y = x + 1
        w = Weird(a=y)
        w.extra = w
        cycle = [y]
        cycle.append(cycle)
        return {
            "d": d,
            "y": y,
            "p": Point(y, x),
            "w": w,
            "c": cycle,
            "f": functools.partial(torch.add, y, other=x),
            "m": [y].append,
            "s": {1, 2},
            "fs": frozenset({y.size(0)}),
            "q": collections.deque([y], 3),
            "sl": slice(0, y.dim(), None),
            "g": (t for t in ()) if 0 else None,
            "e": ValueError("bad", y),
            "r": range(3),
            "t": type(y),
            "it": iter([y, x]),
            "z": zip([y], [x]),
            "en": enumerate([y]),
            "bound": y.add,
            "ns": types.SimpleNamespace(y=y),
            "mp": types.MappingProxyType({"y": 1}),
        }

    return Scene(f, [(X(), {"a": 1}), (X(), {"a": 1}), (X(), {"a": 1})], tail=True)


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
def generators_over_tensors():
    def f(x, n):
        def produce():
            got = yield x
            while got is not None:
                got = yield got * n
            return n

        g = produce()
        first = next(g)
        second = g.send(x + 1)
        try:
            g.send(None)
        except StopIteration as stop:
            third = stop.value
        h = (x * i for i in range(n))
        squares = {i: x**i for i in range(n)}
        return first, second, third, sum(h), squares, list(itertools.accumulate([x] * n)), [*map(torch.neg, [x] * n)]

    return Scene(f, [(X(), 2), (X(), 2), (X(), 3)], hits=1)


@scene
def context_managers_and_variables():
    var = contextvars.ContextVar("var", default=0)
    log = []

    @contextlib.contextmanager
    def scope(n):
        token = var.set(n)
        log.append(("in", n))
        try:
            yield n
        finally:
            var.reset(token)
            log.append(("out", n))

    def f(x, n):
        with scope(n) as k, contextlib.suppress(ZeroDivisionError):
            x = x * var.get() + k
            x = x + 1 // n
        return x, var.get()

    return Scene(f, [(X(), 2), (X(), 2), (X(), 0), (X(), 3)], state=lambda: log, tail=True)


@scene
def exceptions_with_context_and_cause():
    log = []

    class Custom(Exception):
        def __init__(self, message, value):
            super().__init__(message)
            self.value = value

    def g(x, n):
        try:
            if n == 1:
                raise KeyError("inner")
            if n == 2:
                x = x.view(7, 7)
            if n == 3:
                raise Custom("custom", x)
        except KeyError as error:
            log.append(str(error))
            raise Custom("outer", n) from error
        except RuntimeError:
            log.append("runtime")
            raise ValueError("while viewing")
        finally:
            log.append(n)
        return x

    def f(x, n):
        try:
            return g(x, n)
        except Custom as error:
            return error.value, type(error.__cause__), error

    return Scene(f, [(X(), n) for n in (0, 1, 2, 3, 0, 1, 2, 3)], state=lambda: log)


@scene
def recursion_and_mutual_calls():
    memo = {}

    def even(n, x):
        return x if n == 0 else odd(n - 1, x + 1)

    def odd(n, x):
        memo[n] = memo.get(n, 0) + 1
        return x * 0 if n == 0 else even(n - 1, x * 2)

    def f(x, n):
        return even(n, x)

    return Scene(f, [(X(), n) for n in (4, 4, 3, 2, 6, 5)], state=lambda: memo)


@scene
def loops_that_depend_on_data():
    def f(x):
        steps = []
        while x.sum() < 20:
            x = x * 2
            steps.append(x.max().item())
            if len(steps) > 5:
                break
        else:
            steps.append("done")
        n = int(x.max())
        return x, steps, n // 2, [i for i in range(min(n, 3))]

    return Scene(f, [(X(),), (X() * 3,), (X(),), (X() * 7,), (X() * 0,), (X() * 3,), (X(3),)])


@scene
def items_and_numbers_from_tensors():
    def f(x, log):
        n = x.sum().item()
        log.append(n)
        k = int(n) + 1
        pair = (k, [k], {"k": k, k: 1})
        log.append(pair)
        y = x * n + k
        return (
            y,
            n,
            f"{n:.1f}",
            pair,
            x.tolist(),
            bool(x[0] > 1),
            float(x[0]),
            x.argmax().item(),
            round(n),
            y[: max(k % 2, 1)],
        )

    return Scene(f, [(X(), []), (X(), []), (X() * 2, []), (X() * 3, []), (X() + 0.5, []), (X(), [])])


@scene
def data_dependent_shapes():
    def f(x, experts):
        out = torch.zeros_like(x)
        for i, scale in enumerate(experts):
            rows = (x[:, 0].long() % len(experts) == i).nonzero().squeeze(-1)
            out[rows] += x[rows] * scale
        kept = x[x > 1]
        return out, kept, kept.shape, kept.numel(), len(kept), kept.sum() / max(kept.size(0), 1)

    torch.manual_seed(3)
    inputs = [
        torch.arange(8.0).view(4, 2),
        torch.arange(8.0).view(4, 2) * 3,
        torch.zeros(4, 2),
        torch.ones(6, 2),
        torch.arange(10.0).view(5, 2),
    ]
    return Scene(f, [(x, [1.0, 2.0, 3.0]) for x in inputs + inputs], hits=3)


@scene
def one_dict_read_written_and_iterated():
    def f(d, x):
        d["a"] = d.get("a", 0) + 1
        for key in list(d):
            if d[key] > 2:
                del d[key]
        d.update({"b": 5}) if "b" not in d else d.pop("b")
        return x * len(d), sorted(d), "a" in d, [v for v in d.values()], d.setdefault("z", []) is d["z"]

    state = {}
    return Scene(
        lambda x: (f(state, x), f({}, x))[0] if not isinstance(state.get("z"), list) else (state.pop("z"), f(state, x)),
        [(X(),)] * 6,
        state=lambda: state,
    )


@scene
def bytes_and_arrays():
    def f(b, x):
        b.append(1)
        b[0] = 9
        b += b"ab"
        return x * len(b), bytes(b), b[0]

    return Scene(f, [(bytearray(b"xy"), X()), (bytearray(b"xy"), X()), (bytearray(b"z"), X())], tail=True)


@scene
def operators_of_user_classes():
    log = []

    class Vec:
        def __init__(self, t):
            self.t = t

        def __add__(self, other):
            log.append("add")
            return Vec(self.t + (other.t if isinstance(other, Vec) else other))

        __radd__ = __add__

        def __iadd__(self, other):
            self.t = self.t + other
            return self

        def __matmul__(self, other):
            return (self.t * other.t).sum()

        def __neg__(self):
            return Vec(-self.t)

        def __lt__(self, other):
            return bool(self @ self < other @ other)

        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, *details):
            log.append(details[0])
            return True

        def __call__(self, x):
            return self.t * x

        def __getitem__(self, i):
            return self.t[i]

    def f(v, x):
        v += 1
        with v as w:
            small = min(v + 2, 3 + v, -v, key=lambda u: u.t.sum().item())
            raise ValueError
        return v(x), small, v @ v, w[0], sorted([v + 5, v])[0].t

    return Scene(f, [(Vec(X()), X()), (Vec(X()), X()), (Vec(X() * -3), X())], state=lambda: log, tail=True)


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
def deletion_of_everything():
    class Box:
        __slots__ = ("s",)

    def f(box, d, xs, o, x):
        del box.s
        box.s = x
        del d["a"], xs[0], o.a
        try:
            o.a
        except AttributeError:
            o.b = 1
        return x, hasattr(o, "a"), d, xs

    def make():
        box = Box()
        box.s = 1
        return box, {"a": 1, "b": 2}, [1, 2], types.SimpleNamespace(a=1), X()

    return Scene(f, [make(), make(), make()], hits=1)
