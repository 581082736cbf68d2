"""The modes of torch that a call may switch: gradients, autocast, default dtype, deterministic algorithms.

A program switches them again in their place. When it is left in the middle, the interpreter takes the call up from its
start, so they are put back to what they were there, and switched anew while it goes along.
"""

from __future__ import annotations

import torch

from interpreter.recording.torch_calls import SWITCHES

DEVICES = ("cpu", "cuda")
INFERENCE = torch._C._InferenceMode


def entering(mode):
    return mode.__enter__()


def leaving(mode, *details):
    return mode.__exit__(*details)


ALL = SWITCHES | {entering, leaving}


class Modes:
    """What the modes are now."""

    def __init__(self):
        self.grad = torch.is_grad_enabled()
        self.dtype = torch.get_default_dtype()
        self.autocast = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in DEVICES
        ]
        self.cache = torch.is_autocast_cache_enabled()
        self.nesting = nesting()
        self.deterministic = (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        )

    def restore(self, entered=()):
        """Put them back; `entered` are inference modes that were entered and not left since."""
        for mode in reversed(entered):
            mode.__exit__(None, None, None)
        with torch._C.DisableTorchFunction():
            torch.set_grad_enabled(self.grad)
            if torch.get_default_dtype() != self.dtype:
                torch.set_default_dtype(self.dtype)
        for device, enabled, dtype in self.autocast:
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, dtype)
        torch.set_autocast_cache_enabled(self.cache)
        for _ in range(nesting() - self.nesting):
            torch.autocast_decrement_nesting()
        if self.deterministic != (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ):
            torch.use_deterministic_algorithms(self.deterministic[0], warn_only=self.deterministic[1])


def nesting() -> int:
    """How many autocast contexts this thread is in."""
    torch.autocast_increment_nesting()
    return torch.autocast_decrement_nesting()


def still_entered(operations, values: dict) -> list:
    """The inference modes that these operations entered, as far as they have been done, and did not leave."""
    entered: list = []
    for operation in operations:
        if operation.function in (entering, leaving) and operation.index in values:
            mode = values.get(operation.args[0].index)
            if operation.function is entering:
                entered.append(mode)
            elif mode in entered:
                entered.remove(mode)
    return entered
