"""One call of the module, without gradients."""

import torch
from torch import Tensor

from models.workloads.state import named_tensors
from models.workloads.workload import Call, Job


class Forward(Job):
    """The module on new inputs. The inputs are made again for each run, since a module may write to them."""

    def begin(self) -> None:
        self.arguments = self.setting.inputs("forward")

    def options(self) -> dict[str, object]:
        """Keyword arguments of the call."""
        return {}

    def work(self, call: Call) -> dict[str, Tensor]:
        arguments = self.setting.inputs("forward")
        with torch.no_grad():
            found = named_tensors(call(*arguments, **self.options()), "output")
        found |= named_tensors(arguments, "input")
        return found | named_tensors(dict(self.module.named_buffers()), "buffer")

    def once(self, call: Call) -> object:
        with torch.no_grad():
            return call(*self.arguments, **self.options())


class ChunkedHead(Forward):
    """The same with the head computed in chunks of tokens, the last one shorter: a list of logits."""

    def options(self) -> dict[str, object]:
        (ids,) = self.arguments
        return {"lm_head_chunk_size": ids.size(1) * 3 // 8}
