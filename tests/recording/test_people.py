"""What a person is told: why a call missed, what keeps changing, what ended a recording, and whose fault an exception
is."""

import contextlib
import traceback
import warnings

import pytest
import torch

from interpreter import InterpreterError
from interpreter.jit import SharpEdge, jit
from interpreter.recording.faults import Fault
from interpreter.recording.trace import Trace


def X(n=2):
    return torch.arange(float(n)) + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.blocks = torch.nn.ModuleList([torch.nn.Dropout(0.0)])
        self.scale, self.names = 2.0, ["a"]

    def forward(self, x):
        x = self.blocks[0](self.lin(x)) * self.scale
        return x if self.training and "b" not in self.names else -x


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m: setattr(m, "training", False), "self.training was True, is False"),
        (lambda m: setattr(m, "scale", "3"), "self.scale was 2.0, is '3'"),
        (lambda m: m.names.append("b"), "self.names had 1 items, is 2 items"),
        (
            lambda m: m.lin.requires_grad_(False),
            "self.lin.weight was Parameter float32[2, 2] on cpu, requires_grad, is Parameter float32[2, 2] on cpu",
        ),
        (lambda m: m.blocks[0].eval(), "self.blocks[0].training was True, is False"),
        (
            lambda m: setattr(m.lin, "bias", None),
            "self.lin.bias was Parameter float32[2] on cpu, requires_grad, is None",
        ),
        (lambda m: m.blocks.__setitem__(0, torch.nn.ReLU()), "self.blocks[0] was a Dropout, is a ReLU"),
        (lambda m: delattr(m, "names"), "self.names was a list, can't be read now (KeyError)"),
    ],
)
def test_a_miss_names_the_source_and_both_values(change, told):
    module = Model()
    jitted = jit(module)
    jitted(X())
    change(module)
    with contextlib.suppress(AttributeError, TypeError):
        jitted(X())
    assert jitted.stats.entries[0].missed == [told]


def test_a_miss_of_an_argument_and_of_a_closure():
    k = 1

    def f(x, n, options):
        return x * n * k + options.get("bias", 0)

    jitted = jit(f)
    jitted(X(), 1, {})
    jitted(X(), 1.5, {})
    k = 2
    jitted(X(), 1, {"bias": 2})
    newest, second, _ = jitted.stats.entries
    assert second.missed == ["n was 1, is 1.5"]
    assert newest.missed == ["n was a float, is 1", "f.k was 1, is 2"] or newest.missed[-1] == "f.k was 1, is 2"


