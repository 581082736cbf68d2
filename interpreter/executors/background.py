"""Compiling in a thread, beside a program that runs.

Torch's compilers are made for a program that waits for them. Two things they do to the whole process: they put the
random generators back to where they stood when the compilation began, and while they trace they put functions of their
own in the place of `Module.__call__` and `Module.__getattr__`. Neither is needed for graphs that draw nothing and hold
no modules, and both would be noticed by the code that runs meanwhile, so a thread that compiles goes without.
"""

from __future__ import annotations

import contextlib
import threading
from unittest import mock

COMPILING = threading.RLock()


class Stopped(Exception):
    """The program is at its end, and nothing needs to be compiled any more."""


@contextlib.contextmanager
def one_at_a_time(beside: bool):
    """Compilers run one at a time; `beside`: others go on meanwhile. Raises Stopped."""
    with COMPILING, apart() if beside else contextlib.nullcontext():
        if beside and not threading.main_thread().is_alive():
            raise Stopped
        yield


@contextlib.contextmanager
def apart():
    """What torch's compilers do to the whole process is left undone where this thread asks for it."""
    from torch._dynamo import utils
    from torch._functorch import aot_autograd
    from torch.fx import _symbolic_trace

    mine = threading.get_ident()

    def instead(original, other):
        def choose(*args, **kwargs):
            return (other if threading.get_ident() == mine else original)(*args, **kwargs)

        return choose

    class Idle(_symbolic_trace._Patcher):
        def patch(self, *details, **more):
            pass

        def patch_method(self, *details, **more):
            pass

    with contextlib.ExitStack() as stack:
        for module in (utils, aot_autograd):
            undrawn = instead(module.preserve_rng_state, contextlib.nullcontext)
            stack.enter_context(mock.patch.object(module, "preserve_rng_state", undrawn))
        patcher = instead(_symbolic_trace._new_patcher, lambda: contextlib.nullcontext(Idle()))
        stack.enter_context(mock.patch.object(_symbolic_trace, "_new_patcher", patcher))
        yield
