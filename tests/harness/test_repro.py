"""A standalone file shows the same failure as its cell, and is as small as the failure lets it be."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(path):
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=path.parent)


@pytest.mark.long
def test_a_missing_lookaside(harness, tmp_path):
    path = tmp_path / "repro.py"
    finished = harness("repro", "LLaMAMoE/forward", "--without", "zip", "--out", path)
    assert finished.status == 0, finished.err + finished.out
    text = path.read_text()
    assert "n_expert=8" not in text
    assert "n_embd=4" in text
    done = run(path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("FAILS is never served from the cache, by builtins.zip: ")
    mended = tmp_path / "mended.py"
    mended.write_text(text.replace("    del lookasides()[name]", "    lookasides()[name]"))
    done = run(mended)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "passes"), done.stdout + done.stderr


def test_it_needs_nothing_but_torch_litgpt_and_the_interpreter(harness, tmp_path):
    path = tmp_path / "repro.py"
    assert harness("repro", "StaticExperts/forward", "--without", "zip", "--out", path).status == 0
    imported = {getattr(node, "module", None) or node.names[0].name for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Import | ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {"torch", "litgpt", "interpreter", "re", "sys", "traceback"}


WRONG = '''
import math

import torch
from torch import nn
from interpreter.lookasides import lookaside, lookasides

lookasides().pop("math.expm1", None)


@lookaside(math.expm1)
def expm1_(x):
    raise KeyError("only when interpreted")


class Wrong(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) * math.expm1(2.0)

    def example_inputs(self):
        return (torch.randn(2, 4),)
'''


def test_an_exception_keeps_its_line(harness, tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    path = tmp_path / "repro.py"
    finished = harness("repro", f"{tmp_path}/wrong.py:Wrong/forward", "--out", path)
    assert finished.status == 0, finished.err + finished.out
    done = run(path)
    assert done.stdout.splitlines()[-1] == (
        "FAILS raised KeyError in `return self.linear(x) * math.expm1(2.0)`: 'only when interpreted'")


OFF = WRONG.replace('raise KeyError("only when interpreted")', "return x") + '''

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.wrong, self.after = nn.Linear(4, 4), Wrong(), nn.Linear(4, 4)

    def forward(self, x):
        return self.after(self.wrong(self.before(x)))

    def example_inputs(self):
        return (torch.randn(2, 4),)
'''


def test_a_wrong_result_is_traced_to_the_module_that_is_wrong_first(harness, tmp_path):
    (tmp_path / "off.py").write_text(OFF)
    path = tmp_path / "repro.py"
    finished = harness("repro", f"{tmp_path}/off.py:Outer/forward", "--out", path)
    assert finished.status == 0, finished.err + finished.out
    assert run(path).stdout.splitlines()[-1].startswith("FAILS differs in output, first in Wrong: output 0, call ")


@pytest.mark.parametrize(("cell", "said"), [
    ("LLaMAMoE/forward", "there is no failure to show"),
    ("LLaMAMoE/forward/dynamo/eager/float32/cpu/tiny", "repro writes forward, train, decode of the interpreter"),
    ("LLaMAMoE", "is not a cell"),
    ("LLaMAMo/forward", "LLaMAMoE"),
])
def test_refusals(harness, cell, said):
    finished = harness("repro", cell)
    assert finished.status == 2
    assert said in finished.err
    assert len(finished.err.splitlines()) == 1


def test_shrinking_keeps_the_signature_and_ends():
    from harness.plan import Cell
    from harness.repro import Recipe, Tensor, shrink
    config = {"n_layer": 2, "n_embd": 64, "n_expert": 8, "bias": True, "n_head": 4, "n_query_groups": 4}
    start = Recipe(Cell("m", "forward", "interpreter"), "t", ("litgpt.model", "GPT"), ("litgpt.config", "Config"),
                   config, inputs=(Tensor((2, 16), 128),))

    def trial(recipe):
        fine = recipe.config["n_expert"] >= 2 and recipe.inputs[0].shape[1] >= 4
        return "fails" if fine and recipe.config["n_head"] % recipe.config["n_query_groups"] == 0 else "otherwise"
    found = shrink(start, "fails", trial, lambda text: None)
    assert found.config["n_expert"] == 2
    assert found.config["n_layer"] == found.config["n_head"] == 1
    assert found.config["n_embd"] == 4
    assert found.inputs[0].shape == (1, 4)
