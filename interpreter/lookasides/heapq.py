"""heapq: heaps of objects whose ``<`` is written in Python, kept comparison for comparison as the original does."""
from __future__ import annotations

import heapq

from interpreter.lookasides.hooks import quiet
from interpreter.lookasides.registry import REGISTRY, Lookaside

ORDER = ("__lt__", "__gt__", "__eq__")
SMALL = 2500  # heapify goes through larger lists in another order


def compares(args, kwargs):
    """``needed``: a list, whose items or the new one compare in Python."""
    return type(args[0]) is list and len(args[0]) <= SMALL and not all(quiet(each, ORDER) for each in args)


def checked(heap, size):
    """The comparison just made may have changed the list."""
    if len(heap) != size:
        raise RuntimeError("list changed size during iteration")


def heaps(before):
    """The functions that keep the least item on top by ``before(a, b)``."""

    def rise(heap, start, at):
        """An item moves up past those that come after it, at most to ``start``."""
        size = len(heap)
        item = heap[at]
        while at > start:
            above = (at - 1) >> 1
            other = heap[above]
            earlier = before(item, other)
            checked(heap, size)
            if not earlier:
                break
            other, item = heap[above], heap[at]
            heap[above], heap[at] = item, other
            at = above

    def sink(heap, start):
        """An item goes down to a leaf, the lesser child taking its place, and from there rises to where it belongs."""
        size = len(heap)
        at, limit = start, size >> 1
        while at < limit:
            child = 2 * at + 1
            if child + 1 < size:
                earlier = before(heap[child], heap[child + 1])
                checked(heap, size)
                if not earlier:
                    child += 1
            heap[at], heap[child] = heap[child], heap[at]
            at = child
        rise(heap, start, at)

    def push(heap, item, /):
        """The item goes into the heap."""
        heap.append(item)
        rise(heap, 0, len(heap) - 1)

    def pop(heap, /):
        """The top goes out of the heap."""
        last = heap.pop()
        if not heap:
            return last
        top, heap[0] = heap[0], last
        sink(heap, 0)
        return top

    def replace(heap, item, /):
        """The top goes out, then the item in."""
        top, heap[0] = heap[0], item
        sink(heap, 0)
        return top

    def pushpop(heap, item, /):
        """The item goes in, then the top out."""
        if not heap:
            return item
        earlier = before(heap[0], item)
        if not heap:
            raise IndexError("index out of range")
        if not earlier:
            return item
        top, heap[0] = heap[0], item
        sink(heap, 0)
        return top

    def heapify(heap, /):
        """The list becomes a heap."""
        for at in range(len(heap) // 2 - 1, -1, -1):
            sink(heap, at)

    return {"heappush": push, "heappop": pop, "heapreplace": replace, "heappushpop": pushpop, "heapify": heapify}


def is_less(a, b):
    return True if a < b else False  # noqa: SIM210


def is_more(a, b):
    return True if b < a else False  # noqa: SIM210


NAMES = {name: name for name in ("heappush", "heappop", "heapreplace", "heappushpop", "heapify")}
MAX_NAMES = {"_heappop_max": "heappop", "_heapreplace_max": "heapreplace", "_heapify_max": "heapify"}
for names, before in ((NAMES, is_less), (MAX_NAMES, is_more)):
    made = heaps(before)
    for name, kind in names.items():
        if hasattr(heapq, name):
            REGISTRY.add(Lookaside(getattr(heapq, name), made[kind], needed=compares))
