"""Each program in programs/ gives in the machine what it gives natively."""

import importlib
import inspect
from pathlib import Path

import pytest

from tests.vm.both import agree

FAMILIES = sorted(path.stem for path in (Path(__file__).parent / "programs").glob("*.py") if path.stem != "__init__")


def programs():
    """(family.name, function) of all programs; a name with an underscore is that of a helper."""
    for family in FAMILIES:
        module = importlib.import_module(f"tests.vm.programs.{family}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield pytest.param(function, id=f"{family}.{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [*programs()])
def test_as_native(program):
    agree(program)
