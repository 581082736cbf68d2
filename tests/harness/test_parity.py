"""The judgement itself, against what a reader can check by hand."""

import math

import pytest
import torch

from harness.parity import compare, distance, repeated, same_bits, worst


def one(want, got, **more):
    return compare({"output": want}, {"output": got}, **more)


def test_same_bits_tells_zeros_apart_and_joins_nans():
    assert same_bits(torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert same_bits(torch.empty(0, 3), torch.empty(0, 3))
    assert same_bits(torch.tensor([1 + 2j]), torch.tensor([1 + 2j]))
    assert same_bits(torch.arange(6).view(2, 3).T, torch.arange(6).view(2, 3).T.contiguous())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int, torch.bool])
def test_equal_tensors_are_bitwise(dtype):
    value = torch.tensor([0, 1, 1, 0]).to(dtype)
    assert one(value, value.clone()).parity == "bitwise"


def test_close_is_within_twice_what_eager_is_off_by():
    reference = torch.tensor([1.0, 100.0], dtype=torch.float64)
    want = (reference + 1e-3).float()
    assert one(want, (reference - 1.9e-3).float(), reference={"output": reference}).parity == "close"
    assert one(want, (reference - 2.5e-3).float(), reference={"output": reference}).parity == "differs"


def test_luck_of_one_run_of_eager_is_not_held_against_the_other():
    """Eager hit the float64 run exactly; from other weights it misses it by as much as the jitted result does."""
    exact, other = (torch.linspace(start, 2, 8, dtype=torch.float64) for start in (1, 1.25))
    want, off = exact.float(), 6 * torch.finfo(torch.float32).eps
    got = want + 2 * off

    def judged(*again):
        return compare({"x": want}, {"x": got}, {"x": want.double()}, again=again).parity

    assert judged() == "differs"
    assert judged(({"x": other.float()}, {"x": other})) == "differs"
    assert judged(({"x": (other + 2 * off).float()}, {"x": other})) == "close"
    # What is no rounding, or not that result, widens nothing.
    assert judged(({"x": (other + 0.1).float()}, {"x": other})) == "differs"
    assert judged(({"x": other[:3].float() + 2 * off}, {"x": other}), ({"y": want}, {"x": other})) == "differs"


def test_without_a_float64_run_nothing_is_close():
    found = one(torch.tensor([1.0]), torch.tensor([1.0 + 1e-6]))
    assert found.parity == "differs"
    assert "no float64 run" in found.reasons[0]


def test_a_float64_run_of_something_else_explains_nothing():
    """Eager, jitted and the float64 run each met another state: their distances are no rounding."""
    reference = torch.tensor([3.0, 300.0], dtype=torch.float64)
    want, got = reference.float() / 3, reference.float() * 2 / 3
    assert one(want, got, reference={"output": reference}).parity == "differs"


@pytest.mark.parametrize(("dtype", "off", "parity"), [
    (torch.float32, 1e-4, "close"),
    (torch.float32, 1e-2, "differs"),
    (torch.bfloat16, 1e-2, "close"),
    (torch.bfloat16, 0.2, "differs"),
])
def test_how_far_eager_may_be_from_float64(dtype, off, parity):
    reference = torch.tensor([0.5, 1.0], dtype=torch.float64)
    want, got = (reference * (1 + off)).to(dtype), (reference * (1 - off)).to(dtype)
    assert one(want, got, reference={"output": reference}).parity == parity


def test_a_result_is_as_exact_as_what_it_was_computed_in():
    """A loss in float32 of a model in bfloat16: eager may be near the float64 run by chance."""
    reference = {"output": torch.tensor([5.0], dtype=torch.float64)}
    want, got = torch.tensor([5.0001]), torch.tensor([5.01])
    assert one(want, got, reference=reference).parity == "differs"
    assert one(want, got, reference=reference, computed=torch.float32).parity == "differs"
    assert one(want, got, reference=reference, computed=torch.bfloat16).parity == "close"


def test_a_float64_run_is_believed_where_a_second_one_gives_the_same():
    first = {"a": torch.tensor([3.0, 1.0]).double(), "b": torch.tensor([1000.0]).double(), "c": torch.tensor([7])}
    second = {"a": first["a"] * (1 + 1e-15), "b": first["b"] + 1, "c": torch.tensor([7])}
    assert repeated(first, second).keys() == {"a", "c"}


def test_integers_differ_or_do_not():
    found = one(torch.tensor([1, 2]), torch.tensor([1, 3]), reference={"output": torch.tensor([1, 2])})
    assert found.parity == "differs"


@pytest.mark.parametrize("got", [math.nan, math.inf, -math.inf])
def test_a_nan_or_an_infinity_of_one_side_alone_differs(got):
    reference = {"output": torch.tensor([1.0], dtype=torch.float64)}
    assert one(torch.tensor([1.0]), torch.tensor([got]), reference=reference).parity == "differs"
    assert distance(torch.tensor([1.0]), torch.tensor([got])) == math.inf
    assert distance(torch.tensor([got]), torch.tensor([got])) == 0


def test_results_that_are_missing_or_too_many_differ():
    a = torch.ones(1)
    assert compare({"output": a, "x": a}, {"output": a}).parity == "differs"
    assert compare({"output": a}, {"output": a, "x": a}).parity == "differs"
    assert one(a, torch.ones(1, 1)).parity == "differs"
    assert one(3, 3).parity == "bitwise"
    assert one(1, True).parity == "differs"
    assert one(math.nan, math.nan).parity == "bitwise"


def test_worst():
    assert worst("bitwise", "close") == "close"
    assert worst("none", "differs", "bitwise") == "none"
