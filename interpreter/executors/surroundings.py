"""Torch's state around operations, to do them again as they were done."""

from __future__ import annotations

import contextlib

import torch


class Surroundings:
    """Torch's global state as it is when this is made, as far as it is a thread's own or a program may switch it."""

    def __init__(self):
        self.grad = torch.is_grad_enabled()
        self.dtype = torch.get_default_dtype()
        self.autocast = {
            device: (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in ("cpu", "cuda")
        }
        self.cache = torch.is_autocast_cache_enabled()

    def restore(self):
        torch.set_grad_enabled(self.grad)
        if torch.get_default_dtype() != self.dtype:  # the whole process's, and not only this thread's
            torch.set_default_dtype(self.dtype)
        for device, (enabled, dtype) in self.autocast.items():
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, dtype)
        torch.set_autocast_cache_enabled(self.cache)
        torch.clear_autocast_cache()

    @contextlib.contextmanager
    def again(self):
        """In this state inside, in the state of before afterwards. Inference mode is not entered: tensors made in it
        can't tell whether they were written to, and a compiler sees no difference to a mode without gradients."""
        before = Surroundings()
        with torch.inference_mode(False):
            self.restore()
            try:
                yield
            finally:
                before.restore()
