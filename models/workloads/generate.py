"""LitGPT's own loop of generation around the callable under test, or as the callable under test."""

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

from litgpt.generate import base
from litgpt.generate.base import generate
from torch import Tensor, nn

from models.workloads.decode import FULL_PREFILL, PREFILL, cache_tensors, fit_cache
from models.workloads.state import forget
from models.workloads.workload import Call, Job

TOKENS = 8


class Stand:
    """Looks like the module and calls what stands in for it."""

    def __init__(self, module: nn.Module, call: Call) -> None:
        self.module = module
        self.call = call

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class Generate(Job):
    """The most probable token each time, for one prompt."""

    sampling: ClassVar[dict[str, Any]] = {"temperature": 0.0}

    def begin(self) -> None:
        setting = self.setting
        self.prompt = setting.inputs("generate")[0][0, : FULL_PREFILL if setting.scale == "full" else PREFILL]
        fit_cache(self.module, 1, setting.dtype, setting.device)
        forget(self.module)

    def tokens(self, call: Call) -> Tensor:
        """The prompt and what follows it, (T,)."""
        return generate(Stand(self.module, call), self.prompt, self.prompt.numel() + TOKENS, **self.sampling)

    def work(self, call: Call) -> dict[str, Tensor]:
        with self.following():
            return {"tokens": self.tokens(call).clone()} | cache_tensors(self.module)

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """Another run's tokens are taken one by one, if there is one to follow, whatever the logits say."""
        if self.follows is None:
            yield
            return
        tokens, own = iter(self.follows["tokens"][self.prompt.numel() :].split(1)), base.sample
        try:
            base.sample = lambda logits, **options: next(tokens)
            yield
        finally:
            base.sample = own

    def once(self, call: Call) -> object:
        return self.tokens(call)


class GenerateSampled(Generate):
    """Sampled with a seed among the most probable tokens."""

    sampling: ClassVar[dict[str, Any]] = {"temperature": 0.8, "top_k": 10, "top_p": 0.9}


def loop(module: nn.Module) -> Call:
    """The whole loop as one function of the prompt."""

    def generate_tokens(prompt: Tensor, tokens: int) -> Tensor:
        return generate(module, prompt, tokens, **GenerateSampled.sampling)

    return generate_tokens


class GenerateLoop(GenerateSampled):
    """The loop itself is the callable under test."""

    def tokens(self, call: Call) -> Tensor:
        result = call(self.prompt, self.prompt.numel() + TOKENS)
        assert isinstance(result, Tensor)
        return result
