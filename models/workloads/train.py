"""Training: forward, loss, backward and an optimiser's step."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils._pytree import tree_leaves

from models.workloads.state import copies, forget, named_tensors
from models.workloads.workload import Call, Job

STEPS = 2
LEARNING_RATE = 1e-1
# A gradient that is nothing but rounding (of a key's bias, say: softmax does not see it) makes AdamW step its full
# width one way or the other. With this floor such a gradient moves next to nothing. In float16 the mean of the squares
# is 0 for gradients below 0.008: the floor is so far above them that it does not matter.
EPSILON = 1e-1


class Train(Job):
    """Steps in a row: the second one runs with parameters that the first one wrote."""

    changes_parameters = True

    def begin(self) -> None:
        self.optimiser = self.new_optimiser()
        self.arguments = self.setting.inputs("train")

    def new_optimiser(self) -> torch.optim.Optimizer:
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        return torch.optim.AdamW(trained, lr=LEARNING_RATE, eps=EPSILON)

    def loss(self, output: object, arguments: tuple) -> Tensor:
        """Cross entropy of each token's logits with the next token, or the mean square of all outputs."""
        if self.setting.model.loss == "tokens":
            assert isinstance(output, Tensor)
            logits, targets = output[:, :-1], arguments[0][:, 1:]
            return cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        floats = [leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor) and leaf.requires_grad]
        return torch.stack([leaf.float().square().mean() for leaf in floats]).sum()

    def step(self, call: Call, arguments: tuple) -> tuple[object, Tensor]:
        """One step of training. Returns the output and the loss, and leaves the gradients where they are."""
        forget(self.module)
        self.optimiser.zero_grad(set_to_none=True)
        output = call(*arguments)
        loss = self.loss(output, arguments)
        loss.backward()
        self.optimiser.step()
        return output, loss

    def work(self, call: Call) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for step in range(STEPS):
            output, loss = self.step(call, self.setting.inputs("train", step))
            found |= named_tensors(output, f"output.{step}")
            found[f"loss.{step}"] = loss.detach().clone()
            gradients = {name: p.grad for name, p in self.module.named_parameters() if p.grad is not None}
            found |= {f"grad.{step}.{name}": gradient for name, gradient in copies(gradients).items()}
        found |= {f"param.{name}": p for name, p in copies(dict(self.module.named_parameters())).items()}
        return found | {f"buffer.{name}": b for name, b in copies(dict(self.module.named_buffers())).items()}

    def once(self, call: Call) -> object:
        return self.step(call, self.arguments)[1]

    def reset(self) -> None:
        super().reset()
        self.optimiser = self.new_optimiser()
