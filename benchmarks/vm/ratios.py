"""How much longer the machine takes than CPython: ``python benchmarks/vm/ratios.py [PROGRAM ...]``.

Time is that of the processor spent in this thread. Native and interpreted runs alternate, and what is printed is the
median of the ratios of neighbours, so that a machine
which is busy for a while slows both.
"""

import statistics
import sys
from pathlib import Path
from time import thread_time

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from programs import PROGRAMS  # noqa: E402

from interpreter import interpret  # noqa: E402


def paired_ratios(program, size, pairs=5):
    """Ratios of interpreted to native time, from runs in turn; raises AssertionError if the results differ."""
    run, ratios = interpret(program), []
    assert run(2) == program(2)
    for _ in range(pairs):
        start = thread_time()
        wanted = program(size)
        middle = thread_time()
        result = run(size)
        end = thread_time()
        assert result == wanted, f"{program.__name__}: {result} instead of {wanted}"
        ratios.append((end - middle) / (middle - start))
    return ratios


def main(names):
    """Print a line for each program, then the median of all."""
    medians = []
    for program, size in PROGRAMS.items():
        if names and program.__name__ not in names:
            continue
        ratios = paired_ratios(program, size)
        medians.append(statistics.median(ratios))
        spread = f"from {min(ratios):.1f} to {max(ratios):.1f}"
        sys.stdout.write(f"{program.__name__:20} {medians[-1]:6.1f}x CPython ({spread})\n")
        sys.stdout.flush()
    if medians:
        sys.stdout.write(f"{'median':20} {statistics.median(medians):6.1f}x\n")


if __name__ == "__main__":
    main(sys.argv[1:])
