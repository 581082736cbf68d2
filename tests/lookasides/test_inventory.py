"""The inventory: everything that is written in C is found and accounted for."""

import builtins
import collections
import functools
import itertools
import json
import operator
import subprocess
import sys
import types

import pytest

from interpreter.lookasides.inventory import in_c, main, rows

# What no stand-in can do without: the world outside the process, and the memory that objects take.
WORLD = {"breakpoint", "input", "io.open", "_io.open"}


@pytest.fixture(scope="module")
def listed():
    return {row["callable"]: row for row in rows()}


def test_nothing_that_a_traced_function_uses_is_a_sharp_edge(listed):
    left = {name for name, row in listed.items() if row["status"] == "opaque" and not name.endswith(".__sizeof__")}
    assert {name.removeprefix("builtins.") for name in left} <= WORLD


def test_every_row_has_a_status_and_a_reason(listed):
    assert {row["status"] for row in listed.values()} == {"lookaside", "pure", "opaque"}
    assert [name for name, row in listed.items() if not row["reason"]] == []
    assert len(listed) > 900


@pytest.mark.parametrize("module", [builtins, itertools, functools, operator, collections], ids=lambda m: m.__name__)
def test_public_names_of_modules_are_found(module, listed):
    from interpreter.lookasides.registry import qualified_name

    for name, member in vars(module).items():
        if not name.startswith("_") and callable(member) and in_c(member):
            assert qualified_name(member) in listed


def test_what_is_written_in_python_is_told_apart():
    assert in_c(zip) and in_c(functools.partial) and in_c(operator.itemgetter) and in_c(len)
    assert not in_c(collections.Counter) and not in_c(functools.wraps) and not in_c(types.DynamicClassAttribute)


def test_the_command_prints_it(capsys):
    assert main(["--opaque"]) == 0
    shown = capsys.readouterr().out
    assert "input" in shown and "zip" not in shown
    assert main(["--wrong"]) == 2
    assert "usage" in capsys.readouterr().err


def test_it_needs_no_torch():
    code = "import sys, interpreter.lookasides.inventory; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_harness_shows_it():
    pytest.importorskip("pandas")
    pytest.importorskip("rich")
    command = [sys.executable, "-m", "harness", "coverage", "--inventory"]
    shown = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True).stdout
    tables = json.loads(shown)
    assert sum(len(tables[status]) for status in ("opaque", "lookaside", "pure")) == len(rows())
    wrong = subprocess.run([*command, "results/run"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "takes no run" in wrong.stderr