def test_what_keeps_changing_is_named_after_eight_entries():
    def f(x, name, n):
        return x * len(name) + n

    jitted = jit(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(12):
            jitted(X(), f"name {i}", 1)
    (warning,) = caught
    assert "has been recorded 8 times" in str(warning.message)
    assert "name (7 times)" in str(warning.message) or "name (8 times)" in str(warning.message)
    assert warning.filename == __file__


def test_all_that_keeps_changing_is_named():
    def f(x, name, options, n):
        return x * len(name) + len(options["text"]) + n

    jitted = jit(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(10):
            jitted(X(), f"name {i}", {"text": f"text {i}"}, 1)
    (warning,) = caught
    assert "name (8 times), options['text'] (8 times); the last time name was 'name 7'" in str(warning.message)


def test_a_check_with_ever_new_answers_is_given_up_and_said():
    def f(x, names):
        return x * len(names[int(x.sum().item())])

    names = ["a" * (i + 1) for i in range(40)]
    line = f.__code__.co_firstlineno + 1
    jitted = jit(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(14):
            x = torch.full((1,), float(i))
            assert torch.equal(jitted(x, names), x * (i + 1))
    (warning,) = caught
    assert f"has had more than 8 answers, at {__file__}:{line}" in str(warning.message)
    assert warning.filename == __file__
    assert jitted.stats.entries[0].tail in str(warning.message)
    strict = jit(f, sharp_edges="error")
    with pytest.raises(SharpEdge, match="more than 8 answers"):
        for i in range(14):
            strict(torch.full((1,), float(i)), names)


def test_sharp_edges_warn_and_raise_at_the_users_line():
    def f(x):
        y = x * 2
        return y, y.numpy().sum()

    line = f.__code__.co_firstlineno + 2
    with pytest.warns(UserWarning, match=rf"numpy.*{__file__}:{line}") as caught:
        assert float(jit(f, sharp_edges="warn")(X())[1]) == 6
    assert caught[0].filename == __file__
    with pytest.raises(SharpEdge, match=rf"numpy.*{__file__}:{line}"):
        jit(f, sharp_edges="error")(X())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(f)(X())
    jitted = jit(f)
    jitted(X())
    assert f"{__file__}:{line}" in jitted.stats.entries[0].tail


def test_explain_tells_all_of_it():
    log = []

    def f(x, n):
        log.append(n)
        if x.sum() > 2:
            return x * n
        return x - n

    jitted = jit(f)
    for args in ((X(), 2), (X(), 2), (-X(), 2), (X(), 3)):
        jitted(*args)
    text = jitted.explain()
    for part in (
        "4 calls",
        "guards:",
        "n is 2",
        "operations:",
        "Tensor.sum(x)",
        "check:",
        "was True",
        "write: f.log.append()",
        "where it is True:",
        "where it is False:",
        "result: v",
        "routes:",
        f"{__file__}:{f.__code__.co_firstlineno + 2}",
        "made because: n was 2, is 3",
        "interpret ",
    ):
        assert part in text, f"{part!r} is not in\n{text}"


def test_user_errors_have_the_users_traceback_alone():
    """The same files, lines and functions as in eager: when it is recorded, when a program that has served raises, and
    when the call is run as it is."""

    def inner(x, n):
        return x.view(n, 7)

    def f(x, n):
        y = inner(x, n)
        return y

    class Model(torch.nn.Module):
        method = jit(f)

        def forward(self, x, n):
            return inner(x, n)

    def seen(call, x):
        try:
            call(x, 3)
        except RuntimeError as error:
            entries = traceback.extract_tb(error.__traceback__)[1:]
            return [(entry.filename, entry.lineno, entry.name) for entry in entries]
        return None

    for call, expected in ((jit(f), f), (jit(Model()), Model().forward), (lambda x, n: Model.method(x, n), f)):
        for x in (torch.ones(20), torch.ones(20), torch.ones(21), torch.ones(21), torch.ones(22), torch.ones(20)):
            eager, jitted = seen(expected, x), seen(call, x)
            if jitted is not None:
                jitted = [entry for entry in jitted if entry[2] not in ("_wrapped_call_impl", "_call_impl", "<lambda>")]
            assert jitted == eager


def test_a_fault_in_the_middle_is_not_the_users(monkeypatch):
    """No `except` of the user's catches it, and it names the line and the instruction."""

    def f(d, x):
        try:
            return x * d["scale"]
        except Exception:
            return None

    def broken(self, entry, key):
        raise AttributeError("broken on purpose")

    broken.__code__ = broken.__code__.replace(co_filename=Trace.read_key.__code__.co_filename)
    line = f.__code__.co_firstlineno + 2
    with monkeypatch.context() as patch:
        patch.setattr(Trace, "read_key", broken)
        with pytest.raises(
            InterpreterError,
            match=rf"^{__file__}:{line}: recording the instruction BINARY_\w+ failed with AttributeError: broken",
        ):
            jit(f)({"scale": 2}, X())


def test_a_fault_in_the_record_leaves_the_result_alone(monkeypatch):
    def f(x):
        return x * 2

    def broken(*args, **kwargs):
        raise TypeError("broken on purpose")

    jitted = jit(f)
    with monkeypatch.context() as patch:
        patch.setattr("interpreter.cache.Prologue", broken)
        with pytest.warns(
            Fault, match="could not be recorded, by a fault of the interpreter: TypeError: broken on purpose"
        ):
            assert torch.equal(jitted(X()), X() * 2)
    assert torch.equal(jitted(X()), X() * 2)
    assert torch.equal(jitted(X() + 1), (X() + 1) * 2)
    assert jitted.stats.hits == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"executor": "fast"}, "executor='fast' is not known"),
        ({"sharp_edges": "maybe"}, "sharp_edges='maybe' is not known"),
        ({"compile": "later"}, "compile='later' is not known"),
    ],
)
def test_wrong_options_say_what_would_be_right(options, told):
    with pytest.raises(ValueError, match=told):
        jit(torch.sin, **options)
    with pytest.raises(TypeError, match="jit takes a function or a module"):
        jit(3)


def test_a_first_call_that_raises_does_not_keep_later_ones_from_programs():
    def f(x):
        if x.sum() < 0:
            raise ValueError("negative")
        return x * 2

    jitted = jit(f)
    with pytest.raises(ValueError, match="negative"):
        jitted(-X())
    for _ in range(4):
        assert torch.equal(jitted(X()), X() * 2)
    assert jitted.stats.hits >= 2
    with pytest.raises(ValueError, match="negative"):
        jitted(-X())
