"""docs/writing-a-lookaside.md does what it says: its sessions and its commands are run."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interpreter.lookasides import REGISTRY
from interpreter.lookasides.new import Refused, main, resolve, write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/writing-a-lookaside.md"


@pytest.fixture
def copy(tmp_path):
    """What the commands of the page write to."""
    ignore = shutil.ignore_patterns("__pycache__", ".hypothesis")
    shutil.copytree(ROOT / "interpreter", tmp_path / "interpreter", ignore=ignore)
    shutil.copytree(ROOT / "tests/lookasides", tmp_path / "tests/lookasides", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_sessions():
    before = dict(REGISTRY)
    try:
        result = doctest.testfile(
            str(PAGE), module_relative=False, globs={"__name__": "__main__"}, optionflags=doctest.ELLIPSIS
        )
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)
    assert result.attempted > 15
    assert result.failed == 0


def test_commands(copy):
    commands = re.findall(r"^\$ python (.+)$", PAGE.read_text(), re.M)
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(
            [sys.executable, *command.split()], cwd=copy, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_both_parts_are_written_and_run(copy):
    assert write("zlib.crc32", copy) == ["interpreter/lookasides/zlib.py", "tests/lookasides/shapes.py"]
    assert write("input", copy)[0] == "interpreter/lookasides/builtins_calls.py"
    text = (copy / "interpreter/lookasides/zlib.py").read_text()
    assert "def crc32_(data, value=0, /):" in text
    assert "return zlib.crc32(data, value)" in text
    assert "import zlib\n" in (copy / "tests/lookasides/shapes.py").read_text()


@pytest.mark.parametrize(
    "name, why",
    [
        ("zip", "has a lookaside"),
        ("heapq.merge", "written in Python"),
        ("math.pi", "can't be called"),
        ("nowhere.at_all", "has no nowhere.at_all"),
        ("array", "is a module"),
        ("", "not the dotted name"),
        ("..", "not the dotted name"),
        ("array.", "not the dotted name"),
        ("two words", "not the dotted name"),
        ("torch.add", "operations of the program"),
        ("super", "answered by the machine"),
        ("itertools.batched", "came with 3.12" if sys.version_info < (3, 12) else "has a lookaside"),
    ],
)
def test_names_that_can_have_no_lookaside(name, why, capsys):
    with pytest.raises(Refused, match=why):
        resolve(name)
    assert main([name]) == 2
    shown = capsys.readouterr().err
    assert why in shown and shown.count("\n") == 1
    assert main([]) == 2
