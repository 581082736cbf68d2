"""One standalone file that shows a cell's failure, as small as it can be made without losing that very failure.

The file is its own judge: it prints what goes wrong, and a smaller one is taken only if it prints the same (the kind
of failure; the exception's type and the user's line; the kind of result that differs first).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import importlib
import inspect
import os
import re
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2
import torch

from harness.errors import UsageError
from harness.guardian import fork, guard
from harness.plan import Cell
from harness.report import templates
from harness.worker import own_session

WORKLOADS = ("forward", "train", "decode")
#: Seconds and trials after which what is there is as small as it gets.
PATIENCE, MOST_TRIALS = 150.0, 300

#: Fields of a configuration, what they may become, and what has to change with them. Tried over and over, in order.
#: What a configuration can't be made with is not taken, since the file then fails otherwise.
SMALLER: dict[str, tuple] = {
    "n_layer": (1,), "n_expert": (1, 2, 4), "n_expert_per_token": (1,), "n_query_groups": (1,), "n_head": (1, 2),
    "n_embd": (4, 8, 16, 32), "head_size": (2, 4, 8), "intermediate_size": (4, 8, 16, 32),
    "moe_intermediate_size": (4, 8, 16), "padded_vocab_size": (8, 32), "block_size": (8, 16, 32),
    "bias": (False,), "attn_bias": (False,), "lm_head_bias": (False,), "scale_embeddings": (False,),
    "parallel_residual": (True,), "shared_attention_norm": (False,), "norm_qk": (False,),
    "post_attention_norm": (False,), "post_mlp_norm": (False,), "rope_adjustments": (None,),
    "sliding_window_size": (None,), "attention_logit_softcapping": (None,),
    "final_logit_softcapping": (None,), "attention_scores_scalar": (None,),
    "rope_local_base_freq": (None,), "rotary_percentage": (0.25,), "norm_class_name": ("LayerNorm",),
    "mlp_class_name": ("GptNeoxMLP",), "rope_indices": (None,), "sliding_window_indices": (None,),
}
TOGETHER: dict[str, dict[str, Any]] = {
    "n_head": {"n_query_groups": 1}, "padded_vocab_size": {}, "sliding_window_size": {"sliding_window_indices": None},
    "rope_local_base_freq": {"rope_indices": None}, "mlp_class_name": {"n_expert": 0, "n_expert_per_token": 0},
}
#: Fields that only name things, or follow from others.
NEEDLESS = ("name", "hf_config", "vocab_size", "padding_multiple", "gelu_approximate", "norm_eps", "rope_base")


@functools.cache
def template() -> jinja2.Template:
    environment = jinja2.Environment(loader=templates(), trim_blocks=True, lstrip_blocks=True,
                                     keep_trailing_newline=True, autoescape=False)
    return environment.get_template("repro.py.j2")


@dataclass(frozen=True)
class Tensor:
    """An input: token ids below `bound`, or numbers of deviation 1 where it is None."""

    shape: tuple[int, ...]
    bound: int | None

    def code(self, dtype: str) -> str:
        if self.bound is not None:
            return f"torch.randint({self.bound}, {self.shape})"
        return f"torch.randn({self.shape})" + (f".to(torch.{dtype})" if dtype != "float32" else "")


@dataclass(frozen=True)
class Recipe:
    """All that a standalone file needs. `config` None: the class is built without one, from `source`."""

    cell: Cell
    title: str
    cls: tuple[str, str]
    config_cls: tuple[str, str] | None = None
    config: dict[str, Any] | None = None
    arguments: tuple = ()
    inputs: tuple[Tensor, ...] = ()
    source: str = ""
    own_inputs: bool = False
    without: tuple[str, ...] = field(default=())

    def fields(self) -> dict[str, Any]:
        """The configuration as far as it has to be written down."""
        assert self.config is not None
        assert self.config_cls is not None
        return unlike_defaults(self.config_cls, self.config)

    def text(self) -> str:
        """The file."""
        name, dtype = self.cls[1], self.cell.dtype
        imports: list[str] = []
        if self.own_inputs:
            inputs, construct = f"tuple({name}().example_inputs())", f"{name}()"
        else:
            inputs = f"({', '.join(tensor.code(dtype) for tensor in self.inputs)},)"
            construct = f"{name}()"
        if self.config is not None and self.config_cls is not None:
            fields = ",\n".join(f"        {key}={value!r}" for key, value in self.fields().items())
            extra = "".join(f", {argument!r}" for argument in self.arguments)
            construct = f"{name}({self.config_cls[1]}(\n{fields},\n    ){extra})"
            pairs = sorted({self.cls, self.config_cls})
            imports = [f"from {module} import {thing}" for module, thing in pairs]
        return template().render(
            title=self.title, imports=imports, construct=construct, inputs=inputs, source=self.source.strip(),
            litgpt=self.config is not None, dtype=dtype, workload=self.cell.workload, executor=self.cell.executor,
            without=list(self.without))


def unlike_defaults(config_cls: tuple[str, str], config: dict[str, Any]) -> dict[str, Any]:
    """The fields that differ from what the class gives by itself."""
    known = dataclasses.fields(getattr(importlib.import_module(config_cls[0]), config_cls[1]))
    defaults = {f.name: f.default for f in known if f.default is not dataclasses.MISSING}
    return {name: value for name, value in config.items() if name not in defaults or defaults[name] != value}


def recipe(cell: Cell, model, without: tuple[str, ...] = ()) -> Recipe:
    """The cell as a file would build it. UsageError: there is no writing it down by itself."""
    if cell.subject != "interpreter" or cell.device != "cpu" or cell.workload not in WORKLOADS:
        raise UsageError(f"repro writes {', '.join(WORKLOADS)} of the interpreter on the CPU, not {cell.id}")
    if ".py:" in model.name:
        path, _, name = model.name.rpartition(":")
        return Recipe(cell, cell.id, ("", name), source=Path(path).read_text(), own_inputs=True, without=without)
    module = model.build(scale=cell.scale, depth=cell.depth, workload=cell.workload)
    drawn = model.inputs(cell.workload, scale=cell.scale)
    config = getattr(module, "config", None)
    cls = (type(module).__module__, type(module).__name__)
    if cls[0].startswith("litgpt.") and dataclasses.is_dataclass(config):
        fields = {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if f.init}
        bound = fields.get("padded_vocab_size")
        # LitGPT's parts take the configuration, and their place among the layers where they have one.
        places = [p for p in inspect.signature(type(module)).parameters if p in {"block_idx"}]
        return Recipe(cell, cell.id, cls, (type(config).__module__, type(config).__name__), fields, (0,) * len(places),
                      tuple(spec(value, bound) for value in drawn), without=without)
    if config is not None or not inspect.isclass(type(module)) or needs_arguments(type(module)):
        raise UsageError(f"repro can't write {model.name} down by itself: {cls[1]} is built neither from a LitGPT "
                         "configuration nor without arguments")
    source = "from torch import Tensor, nn\n\n\n" + inspect.getsource(type(module))
    inputs = tuple(spec(value, None) for value in drawn)
    return Recipe(cell, cell.id, cls, inputs=inputs, source=source, without=without)


def needs_arguments(cls) -> bool:
    parameters = list(inspect.signature(cls).parameters.values())
    return any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def spec(value, bound: int | None) -> Tensor:
    if not isinstance(value, torch.Tensor):
        raise UsageError(f"repro can't write down an input that is a {type(value).__name__}")
    return Tensor(tuple(value.shape), None if value.is_floating_point() else bound or int(value.max()) + 1)


def smaller(recipe: Recipe) -> Iterator[Recipe]:
    """Recipes that are a step smaller, the largest steps first."""
    if recipe.own_inputs:
        return
    for name in NEEDLESS:
        if recipe.config is not None and name in recipe.config:
            yield replace(recipe, config={k: v for k, v in recipe.config.items() if k != name})
    for name, values in SMALLER.items():
        for value in values:
            if recipe.config is not None and name in recipe.config and simpler(value, recipe.config[name]):
                yield with_field(recipe, name, value)
    for number, tensor in enumerate(recipe.inputs):
        for axis, size in enumerate(tensor.shape):
            if axis == len(tensor.shape) - 1 and tensor.bound is None:
                continue
            for less in sorted({1, 2, size // 2} - {0}):
                if less < size:
                    shape = (*tensor.shape[:axis], less, *tensor.shape[axis + 1:])
                    yield replace(recipe, inputs=(*recipe.inputs[:number], replace(tensor, shape=shape),
                                                  *recipe.inputs[number + 1:]))


def simpler(value, present) -> bool:
    """Whether a field would change, and not to a larger number."""
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(present, int):
        return value < present
    return value != present and present is not None


def with_field(recipe: Recipe, name: str, value) -> Recipe:
    """The recipe with a field changed, and with it what has to go along: other fields, inputs."""
    assert recipe.config is not None
    config = {**recipe.config, name: value}
    for other, become in TOGETHER.get(name, {}).items():
        if other in config:
            config[other] = become
    if name == "n_layer":
        for other in ("sliding_window_indices", "rope_indices"):
            if config.get(other):
                config[other] = config[other][:value]
    inputs = recipe.inputs
    if name == "n_embd":
        inputs = tuple(replace(t, shape=(*t.shape[:-1], value))
                       if t.bound is None and t.shape[-1] == recipe.config[name] else t for t in inputs)
    if name == "padded_vocab_size":
        inputs = tuple(replace(t, bound=value) if t.bound else t for t in inputs)
    return replace(recipe, config=config, inputs=inputs)


def shrink(start: Recipe, signature: str, trial: Callable[[Recipe], str], say) -> Recipe:
    """Takes smaller recipes as long as there is one with the same signature."""
    best, tried, refused, begin = start, 0, set[str](), time.monotonic()
    again = True
    while again:
        again = False
        for candidate in smaller(best):
            text = candidate.text()
            if text in refused:
                continue
            if tried >= MOST_TRIALS or time.monotonic() - begin > PATIENCE:
                say(f"stopped after {tried} trials")
                return best
            tried += 1
            if trial(candidate) == signature:
                best, again = candidate, True
                break
            refused.add(text)
    say(f"as small as it gets after {tried} trials")
    return best


def signature_of(output: str, wait_status: int, late: bool) -> str:
    """The kind of failure, from what a file printed and how it ended; "" where it shows none."""
    if late:
        return "timeout"
    if os.WIFSIGNALED(wait_status):
        return f"crash {signal.Signals(os.WTERMSIG(wait_status)).name}"
    said = re.findall(r"^FAILS (.*?): ", output, re.MULTILINE)
    return said[-1] if said and os.WEXITSTATUS(wait_status) == 1 else ""


@contextlib.contextmanager
def frozen() -> Iterator[None]:
    """What is there now is left alone by the garbage collectors of forks, which would else walk through all of it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def run_forked(text: str, timeout: float) -> tuple[str, str]:
    """Runs the file in a fork of this process, which has imported all that it needs: (signature, output)."""
    with tempfile.TemporaryDirectory(prefix="zoobench-") as folder:
        path, log = Path(folder) / "repro.py", Path(folder) / "output"
        path.write_text(text)
        sys.stdout.flush()
        heard, report = os.pipe()
        parent = os.getpid()
        guardian = fork()
        if guardian == 0:
            os.close(heard)
            guard(lambda this: run_and_leave(path, log, this), report, parent, timed=False)
        os.close(report)
        deadline, late = time.monotonic() + timeout, False
        while os.waitpid(guardian, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                late = True
                os.kill(guardian, signal.SIGTERM)
            time.sleep(0.005)
        with os.fdopen(heard) as said:
            numbers = said.read().split()
        output = log.read_text(errors="replace") if log.exists() else ""
        return signature_of(output, int(numbers[1]) if len(numbers) > 1 else signal.SIGKILL, late), output


def run_and_leave(path: Path, log: Path, parent: int):
    """The forked process: the file as a program, its output in `log`."""
    status = 70
    try:
        own_session(parent)
        fd = os.open(log, os.O_WRONLY | os.O_CREAT)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - lives as long as the process
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        torch.set_num_threads(1)
        try:
            runpy.run_path(str(path), run_name="__main__")
            status = 0
        except SystemExit as leave:
            status = int(leave.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
