"""One jitted callable in several threads, and jitted callables that call each other."""

import threading

import torch

from interpreter.jit import jit


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x, n):
        y = self.lin(x) * n
        return y.relu() if y.sum() > 0 else y - n, y.size(0)


def test_four_threads_give_what_eager_gives():
    torch.manual_seed(0)
    module = Counting()
    jitted = jit(module)
    inputs = [(torch.randn(size, 3), n) for size in (1, 2, 3, 4) for n in (1, 2, 3) for _ in range(4)]
    expected = [module(*args) for args in inputs]
    wrong, barrier = [], threading.Barrier(4)

    def work(offset):
        barrier.wait()
        for turn in range(3):
            for i in range(len(inputs)):
                at = (i * (offset + 1) + turn) % len(inputs)
                try:
                    got = jitted(*inputs[at])
                except Exception as error:
                    wrong.append((at, error))
                    continue
                if not torch.equal(got[0], expected[at][0]) or got[1] != expected[at][1]:
                    wrong.append((at, got, expected[at]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong, wrong[:3]
    assert jitted.stats.hits > len(inputs)


def test_threads_have_modes_and_records_of_their_own():
    """Gradients are off in one thread and on in another, while both record."""
    weight = torch.nn.Parameter(torch.ones(2))

    def f(x):
        return x * weight

    jitted = jit(f)
    found = {}

    def work(name, enabled):
        with torch.set_grad_enabled(enabled):
            found[name] = [jitted(torch.ones(2)).requires_grad for _ in range(5)]

    threads = [threading.Thread(target=work, args=args) for args in (("on", True), ("off", False))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {"on": [True] * 5, "off": [False] * 5}


def test_jitted_callables_call_each_other():
    @jit
    def even(x, n):
        return x if n == 0 else odd(x + 1, n - 1)

    @jit
    def odd(x, n):
        return x * 0 if n == 0 else even(x * 2, n - 1)

    plain_even = lambda x, n: x if n == 0 else plain_odd(x + 1, n - 1)
    plain_odd = lambda x, n: x * 0 if n == 0 else plain_even(x * 2, n - 1)
    for n in (3, 4, 3, 4, 0):
        assert torch.equal(even(torch.ones(2), n), plain_even(torch.ones(2), n))


def test_a_call_from_inside_native_code_of_another_call():
    """`sorted` asks a key function that is jitted itself; a hook of a tensor calls a jitted function."""
    inner = jit(lambda x: x * 2)

    @jit
    def outer(xs):
        return sorted(xs, key=lambda x: inner(x).sum().item())[0], list(map(inner, xs))

    for scale in (1, 2, 3):
        xs = [torch.ones(2) * scale * n for n in (3, 1, 2)]
        smallest, doubled = outer(xs)
        assert smallest is xs[1]
        assert all(torch.equal(a, b * 2) for a, b in zip(doubled, xs, strict=True))


def test_a_method_jitted_in_its_class():
    class Model:
        def __init__(self, n):
            self.n = n

        @jit
        def scaled(self, x):
            return x * self.n

    for n in (2, 3, 2):
        assert torch.equal(Model(n).scaled(torch.ones(2)), torch.ones(2) * n)
