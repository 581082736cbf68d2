"""Recursion: interpreted frames are counted against the user's limit; nested runs raise the host's out of their way."""

import sys
import threading

FRAMES = 16
"""How many frames of the host a nested run takes at most, beside those of the user's native code."""
STEP = 16
"""For how many nested runs more the host's limit is raised at a time: most nested runs need not touch it."""


class _Nesting:
    """How many nested runs there are, in all threads, and the limit that the user's program knows.

    ``runs`` has an entry for each: a list can be counted up and down by several threads, and by finalisers, at once.
    ``room`` is the number of runs that the host's limit has room for.
    """

    def __init__(self):
        self.lock = threading.RLock()  # a finaliser may start a nested run at any time
        self.runs = []
        self.room = self.shown = 0


_nesting = _Nesting()


def deeper(machine):
    """One more nested run begins; ``shallower`` is to be called when it ends."""
    runs = _nesting.runs
    runs.append(None)
    if len(runs) > _nesting.room:
        widen()
    machine.limit = _nesting.shown


def shallower():
    """A nested run has ended."""
    runs = _nesting.runs
    runs.pop()
    if not runs:
        restore()


def widen():
    """Make room for further runs. The first of all needs none."""
    with _nesting.lock:
        if not _nesting.room:
            _nesting.shown = sys.getrecursionlimit()
        count = len(_nesting.runs)
        if count <= 1:
            _nesting.room = 1
        elif count > _nesting.room:
            _nesting.room = count + STEP
            sys.setrecursionlimit(_nesting.shown + FRAMES * _nesting.room)


def restore():
    """There are no runs any more: the host has the limit that the user's program has set."""
    with _nesting.lock:
        if not _nesting.runs and _nesting.room:
            sys.setrecursionlimit(_nesting.shown)
            _nesting.room = 0


def host_depth():
    """How deep the host's stack of Python frames is."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def user_limit():
    """The recursion limit as the user's program sees it."""
    return _nesting.shown if _nesting.room else sys.getrecursionlimit()


def set_user_limit(limit):
    """``sys.setrecursionlimit`` as the user's program calls it."""
    with _nesting.lock:
        _nesting.shown = limit
        sys.setrecursionlimit(max(limit + FRAMES * _nesting.room, host_depth() + 2 * FRAMES))
