"""What a workload is: how a module is used, and which tensors show whether it was used rightly."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.model import Model
from models.workloads.state import State

Call = Callable[..., object]


@dataclass(frozen=True)
class Setting:
    """What a job is made for: a model, a module built from it, and the inputs to draw."""

    model: Model
    module: nn.Module
    seed: int
    scale: str
    autocast: bool = False

    @property
    def device(self) -> torch.device:
        """Where the module is."""
        return next((tensor.device for tensor in tensors_of(self.module)), torch.device("cpu"))

    @property
    def dtype(self) -> torch.dtype:
        """The floating-point type the module computes in."""
        return next((t.dtype for t in tensors_of(self.module) if t.is_floating_point()), torch.float32)

    def inputs(self, workload: str, step: int = 0) -> tuple:
        """New inputs of `forward` for a step, other values for each."""
        seed = self.seed + 1_000_000 * step
        return self.model.inputs(workload, seed=seed, scale=self.scale, device=self.device, dtype=self.dtype)


def tensors_of(module: nn.Module) -> list[Tensor]:
    """Parameters, then buffers."""
    return [*module.parameters(), *module.buffers()]


class Job(ABC):
    """One workload on one module with one set of inputs.

    The callable under test is given to each run and stands in for what the workload's `target` gives: the target
    itself for eager, a compiled form of it else. Between runs `reset` puts the module back to where the job found it.
    """

    changes_parameters = False
    #: Results of another run whose choices (tokens) this one takes, instead of making its own. In eager only.
    follows: dict[str, Tensor] | None = None

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.module = setting.module
        self.begin()
        self.state = State(self.module, self.changes_parameters)

    @abstractmethod
    def begin(self) -> None:
        """Make inputs and state: caches, an optimiser."""

    def run(self, call: Call) -> dict[str, Tensor]:
        """Do the work once with `call`, and return copies of all that it made or changed, by name.

        Random numbers are those of the job's seed. Where the generators stand afterwards is part of the results: it
        shows whether as many numbers were drawn. The caller's generators are left alone.
        """
        cuda = self.setting.device.type == "cuda"
        with torch.random.fork_rng(devices=[self.setting.device] if cuda else []):
            torch.manual_seed(self.setting.seed)
            found = self.work(self.dressed(call)) | {"random": torch.get_rng_state()}
            if cuda:
                found["random.cuda"] = torch.cuda.get_rng_state(self.setting.device)
        return found

    @abstractmethod
    def work(self, call: Call) -> dict[str, Tensor]:
        """What `run` does and returns, under its seed."""

    def call_once(self, call: Call) -> object:
        """The part of the work that is timed, with nothing copied. It leaves the module fit to be timed again."""
        return self.once(self.dressed(call))

    @abstractmethod
    def once(self, call: Call) -> object:
        """What `call_once` does."""

    def dressed(self, call: Call) -> Call:
        """`call`, within autocast to bfloat16 if the workload is about that."""
        if not self.setting.autocast:
            return call

        def within(*args: object, **kwargs: object) -> object:
            with torch.autocast(self.setting.device.type, torch.bfloat16):
                return call(*args, **kwargs)

        return within

    def reset(self) -> None:
        """Put parameters, buffers and caches back to where they were when the job was made."""
        self.state.restore()


@dataclass(frozen=True)
class Workload:
    """A way to use a model.

    summary:       one line for a list
    job:           the class of its jobs
    grad:          whether gradients are computed
    calls:         calls of the callable under test in one `call_once`
    autocast:      whether the calls are made within autocast to bfloat16
    target:        module -> what is to be compiled in its stead
    """

    name: str
    summary: str
    job: Callable[[Setting], Job]
    grad: bool = False
    calls: int = 1
    autocast: bool = False
    target: Callable[[nn.Module], Call] = lambda module: module

    def supports(self, dtype: str) -> str | None:
        """None, or why this workload can't be run on a module of this dtype: autocast is a regime of types by itself,
        made for parameters in float32."""
        if self.autocast and dtype != "float32":
            return f"{self.name} takes float32, not {dtype}: autocast chooses the types that it computes in"
        return None

    def prepare(self, model: Model, module: nn.Module, *, seed: int = 0, scale: str = "tiny") -> Job:
        """A job for `module`, built by `model` at `scale`. Sets its mode, and makes caches that it needs and lacks.

        Raises ValueError when the workload doesn't fit the model.
        """
        reason = model.supports(self.name)
        if reason is not None:
            raise ValueError(reason)
        module.train(self.grad)
        return self.job(Setting(model, module, seed, scale, self.autocast))
