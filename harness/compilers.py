"""What torch's compilers need before a cell may use them, and what of their leavings on disk it may find.

Inductor keeps what it has compiled, and looks there first. A cell that found what another one had compiled, or
yesterday's run, would report a first call that no user has: so each cell that is timed has a folder of its own for it
(`guardian.temporary`). What depends on the machine alone is another matter. Which vector instructions the C++ compiler
knows, and torch's headers in the form that it reads fastest (150 MB), take it some ten seconds, once for each machine:
they are made before the first cell, and found by all.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import tempfile

#: Executors that hand nothing to a compiler outside Python. One of the user's own may.
COMPILING_NOTHING = {"eager", "aot", "cudagraphs"}


def prepare(executors: set[str]):
    """Makes ready what cells with these executors need. To be called before they are forked."""
    if executors - {"eager"}:
        load()
    if executors - COMPILING_NOTHING:
        try_out()


@functools.cache
def load():
    """Imports the compilers, for all cells. The place of the precompiled headers is settled with it: in a cell it would
    be the cell's own folder.
    """
    import torch._dynamo
    import torch._inductor.codecache
    import torch._inductor.compile_fx  # noqa: F401


@functools.cache
def try_out():
    """Finds out what the C++ compiler can do. Where that fails, the cells find out too, and say so.

    Compiled code stays where it is by default, though cells have another folder for temporary files.
    """
    with contextlib.suppress(Exception):
        from torch._inductor.runtime.cache_dir_utils import cache_dir
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache_dir()
        from torch._inductor.cpu_vec_isa import pick_vec_isa
        pick_vec_isa()
        trial = multiprocessing.get_context("fork").Process(target=compile_something, daemon=True)
        trial.start()
        trial.join()


def compile_something():
    """Has headers made. In a process of its own: the one that forks cells must not run tensor operations."""
    import torch
    from torch._inductor.utils import fresh_cache
    with tempfile.TemporaryDirectory() as folder, fresh_cache(dir=folder), torch.no_grad():
        torch.compile(lambda x: x.sin() + 1)(torch.ones(64))
