"""The script that measures beside peers: who has a row, without the time that measuring takes."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
from rich.console import Console

from harness.subjects import Thunder, Unavailable

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import peers
    return peers


def test_thunder_has_a_row_where_it_is_installed(peers, monkeypatch):
    """What thunder makes of a module is what is measured."""
    monkeypatch.setattr(Thunder, "preload", classmethod(lambda cls: None))
    monkeypatch.setitem(sys.modules, "thunder", SimpleNamespace(jit=lambda module: ("by thunder", module)))
    makers = peers.peers(Console(file=io.StringIO()))
    assert list(makers) == ["interpreter", "Dynamo", "Thunder"]
    assert makers["Thunder"]("module") == ("by thunder", "module")


def test_thunder_is_said_to_be_missing(peers, monkeypatch):
    """No row, and a line with the reason."""
    def refuse(cls):
        raise Unavailable("no thunder in this test")

    monkeypatch.setattr(Thunder, "preload", classmethod(refuse))
    said = io.StringIO()
    assert list(peers.peers(Console(file=said, width=200))) == ["interpreter", "Dynamo"]
    assert "no thunder in this test" in said.getvalue()
