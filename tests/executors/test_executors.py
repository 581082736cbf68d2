"""Executors against eager: results, writes, sharing, gradients, random numbers and exceptions of served calls."""

import math
import threading
import warnings

import pytest
import torch
from torch.nn import functional

from interpreter import jit
from interpreter.executors.executor import NotCompiled
from models import WORKLOADS, select
from tests.executors.jits import graph_itself

F = functional


def outcome(function, arguments):
    """What a call gave or raised, and the random generator's state after it."""
    torch.manual_seed(3)
    try:
        result = function(*arguments)
    except Exception as error:
        result = type(error), str(error)
    return result, torch.get_rng_state()


def same(a, b):
    if isinstance(a, torch.Tensor):
        assert (a.dtype, a.shape, a.stride(), a.requires_grad) == (b.dtype, b.shape, b.stride(), b.requires_grad)
        assert torch.equal(a, b)
    elif isinstance(a, (tuple, list)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b


def agree(function, *calls, executor="aot", graphs=None, hits=None, **options):
    """Call eager and jitted in step with equal arguments (a call is a function that makes them). Returns the jitted."""
    jitted = jit(function, executor=executor, **options)
    for make in calls:
        torch.manual_seed(0)
        mine = make()
        torch.manual_seed(0)
        theirs = make()
        (expected, state), (actual, other) = outcome(function, mine), outcome(jitted, theirs)
        same(expected, actual)
        assert torch.equal(state, other)
        same([x for x in mine if isinstance(x, torch.Tensor)], [x for x in theirs if isinstance(x, torch.Tensor)])
    if graphs is not None:
        assert [len(entry.graphs) for entry in jitted.stats.entries] == graphs
    assert jitted.stats.hits == (len(calls) - 1 if hits is None else hits)
    return jitted


def tensor(*shape, **options):
    return lambda: (torch.randn(*shape, **options),)


@pytest.fixture(autouse=True)
def no_silent_fallback():
    """A program that is left to the eager executor fails the test, unless the test waits for the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        yield


# One graph, or several


def test_a_function_of_tensors_is_one_graph():
    def f(x):
        return F.gelu(x @ x.mT) + 1

    agree(f, tensor(3, 4), tensor(3, 4), graphs=[1])


def test_tensors_made_like_another():
    def f(x):
        y = x.new_zeros(3, 2) + x.new_ones((2,)) + x.new_full((2,), 3.0)
        y.index_copy_(0, torch.tensor([1]), x[:1])
        return y * x.stride(0)

    agree(f, tensor(4, 2), tensor(4, 2), graphs=[1])


def test_sizes_that_change_stay_one_graph():
    def f(x):
        if x.shape[0] > 1:
            x = x.view(x.shape[0] * 4)
        return x * x.shape[0]

    agree(f, *(tensor(n, 4) for n in (3, 5, 7, 9, 2)), graphs=[1, 1], hits=3)


def test_arithmetic_of_sizes_that_change():
    def f(x):
        n = x.shape[0]
        k = min(3, n // 2) + max(1, n - 8)
        m = max(n, 6) - min(n, 5) + math.floor(n / 2)
        return x.topk(k, 0).values * m

    agree(f, *(tensor(n, 4) for n in (4, 6, 7, 9, 5, 11)), executor="aot", hits=4)


def test_numbers_that_change_beside_truths():
    def f(x, n):
        return x * 2 if n == True else x + (n + True)  # noqa: E712 - the comparison is what is tested

    agree(f, *(lambda n=n: (torch.ones(2), n) for n in (1, 5, 7, 1, 9)), hits=2)


def test_sizes_that_depend_on_data_are_in_the_graph():
    def f(x, weights):
        y = torch.zeros_like(x)
        for row, weight in zip((x > 0).T, weights):
            (chosen,) = torch.where(row)
            y[chosen] += x[chosen] @ weight
        return y

    def make(shift):
        return lambda: (torch.randn(5, 3) + shift, [torch.randn(3, 3) for _ in range(3)])

    agree(f, make(0.0), make(-9.0), make(9.0), make(0.3), graphs=[1])


def test_what_comes_before_code_of_the_users_is_a_graph():
    def f(x, y):
        a = x + y.sin()
        y.requires_grad_(Double.apply(x).requires_grad)
        return a, y

    agree(f, *[lambda: (torch.randn(4), torch.zeros(4))] * 3, graphs=[1])


def test_prints_and_random_numbers_are_done_between_graphs(capsys):
    def f(x):
        y = x.sin()
        print("between", x.shape[0])
        return F.dropout(y, 0.5).cos()

    agree(f, tensor(4), tensor(4), tensor(4), graphs=[2])
    assert capsys.readouterr().out == "between 4\n" * 6


def test_modes_switched_inside():
    def f(x, w):
        with torch.no_grad():
            a = x @ w
        with torch.autocast("cpu", dtype=torch.bfloat16):
            b = x @ w
        return a + 1, b * 2, x @ w

    def make():
        return torch.randn(3, 3), torch.randn(3, 3, requires_grad=True)

    agree(f, make, make, make, graphs=[3])


def test_a_mode_that_is_switched_to_what_it_is():
    def f(x):
        with torch.no_grad():
            y = x.sin()
        return y.cos() * x

    with torch.no_grad():
        agree(f, tensor(3), tensor(3), tensor(3), graphs=[1])
    agree(f, *[tensor(3, requires_grad=True)] * 3, graphs=[2])


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 5


def test_a_users_autograd_function_is_run_as_it_is():
    def f(x):
        return (Double.apply(x.sin()),)

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    same(torch.autograd.grad(jitted(x)[0].sum(), x)[0], torch.autograd.grad(f(x)[0].sum(), x)[0])


# Objects and memory


def test_what_is_returned_is_shared_as_in_eager():
    def f(x, w):
        y = x @ w
        z = y.view(-1)
        return x, x[1:], y, z, y, z[2:], w.T

    jitted = jit(f, executor="aot")
    x, w = torch.randn(3, 3), torch.randn(3, 3)
    jitted(x, w)
    given, part, y, z, again, tail, turned = jitted(x, w)
    assert jitted.stats.hits == 1
    assert given is x
    assert again is y
    y[0, 2] = 7
    x[1, 0] = 8
    w[0, 1] = 9
    assert (z[2], tail[0], part[0, 0], turned[1, 0]) == (7, 7, 8, 9)
    agree(f, *[lambda: (torch.randn(3, 3), torch.randn(3, 3))] * 2)


def test_writes_to_inputs_and_views_of_them():
    def f(x, y):
        x.add_(1)
        x[0].mul_(y)
        return x.view(-1), y + x.sum()

    agree(f, *[lambda: (torch.randn(2, 3), torch.randn(3))] * 3, graphs=[1])


def test_inputs_that_begin_to_share_memory():
    def f(x, y):
        x.add_(1)
        return y * 2

    def apart():
        return torch.randn(4), torch.randn(4)

    def shared():
        whole = torch.randn(4)
        return whole, whole.view(4)

    with pytest.warns(NotCompiled, match="share"):
        agree(f, apart, apart, *[shared] * 7, apart, graphs=None)


def test_statistics_of_a_batch_norm():
    module = torch.nn.BatchNorm1d(3)
    other = torch.nn.BatchNorm1d(3)
    jitted = jit(other, executor="aot")
    for _ in range(3):
        x = torch.randn(5, 3)
        same(module(x), jitted(x))
    same(list(module.buffers()), list(other.buffers()))
    assert jitted.stats.hits >= 1


# Gradients


def test_gradients_by_a_result_of_the_call():
    def f(x):
        h = x.sin()
        return h, (h * h).sum()

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    (h, y), (own, other) = jitted(x), f(x)
    same(torch.autograd.grad(y, [h, x]), torch.autograd.grad(other, [own, x]))


def test_a_hook_on_a_value_made_inside():
    def f(x):
        h = x.sin()
        h.register_hook(lambda gradient: gradient * 10)
        return h.cos() + h

    jitted = agree(f, tensor(4, requires_grad=True), tensor(4, requires_grad=True))
    x = torch.randn(4, requires_grad=True)
    same(torch.autograd.grad(jitted(x).sum(), x), torch.autograd.grad(f(x).sum(), x))


# Leaving a compiled program


def test_a_branch_on_data_does_nothing_twice(capsys):
    def f(x):
        noise = torch.rand(3)
        print("once")
        y = x * noise
        if y.sum() > 0:
            return y + torch.rand(3)
        return y - 1

    agree(f, *(lambda s=s: (torch.full((3,), s),) for s in (1.0, 2.0, -1.0, -2.0, 3.0, -3.0)), hits=4)
    assert capsys.readouterr().out == "once\n" * 12


def test_a_branch_reads_what_was_computed_before_it():
    def f(x):
        a = x.sin()
        b = a.cos()
        if b.sum() > 2:
            return b + 1
        return a * 2, b

    agree(f, *(lambda s=s: (torch.full((3,), s),) for s in (0.0, 1.5, 0.1, 1.4, 0.0)), hits=3)


def test_an_exception_is_that_of_the_operation():
    def f(table, index):
        try:
            return table[index].sin()
        except IndexError as error:
            return str(error)

    agree(f, *(lambda n=n: (torch.randn(4), torch.tensor([0, n])) for n in (1, 2, 9, 3)), hits=2)


def test_numbers_asked_of_inputs_are_asked_first():
    def f(cache, position, x):
        cache[:2].add_(x)
        if position.item() < 2:
            return cache.sum()
        return cache.cumsum(0) * x

    calls = [lambda n=n: (torch.ones(4), torch.tensor(n), torch.tensor(2.0)) for n in (0, 1, 2, 3, 0, 2)]
    agree(f, *calls, hits=4, graphs=[2])


# Backends


def test_a_backend_gets_a_graph_and_examples():
    given = []

    def backend(graph, examples):
        given.append((graph, examples))
        return graph.forward

    agree(lambda x: x.sin() + 1, tensor(3), tensor(3), executor=backend, graphs=[1])
    (graph, (example,)) = given[0]
    assert isinstance(graph, torch.fx.GraphModule)
    assert example.shape == (3,)


@pytest.mark.parametrize("name", ["eager", "aot_eager"])
def test_backends_of_torch(name):
    agree(lambda x: x.sin() + 1, tensor(3), tensor(3), executor=torch._dynamo.lookup_backend(name), graphs=[1])


FAILING = {
    "raises": (RuntimeError("no such instruction"), "broken.*no such instruction"),
    "gives no callable": (None, "broken.*None, which can't be called"),
    "fails when called": (lambda *inputs: 1 / 0, "broken.*ZeroDivisionError"),
    "gives a text": (lambda *inputs: "result", "one str where the graph gives a tuple of 1"),
    "gives a tensor that is in no tuple": (lambda x: x.sin(), "one Tensor where the graph gives a tuple of 1"),
    "gives too little": (lambda *inputs: (), "0 results where the graph gives a tuple of 1"),
    "gives another shape": (lambda x: (x.sin()[:2],), r"\[2\] on cpu.*, not a torch.float32 \[3\]"),
    "gives another type": (lambda x: (x.double(),), "float64"),
    "gives no gradient": (lambda x: (x.detach().sin(),), "that needs a gradient"),
}


@pytest.mark.parametrize("how", FAILING)
def test_a_backend_that_fails_is_named_and_eager_serves(how):
    made, reason = FAILING[how]

    def broken(graph, examples):
        if isinstance(made, Exception):
            raise made
        return made

    called = callable(made)
    calls = [tensor(3, requires_grad=True)] * 4
    with pytest.warns(NotCompiled, match=reason) as told:
        jitted = agree(lambda x: x.sin(), *calls, executor=broken, hits=2 if called else 3)
    assert len(told) == 1
    (entry,) = jitted.stats.entries
    (fallback,) = entry.fallbacks
    assert fallback in str(told[0].message)
    assert fallback in jitted.explain()


def test_a_program_that_writes_before_a_question_is_compiled():
    def f(x, y):
        x.add_(1)
        return y + 1 if x.sum() > 0 else y

    agree(f, *(lambda s=s: (torch.full((3,), s), torch.randn(3)) for s in (0.0, 1.0, -5.0, -6.0, 2.0)), hits=3)


def test_calls_are_served_while_the_compiler_works():
    go = threading.Event()

    def slow(graph, examples):
        go.wait(60)
        return graph.forward

    jitted = agree(lambda x: x.sin(), tensor(3), tensor(3), executor=slow, compile="background", graphs=[1])
    (entry,) = jitted.stats.entries
    assert not entry.program.compiled
    go.set()
    entry.program.wait()
    assert entry.program.compiled
    x = torch.randn(3)
    same(jitted(x), x.sin())


def test_a_failure_in_the_background_is_reported_once():
    def broken(graph, examples):
        raise RuntimeError("no such instruction")

    jitted = jit(lambda x: x.sin(), executor=broken, compile="background")
    x = torch.randn(3)
    jitted(x)
    jitted.stats.entries[0].program.wait()
    with pytest.warns(NotCompiled, match="no such instruction"):
        jitted(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(jitted(x), x.sin())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cudagraphs_need_a_device():
    with pytest.raises(ValueError, match="cudagraphs.*CUDA"):
        jit(torch.sin, executor="cudagraphs")


def test_phases_say_what_compiling_took():
    jitted = agree(lambda x: x.sin(), tensor(3), tensor(3))
    phases = jitted.stats.entries[0].phases
    assert phases["lower"] > 0
    assert phases["backend"] > 0


def test_inductor():
    def f(x, w):
        return (F.silu(x @ w) * x).sum(-1)

    jitted = jit(f, executor="inductor")
    x, w = torch.randn(4, 4), torch.randn(4, 4, requires_grad=True)
    jitted(x, w)
    x = torch.randn(4, 4)
    actual, expected = jitted(x, w), f(x, w)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(torch.autograd.grad(actual.sum(), w), torch.autograd.grad(expected.sum(), w))
    assert jitted.stats.hits == 1
    assert len(jitted.stats.entries[0].graphs) == 1


# The zoo

#: Their training has several graphs: the adapters keep a value on the module from which more is computed, and the
#: grouped router chooses without gradients what it then weighs with them.
PARTED = {*(model.name for model in select(["family:adapter"])), "GroupedTopkRouter", "deepseek", "grouped-experts"}


def check_cell(name, workload, executor, exact=True):
    """Recorded with some inputs, run with others: bitwise as eager, from one graph each."""
    (model,) = select([name])
    how = WORKLOADS[workload]
    module = model.build(workload=workload)
    first, other = how.prepare(model, module), how.prepare(model, module, seed=1)
    jitted = jit(how.target(module), executor=executor)
    first.run(jitted)
    first.reset()
    expected = other.run(how.target(module))
    other.reset()
    hits = jitted.stats.hits
    actual = other.run(jitted)
    assert jitted.stats.hits > hits
    assert expected.keys() == actual.keys()
    for key, value in expected.items():
        if exact:
            assert torch.equal(value, actual[key]), key
        else:
            torch.testing.assert_close(value, actual[key], msg=key, rtol=1e-3, atol=1e-4)
    compiled = [form for entry in jitted.stats.entries for form in entry.program.compiled]
    assert compiled
    assert not any(entry.fallbacks for entry in jitted.stats.entries)
    if not (name in PARTED and workload == "train"):
        assert {len(form.graphs) for form in compiled} == {1}


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("pythia-14m", "train"),
        ("Mixtral-8x7B-v0.1", "forward"),
        ("Mistral-7B-v0.1", "decode"),
        ("Llama-3-8B", "decode-maxp1"),
    ],
)
def test_models_on_aot(name, workload):
    check_cell(name, workload, "aot")


def test_a_model_on_a_backend_of_ones_own():
    check_cell("Gemma-2b", "train", graph_itself)


@pytest.mark.long
@pytest.mark.parametrize("model", [model.name for model in select([]) if model.expected is None])
@pytest.mark.parametrize("workload", ["forward", "train", "decode"])
@pytest.mark.parametrize("executor", ["aot", "inductor"])
def test_the_zoo(model, workload, executor):
    if select([model])[0].supports(workload) is None:
        check_cell(model, workload, executor, exact=executor == "aot")


def test_a_loop_over_a_size_that_changes():
    """As long as the size that was compiled for, and not for others."""

    def f(x):
        total = 0
        for i in range(x.size(0)):
            total = total + x[i] * i
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)  # an index that may be out of range
        agree(f, *(tensor(n, 2) for n in (2, 3, 4, 2, 3, 4, 5, 3)), executor="aot", hits=3)


def test_where_a_tensor_begins_is_asked_each_time():
    def f(x):
        return x * (x.storage_offset() + 1)

    def rows(n):
        return lambda: (torch.arange(12.0).view(4, 3)[n : n + 2],)

    with pytest.warns(NotCompiled, match="where in its memory a tensor begins"):
        agree(f, rows(0), rows(0), rows(1), rows(2), rows(1), executor="aot", hits=2)
