"""``cr_origin``: where an interpreted coroutine was made, put into the coroutine object itself."""

import ctypes
import functools
from types import CoroutineType

from .pyframes import decref, incref, live_frame


def origin(frame, depth):
    """Where a coroutine was made: (file, line, function) of at most ``depth`` frames."""
    shown, found = live_frame(frame), []
    while shown is not None and len(found) < depth:
        found.append((shown.f_code.co_filename, shown.f_lineno, shown.f_code.co_name))
        shown = shown.f_back
    return tuple(found)


async def _sample():
    """A coroutine to look at."""


@functools.cache
def _place_of_origin():
    """Where in a coroutine object, in bytes, lies the pointer to its ``cr_origin``."""
    sample = _sample()  # made while origins are tracked
    wanted = id(sample.cr_origin)
    sample.close()
    size = ctypes.sizeof(ctypes.c_void_p)
    for place in range(2 * size, CoroutineType.__basicsize__, size):
        if ctypes.c_void_p.from_address(id(sample) + place).value == wanted:
            return place
    return None


def put_origin(coroutine, found):
    """Set ``cr_origin``, which has no setter: CPython's warning about a coroutine never awaited reads it."""
    place, old = _place_of_origin(), coroutine.cr_origin
    if place is None or old is None:
        return
    incref(found)
    ctypes.c_void_p.from_address(id(coroutine) + place).value = id(found)
    decref(old)
