"""Recursion: interpreted frames are counted against the user's limit, the host's limit is kept out of their way."""

import sys
from contextlib import nullcontext

HEADROOM = 8
_free = nullcontext()


class Limits:
    """The limit the user sees while the host's own is higher."""

    shown = None


def user_limit():
    """The recursion limit as the user's program sees it."""
    return Limits.shown if Limits.shown is not None else sys.getrecursionlimit()


class _Raised:
    """While a machine runs, the host may recurse deeper, as each nested run takes several of its frames."""

    def __enter__(self):
        Limits.shown = sys.getrecursionlimit()
        sys.setrecursionlimit(Limits.shown * HEADROOM)

    def __exit__(self, *_):
        shown, Limits.shown = Limits.shown, None
        if shown is not None:
            sys.setrecursionlimit(shown)


def raised_limit(machine):
    """A context in which the host's limit leaves room for ``machine``."""
    machine.limit = user_limit()
    return _Raised() if Limits.shown is None else _free


def set_user_limit(limit):
    """``sys.setrecursionlimit`` as the user's program calls it."""
    if Limits.shown is None:
        sys.setrecursionlimit(limit)
        return
    sys.setrecursionlimit(limit)
    Limits.shown = limit
    sys.setrecursionlimit(limit * HEADROOM)
