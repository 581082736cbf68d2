"""The programs under pytest-benchmark: the machine's time, with its ratio to CPython's in the extra column."""

import statistics
import sys

import pytest

from benchmarks.vm.programs import PROGRAMS
from benchmarks.vm.ratios import paired_ratios
from interpreter import interpret

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("program", [*PROGRAMS], ids=lambda program: program.__name__)
def test_program(benchmark, program):
    size = PROGRAMS[program]
    ratio = statistics.median(paired_ratios(program, size))
    benchmark.extra_info["times CPython's"] = round(ratio, 1)
    sys.stdout.write(f"\n{program.__name__}: {ratio:.1f} times CPython's time\n")
    benchmark.pedantic(interpret(program), args=(size,), rounds=3, warmup_rounds=1)
