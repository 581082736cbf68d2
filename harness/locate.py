"""Which submodule goes wrong first, once a whole model's results differ."""

from __future__ import annotations

import copy
import time

import torch

from harness import parity


def first_difference(module, calls, jit, *, budget: float = 20.0) -> str | None:
    """The name of the first submodule which, jitted by itself, gives other results than eager on inputs it was not
    recorded with. None: each is right by itself, or none could be tried.

    `calls` are functions that run the model with `module` in place, one for each set of inputs; at least two. `jit`
    makes a jitted callable of a module. Submodules are tried in the order in which they end, so a part is named before
    the whole that holds it. `budget` bounds the time, in seconds.
    """
    heard = [listen(module, call) for call in calls[:3]]
    if len(heard) < 2:
        return None
    start = time.monotonic()
    for name in heard[0]:
        if any(name not in others for others in heard[1:]) or time.monotonic() - start > budget:
            continue
        submodule = copy.deepcopy(dict(module.named_modules())[name])
        if differs(submodule, [each[name] for each in heard], jit):
            return name or type(module).__name__
    return None


def listen(module, call) -> dict[str, tuple]:
    """Runs `call(module)` and keeps each submodule's first arguments, in the order in which submodules return."""
    heard: dict[str, tuple] = {}
    arguments: dict[str, list] = {}
    hooks = []
    for name, submodule in module.named_modules():
        def before(_, args, kwargs, name=name):
            arguments.setdefault(name, []).append(snapshot((args, kwargs)))

        def after(_, args, output, name=name):
            heard.setdefault(name, arguments[name][0])
        hooks += [submodule.register_forward_pre_hook(before, with_kwargs=True), submodule.register_forward_hook(after)]
    try:
        call(module)
    finally:
        for hook in hooks:
            hook.remove()
    return heard


def differs(submodule, inputs: list[tuple], jit) -> bool:
    """Records with the first inputs, compares on the others. What can't be run alone does not count as different."""
    eager, jitted = copy.deepcopy(submodule), jit(submodule)
    for number, (args, kwargs) in enumerate(inputs):
        try:
            with torch.no_grad():
                want = eager(*snapshot(args), **snapshot(kwargs))
        except Exception:
            return False
        try:
            with torch.no_grad():
                got = jitted(*snapshot(args), **snapshot(kwargs))
        except Exception:
            return True
        if number and parity.compare(flat(want), flat(got)).parity != "bitwise":
            return True
    return False


def snapshot(value):
    """The value with its tensors copied, so that in-place work on one copy can't reach another."""
    return torch.utils._pytree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf,
                                        value)


def flat(value) -> dict:
    leaves, _ = torch.utils._pytree.tree_flatten(value)
    return {str(number): leaf.detach() if isinstance(leaf, torch.Tensor) else leaf
            for number, leaf in enumerate(leaves)}
