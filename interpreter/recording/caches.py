"""Functions with `functools.lru_cache`: what a cache holds is read without asking it.

Asking a cache has effects: a hit is counted and makes its key the latest one, a miss calls the function. So the
prologue looks into the cache from behind (the garbage collector is told what a cached function refers to: keys and
results in the order of their last use, the dict, the function, the mark of keywords), and a program asks in its
epilogue, where asking is a hit, as it was in the eager call.

A call that misses runs the function unrecorded and goes on: later calls find the key. Where they may not, because the
cache is full or is cleared again and again, the recording ends.
"""

from __future__ import annotations

import enum
import functools
import gc

import torch

from interpreter.recording import guards, sources
from interpreter.recording.naming import short
from interpreter.recording.operations import Write
from interpreter.recording.outside import MISSING, is_constant
from interpreter.recording.special import hashed_by_address
from interpreter.recording.whole import changed_behind

CachedFunction = type(functools.lru_cache(int))


class Asked:
    """A cached function and the arguments of one call of it: whether the cache holds that call, and its result.

    Raises ValueError where the cache can't be looked into.
    """

    def __init__(self, cached, args: tuple, kwargs: dict):
        self.cached = cached
        self.args = args
        self.kwargs = kwargs
        *_, self.space, _, mark, _, _, _ = gc.get_referents(cached)
        if type(self.space) is not dict or type(mark) is not object:
            raise ValueError("a cache of another make")
        parameters = cached.cache_parameters()
        self.size = parameters["maxsize"]
        self.key = key_of(args, kwargs, mark, parameters["typed"])

    def held(self) -> bool:
        return self.key in self.space

    def full(self) -> bool:
        """Whether another result would push one out."""
        return self.size is not None and len(self.space) >= self.size

    def __call__(self):
        return self.cached(*self.args, **self.kwargs)

    def result(self):
        """What the cache gives, or MISSING. A bounded cache keeps (key, result, type of the link) in the order of
        use."""
        if self.size is None or not self.held():
            return self.space.get(self.key, MISSING)
        links = iter(gc.get_referents(self.cached)[1:])
        return next(result for key, result, _ in zip(links, links, links) if key is self.key or key == self.key)

    def __str__(self):
        given = [*map(short, self.args), *(f"{key}={short(value)}" for key, value in self.kwargs.items())]
        return f"({', '.join(given)})"


def key_of(args: tuple, kwargs: dict, mark, typed: bool):
    """The key under which `functools.lru_cache` keeps a call."""
    if not typed and not kwargs:
        return args[0] if len(args) == 1 and type(args[0]) in (int, str) else args
    key = [*args]
    if kwargs:
        key.append(mark)
        for item in kwargs.items():
            key += item
    if typed:
        key += map(type, (*args, *kwargs.values()))
    return tuple(key)


class InCache(guards.Guard):
    """The result of a call is in the function's cache, or is not."""

    __slots__ = ("answer", "asked")
    lasting = False

    def __init__(self, source, asked: Asked, answer: bool):
        self.source = source
        self.asked = asked
        self.answer = answer

    def condition(self, value, bind):
        return f"{bind(self.asked.key)} {'in' if self.answer else 'not in'} {bind(self.asked.space)}"

    def expected(self):
        return f"has {'' if self.answer else 'not '}cached {self.asked}"

    def found(self, value):
        return "not cached" if self.answer else "cached"


def ask(cached, args, kwargs):
    """A hit, for what it does to the cache."""
    cached(*args, **kwargs)


def cached_function(machine, cached, args, kwargs):
    """A call of a function with `functools.lru_cache`."""
    trace = machine.trace
    args = tuple(map(machine.see, args))
    kwargs = {key: machine.see(value) for key, value in (kwargs or {}).items()}
    values = (*args, *kwargs.values())
    if any(type(value).__hash__ is None for value in values):
        return cached(*args, **kwargs)  # raises, and does no more than that
    entry = trace.find(cached)
    if entry is None or not all(told(machine, value) for value in values):
        machine.sharp(cached, "a cache is asked for arguments that can't be told to be the same in a later call")
        return cached(*args, **kwargs)
    try:
        asked = Asked(cached, args, kwargs)
    except (AttributeError, KeyError, TypeError, ValueError):
        machine.sharp(cached, "a cache that can't be looked into")
        return cached(*args, **kwargs)
    known = "cached", asked.key, tuple(map(type, values))
    if known in entry.known:
        cached(*args, **kwargs)
    else:
        trace.guard(guards.Identity(entry.source, cached))
        for value in values:
            if not is_constant(value):
                trace.guard(guards.Identity(trace.find(value).source, value))
        result = hit_or_miss(machine, entry, asked)
        if trace.ended is not None:
            return result
        name = getattr(cached, "__qualname__", "cached")
        source = sources.Reading(entry.source, taken, (asked,), name)
        entry.known[known] = trace.read(result, source, fixed=True)
    trace.hits.append(Write(ask, (cached, args, kwargs), f"{entry.source} is asked"))
    return entry.known[known]


def hit_or_miss(machine, entry, asked: Asked):
    """The result, with the cache's state guarded. The trace ends where a later call is not sure to find it."""
    trace = machine.trace
    guard = InCache(entry.source, asked, True)
    if asked.held():
        trace.guard(guard)
        return asked()
    why = None
    if asked.full():
        why = "the result is not in the cache, and the cache is full"
    elif str(guard) in trace.dynamic:
        why = "the result is not in the cache, from which it has been dropped twice"
    elif trace.writes:
        why = "the result is not in the cache, and the function may read what the call has written"
    result = raised = None
    with torch.overrides._pop_mode_temporarily():
        try:
            result = asked()
        except Exception as error:
            raised, why = error, "the function raised"
    if why is None and (not asked.held() or (changed := changed_behind(trace))):
        why = f"the function changed {changed}, which the call had read before" if asked.held() else "cleared"
    trace.guard(guard if why is None else InCache(entry.source, asked, False))
    if why is not None:
        machine.sharp(asked.cached, why)
    if raised is not None:
        raise raised
    return result


def told(machine, value) -> bool:
    """Whether it can be told that a later call has the same argument, and that its hash is the same from the start of
    the call on."""
    if is_constant(value):
        return True
    kind, trace = type(value), machine.trace
    if trace.find(value) is None:
        return False
    if hashed_by_address(kind) or issubclass(kind, enum.Enum):
        return True
    machine.note_hashed(set(), value)
    return not trace.writes


def taken(_, asked: Asked):
    """What the prologue reads."""
    return asked.result()


KINDS = {CachedFunction: cached_function}
