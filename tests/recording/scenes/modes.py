"""Scenes about torch's state: gradient modes, the user's own modes, defaults, random numbers."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def global_torch_state():
    def f(x):
        return (
            (x * 2).requires_grad,
            torch.ones(2),
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.is_autocast_enabled("cpu"),
        )

    x = X().requires_grad_()
    return Scene(
        f,
        [
            (x,),
            lambda: torch.set_grad_enabled(False),
            (x,),
            lambda: torch.set_grad_enabled(True),
            (x,),
            lambda: torch.set_default_dtype(torch.float64),
            (x,),
            lambda: torch.set_default_dtype(torch.float32),
            (x,),
        ],
        hits=1,
    )


@scene
def grad_modes_nested_and_left_by_exceptions():
    @torch.no_grad()
    def g(x):
        return x * 2

    def f(x, bad):
        flags = [torch.is_grad_enabled()]
        try:
            with (
                torch.inference_mode(False),
                torch.set_grad_enabled(not bad),
                torch.autocast("cpu", torch.bfloat16, enabled=not bad),
            ):
                flags.append(torch.is_grad_enabled())
                y = x @ x
                if bad:
                    raise ValueError
        except ValueError:
            flags.append(torch.is_grad_enabled())
            y = g(x)
        return flags, y, y.dtype, g(x).requires_grad, torch.is_autocast_enabled("cpu")

    x = torch.ones(2, 2).requires_grad_()
    return Scene(f, [(x, False), (x, True), (x, False), (x, True)], hits=2)


@scene
def generators_and_seeds():
    gen = torch.Generator()

    def f(x):
        torch.manual_seed(int(x.numel()))
        a = torch.rand(2)
        b = torch.rand(2, generator=gen)
        return a, b, torch.initial_seed(), torch.randperm(3), torch.get_rng_state()[:4]

    return Scene(f, [(X(),), (X(),), lambda: gen.manual_seed(3), (X(),)], state=lambda: gen.get_state(), tail=True)


@scene
def defaults_of_dtype_and_device():
    def f(x):
        with torch.device("meta"):
            shape = torch.ones(3).sum().shape
        old = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        y = torch.ones(2)
        torch.set_default_dtype(old)
        return x + y, shape, torch.ones(1).dtype

    return Scene(f, [(X(),), (X(),)], hits=1)


@scene
def left_in_the_middle_of_a_mode():
    def f(x, bad):
        flags = [torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.get_default_dtype()]
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            y = x * 2
            if y.sum() > 5:
                y = y + 1
                flags.append(torch.is_grad_enabled())
            z = y[bad]
            flags.append((y.requires_grad, torch.is_autocast_enabled("cpu")))
        with torch.inference_mode():
            w = x.detach() + 1
            if w.max() > 4:
                w = w * 2
        return flags, y, z, w, x * 2, torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    x, good, bad = X().requires_grad_(), torch.tensor(0), torch.tensor(7)
    return Scene(
        f,
        [(x, good), (x * 2, good), (x * 2, bad), (x, bad), (x, good), (x * 9, good), (x * 2, good), (x * 9, bad)],
        hits=1,
    )


@scene
def left_in_the_middle_without_anything_to_keep():
    def f(x, i):
        with torch.no_grad():
            return x[i] * 2, torch.is_grad_enabled()

    return Scene(f, [(X().requires_grad_(), torch.tensor(i)) for i in (0, 1, 7, 0)], hits=2)


@scene
def modes_of_the_user():
    log = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            log.append(function.__name__)
            return function(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, args=(), kwargs=None):
            log.append(str(function))
            return function(*args, **(kwargs or {}))

    def f(x, kind):
        with kind():
            y = x * 2 + 1
        with torch.device("cpu"):
            return y.sin() + torch.ones(2)

    return Scene(f, [(X(), Mode), (X(), Mode), (X(), Dispatch), (X(), Dispatch), (X(), Mode)], lambda: log, tail=True)
