"""Recursion: interpreted frames are counted against the user's limit; nested runs raise the host's out of their way."""

import sys
import threading

FRAMES = 16
"""How many frames of the host a nested run takes at most, beside those of the user's native code."""


class _Nesting:
    """How many nested runs there are, in all threads, and the limit that the user's program knows."""

    def __init__(self):
        self.lock = threading.RLock()  # a finaliser may start a nested run at any time
        self.count = 0
        self.shown = 0

    def __enter__(self):
        with self.lock:
            if not self.count:
                self.shown = sys.getrecursionlimit()
            else:
                sys.setrecursionlimit(self.shown + FRAMES * self.count)
            self.count += 1

    def __exit__(self, *_):
        with self.lock:
            self.count -= 1
            sys.setrecursionlimit(self.shown + FRAMES * max(0, self.count - 1))


_nesting = _Nesting()


def deeper(machine):
    """A context for one more nested run."""
    machine.limit = _nesting.shown if _nesting.count else sys.getrecursionlimit()
    return _nesting


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
        sys.setrecursionlimit(max(limit + FRAMES * max(0, _nesting.count), host_depth() + 2 * FRAMES))
