"""Python's cyclic garbage collector, called less often while a call is recorded.

A record is tens of thousands of objects that all stay, so each of the collector's passes over them finds nothing; on a
model of two layers these passes took longer than the recording. The collector is not switched off: a call that makes
much garbage is still cleaned up after.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager

ALLOCATIONS = 200_000


@contextmanager
def seldom():
    """Let the collector run once in `ALLOCATIONS` allocations."""
    before = gc.get_threshold()
    gc.set_threshold(max(ALLOCATIONS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
