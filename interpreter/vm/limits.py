"""Recursion: interpreted frames are counted against the user's limit; nested runs raise the host's out of their way."""

import sys
import threading
from contextlib import suppress

FRAMES = 16
"""How many frames of the host a nested run takes at most, beside those of the user's native code."""


class _Nesting:
    """How many nested runs there are, in all threads, and the limit that the user's program knows.

    The host's limit is raised for each run but the first, and exactly so: native code is to find its limit where
    CPython has it.
    """

    def __init__(self):
        self.lock = threading.RLock()  # a finaliser may start a nested run at any time
        self.count = self.shown = 0


_nesting = _Nesting()


def deeper(machine):
    """One more nested run begins; ``shallower`` is to be called when it ends."""
    nesting = _nesting
    with nesting.lock:
        count = nesting.count
        if count:
            sys.setrecursionlimit(nesting.shown + FRAMES * count)
        else:
            nesting.shown = sys.getrecursionlimit()
        nesting.count = count + 1
        machine.limit = nesting.shown


def shallower():
    """A nested run has ended."""
    nesting = _nesting
    with nesting.lock:
        nesting.count = count = nesting.count - 1
        if count:
            sys.setrecursionlimit(nesting.shown + FRAMES * (count - 1))
        elif sys.getrecursionlimit() != nesting.shown:  # the program has set one lower than the host's stack was deep
            with suppress(RecursionError):
                sys.setrecursionlimit(nesting.shown)


def host_depth():
    """How deep the host's stack of Python frames is."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def user_limit():
    """The recursion limit as the user's program sees it."""
    return _nesting.shown if _nesting.count else sys.getrecursionlimit()


def set_user_limit(limit):
    """``sys.setrecursionlimit`` as the user's program calls it."""
    with _nesting.lock:
        _nesting.shown = limit
        sys.setrecursionlimit(max(limit + FRAMES * max(0, _nesting.count - 1), host_depth() + 2 * FRAMES))
