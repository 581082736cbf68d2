"""Parts by themselves: counting, timing, expectations, lines, plans."""

import datetime
import gc
import itertools
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import expected, timing
from harness.bisect import cell_of, smallest
from harness.counting import native_instructions
from harness.errors import UsageError
from harness.growth import line
from harness.noise import summary
from harness.plan import Cell, plan, shard
from harness.row import break_even
from harness.subjects import Interpreter
from models import WORKLOADS, select


def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_native_instructions_are_exact_and_linear():
    counts = [native_instructions(lambda n=n: loop(n)) for n in (10, 10, 20, 30)]
    assert counts[0] == counts[1]
    assert counts[3] - counts[2] == counts[2] - counts[1] > 0


def test_counting_leaves_tracing_as_it_was():
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        native_instructions(lambda: 1 / 0)
    assert sys.gettrace() is before


@pytest.fixture(autouse=True, scope="module")
def small_heap():
    """Collecting garbage costs by what there is; in a cell, all that its parent imported is frozen."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class FakeClock:
    """Time that passes only when a call says so: the statistics without the machine."""

    cuda = False

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def span(self, call, calls=1):
        start = self.time
        for _ in range(calls):
            call()
        return (self.time - start) / calls


def simulated(first, second, **more):
    clock = FakeClock()

    def spend(cost):
        def call():
            clock.time += cost()
        return call
    return timing.paired(spend(first), spend(second), clock=clock, now=clock.now, budget=0.5, **more)


def test_ratio_of_known_costs():
    found = simulated(lambda: 1e-3, lambda: 2e-3).summary()
    assert found["ratio"] == pytest.approx(2)
    assert (found["ratio_low"], found["ratio_high"]) == (pytest.approx(2), pytest.approx(2))
    assert not found["noisy"]


def test_drift_falls_on_both_alike():
    """A machine that gets three times slower during the run: the medians are off, the paired ratio is not."""
    elapsed = [0.0]

    def drifting(factor):
        def cost():
            seconds = factor * 1e-3 * (1 + 4 * elapsed[0])
            elapsed[0] += seconds
            return seconds
        return cost
    found = simulated(drifting(1.0), drifting(1.5)).summary()
    assert found["ratio"] == pytest.approx(1.5, rel=0.02)


def test_warm_up_is_found():
    calls = [0]

    def faster_and_faster():
        calls[0] += 1
        return 1e-3 * (1 + 5 * 0.8 ** calls[0])
    found = simulated(lambda: 1e-3, faster_and_faster)
    assert found.warmup >= 20
    assert max(found.second) == pytest.approx(1e-3, rel=0.05)
    assert simulated(lambda: 1e-3, lambda: 1e-3).warmup <= 10


def test_noise_is_said_and_sampled_longer():
    import random
    chance = random.Random(0)
    noisy = simulated(lambda: 5e-3, lambda: 5e-3 * chance.lognormvariate(0, 1))
    quiet = simulated(lambda: 5e-3, lambda: 5e-3)
    assert noisy.summary()["noisy"]
    assert len(noisy.first) > 2 * len(quiet.first)


def test_short_calls_are_timed_in_batches():
    assert simulated(lambda: 1e-5, lambda: 1e-5).inner == pytest.approx(50, abs=2)
    assert simulated(lambda: 1e-2, lambda: 1e-2).inner == 1


def test_a_very_slow_call_is_not_repeated_for_ever():
    assert len(simulated(lambda: 30.0, lambda: 30.0).first) <= 3


def test_garbage_is_collected_outside_of_samples():
    seen = []
    simulated(lambda: seen.append(gc.isenabled()) or 1e-3, lambda: 1e-3)
    assert not any(seen)
    assert gc.isenabled()


def test_interval_holds_the_truth_and_narrows():
    import random
    chance = random.Random(1)
    widths = []
    for size in (20, 400):
        inside = 0
        for _ in range(20):
            values = [chance.lognormvariate(0, 0.1) for _ in range(size)]
            low, high = timing.interval(values)
            inside += low <= 1 <= high
        assert inside >= 16
        widths.append(high - low)
    assert widths[1] < widths[0]


def test_break_even():
    row = {"first_call_s": 10.0, "eager_s": 2.0, "ratio": 0.5, "ratio_high": 0.6}
    assert break_even(row) == pytest.approx(9)
    assert 10 + 8 * 1 == 9 * 2
    assert break_even({**row, "ratio_high": 1.01}) is None


def test_line():
    fixed, slope, r2 = line([2, 4, 8], [7, 13, 25])
    assert (fixed, slope, r2) == (pytest.approx(1), pytest.approx(3), pytest.approx(1))


def test_noise_is_how_far_intervals_reach_from_one():
    rows = [{"cell": "a", "ratio": 1.0, "ratio_low": 0.97, "ratio_high": 1.01},
            {"cell": "b", "ratio": 1.02, "ratio_low": 1.0, "ratio_high": 1.04}]
    assert summary(rows)["smallest_change"] == pytest.approx(0.04)
    assert summary([{"ratio": None}]) is None


CELL = Cell("m", "forward", "dynamo")


def test_cell_ids_are_stable_and_unique():
    assert CELL.id == "m/forward/dynamo/eager/float32/cpu/tiny"
    assert Cell("m", "forward", "dynamo", depth=4).id.endswith("/tiny-4")
    assert Cell("a/b.py:C", "forward", "interpreter").id == "a/b.py:C/forward/interpreter/eager/float32/cpu/tiny"
    assert Cell.fromdict(CELL.asdict()) == CELL


def test_autocast_is_planned_for_float32_only():
    cells = plan(select(["pythia-14m"]), list(WORKLOADS), [Interpreter], ["eager", "aot"],
                 dtypes=("float32", "bfloat16", "float16"))
    planned = {(cell.workload, cell.dtype) for cell in cells}
    plain = [name for name in WORKLOADS if not name.endswith("-autocast")]
    assert planned == {*itertools.product(plain, ("float32", "bfloat16", "float16")),
                       *((name, "float32") for name in WORKLOADS if name not in plain)}
    assert len(plain) < len(WORKLOADS)
    assert len(cells) == 2 * len(planned)


def test_shards_partition():
    """The parts are the plan, in its order; each has its share of every executor, also where N divides their count."""
    cells = [Cell(model, workload, "interpreter", executor, dtype) for model in "abcde"
             for workload in ("forward", "train") for dtype in ("float32", "bfloat16") for executor in ("eager", "aot")]
    for count in (1, 2, 3, 4, 7):
        parts = [shard(cells, f"{i}/{count}") for i in range(1, count + 1)]
        assert sorted(sum(parts, []), key=cells.index) == cells
        for part in parts:
            assert part == sorted(part, key=cells.index)
            assert abs(len(part) - len(cells) / count) < 1
            assert abs(sum(cell.executor == "aot" for cell in part) - len(cells) / 2 / count) < 1


ENTRY = {"cell": "m/forward/*", "status": "raised", "reason": "why", "link": "#1", "until": datetime.date(2030, 1, 1)}
BEFORE, AFTER = datetime.date(2029, 12, 31), datetime.date(2030, 1, 1)


def write(path, **changes):
    lines = ["[[expected]]"]
    for key, value in {**ENTRY, **changes}.items():
        if value is not None:
            lines.append(f"{key} = {value.isoformat() if isinstance(value, datetime.date) else repr(value)}")
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("key", ["cell", "status", "reason", "link", "until"])
def test_an_entry_needs_all_it_is_judged_by(tmp_path, key):
    with pytest.raises(UsageError, match=f"{key} is missing"):
        expected.read(write(tmp_path / "e.toml", **{key: None}))


@pytest.mark.parametrize(("changes", "said"), [
    ({"status": "pass"}, "is none of"), ({"until": "soon"}, "not a date"), ({"reason": " "}, "reason is empty"),
    ({"untill": 1}, "untill is not known"),
])
def test_a_wrong_entry_is_refused(tmp_path, changes, said):
    with pytest.raises(UsageError, match=said):
        expected.read(write(tmp_path / "e.toml", **changes))


def row(status, detail="boom"):
    return {"cell": CELL.id, "status": status, "detail": detail}


def test_expectations_work_both_ways(tmp_path):
    entries = expected.read(write(tmp_path / "e.toml"))
    assert expected.shortcomings([row("raised")], [], entries, BEFORE) == []
    assert "passes, though" in expected.shortcomings([row("pass")], [], entries, BEFORE)[0][1]
    assert "accepted only until 2030-01-01" in expected.shortcomings([row("raised")], [], entries, AFTER)[0][1]
    assert "raised was expected" in expected.shortcomings([row("crash")], [], entries, BEFORE)[0][1]
    assert expected.shortcomings([row("raised")], [], [], BEFORE) == [(CELL.id, "raised: boom")]
    assert expected.shortcomings([], ["x"], entries, BEFORE) == [("x", "planned, but there is no row")]


def test_an_accepted_skip_is_not_run_until_it_expires(tmp_path):
    entries = expected.read(write(tmp_path / "e.toml", status="skipped"))
    assert list(expected.skips([CELL], entries, BEFORE)) == [CELL.id]
    assert expected.skips([CELL], entries, AFTER) == {}


def test_the_harness_starts_without_torch():
    """Wrong usage and help are answered at once: nothing heavy is imported for them."""
    code = textwrap.dedent("""
        import sys
        from harness.cli import main
        assert main(["run", "--depth", "zero"]) == 2
        assert not {"torch", "pandas", "litgpt"} & set(sys.modules), "imported too early"
    """)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@given(st.sets(st.integers(0, 40), min_size=1, max_size=6), st.integers(41, 60))
def test_smallest_leaves_exactly_the_culprits(culprits, size):
    tried = []

    def holds(names):
        tried.append(names)
        return culprits <= set(names)
    assert set(smallest(range(size), holds)) == culprits
    assert len(tried) < 400


@given(st.sets(st.integers(0, 20), min_size=1))
def test_smallest_of_alternatives_is_one(either):
    assert len(smallest(range(21), lambda names: bool(either & set(names)))) == 1


@pytest.mark.parametrize("cell", [CELL, Cell("a", "train", "interpreter", "aot", "bfloat16", "cuda:0", "full", 12),
                                  Cell("Llama-3.1-8B", "decode-batched", "dynamo-fullgraph"),
                                  Cell("own/m.py:Net", "train", "x/y.py:Jit", "/z/e.py:run", "float64", "cpu", depth=2),
                                  Cell("a", "forward", "x/y.py:Jit", "pkg.mod:run"),
                                  Cell("/m.py:Net", "forward", "eager")])
def test_a_cells_id_names_it(cell):
    assert cell_of(cell.id) == cell


def test_a_short_name_is_the_interpreters_cell():
    assert cell_of("LLaMAMoE/forward").id == "LLaMAMoE/forward/interpreter/eager/float32/cpu/tiny"
    assert cell_of("some/where/m.py:Net/train").model == "some/where/m.py:Net"


def test_peak_of_tensors_is_exact_and_the_same_each_time():
    import torch

    from harness.memory import peak_bytes

    def call():
        first = torch.ones(1000)
        second = first + 1
        del first
        return second.sum() + torch.ones(500).sum()
    first = peak_bytes(call)
    assert first == peak_bytes(call)
    assert 8000 <= first < 9000
