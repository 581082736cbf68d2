"""Random programs look the same eager and jitted, whatever changes between their calls."""

import time
import warnings

import pytest
import torch

from tests.recording import number_programs, programs
from tests.recording.agree import same


def walk(first: int, seconds: float, grammar=programs) -> int:
    """Try one seed after another for so long; the first difference fails, with the program. Returns how many
    programs were tried."""
    torch.set_num_threads(1)
    deadline = time.monotonic() + seconds
    seed = first
    while time.monotonic() < deadline:
        check(seed, grammar)
        seed += 1
    return seed - first


def check(seed: int, grammar=programs):
    build, program = grammar.build_from(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            same(build)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{program}") from error


def test_random_programs():
    assert walk(0, 30) > 10


@pytest.mark.long
def test_random_programs_for_ten_minutes():
    assert walk(1_000_000 + int(time.time()), 600) > 100


def test_random_numbers():
    assert walk(0, 10, number_programs) > 10


@pytest.mark.long
def test_random_numbers_for_five_minutes():
    assert walk(1_000_000 + int(time.time()), 300, number_programs) > 100
