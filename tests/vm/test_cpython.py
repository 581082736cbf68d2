"""CPython's own tests in the machine: most of core and builtins; all of them by ``python tests/vm/cpython.py``."""

import importlib.util

import pytest

from tests.vm.cpython import GROUPS, SLOW, judge, not_applicable

BROAD = [name for name in GROUPS["broad"].split() if importlib.util.find_spec(f"test.{name}") is not None]


@pytest.mark.parametrize("module", BROAD)
def test_module_holds(module):
    counted, wrong = judge(module, limit=60, seconds=180)
    assert counted
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


@pytest.mark.long
@pytest.mark.parametrize("module", sorted(SLOW))
def test_slow_module_holds(module):
    if importlib.util.find_spec(f"test.{module}") is None:
        pytest.skip(f"this Python has no test.{module}")
    counted, wrong = judge(module)
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def test_few_are_not_applicable():
    left_out = not_applicable()
    assert len(left_out) <= 40
    assert all(len(reason) > 20 for reason in left_out.values())
