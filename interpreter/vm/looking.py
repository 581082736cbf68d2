"""Attributes of frame objects and of generators which tell how an interpreted frame stands."""

import weakref
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType

from .generators import CREATED, FINISHED, RUNNING, SUSPENDED, frame_of
from .locals_view import LocalsView
from .pyframes import interpreted, live_frame, original, set_line, shown_line
from .registry import VERSION
from .values import NULL

_PREFIXES = {GeneratorType: "gi_", CoroutineType: "cr_", AsyncGeneratorType: "ag_"}
FRAME_NAMES = frozenset(("f_locals", "f_lineno", "f_code", "f_lasti", "f_back", "f_builtins", "f_trace_opcodes"))
OPCODES: weakref.WeakSet = weakref.WeakSet()
"""The frames whose ``f_trace_opcodes`` is set: their frame objects do not allow it from 3.13 on."""
LIVE_KINDS = frozenset((FrameType, *_PREFIXES))


def live_attribute(obj, kind, name):
    """The value of such an attribute, or NULL where the object itself knows."""
    if kind is FrameType:
        return frame_attribute(obj, name) if name in FRAME_NAMES else NULL
    prefix = _PREFIXES[kind]
    if not name.startswith(prefix):
        return NULL
    frame = frame_of(obj)
    waits = frame is not None and frame.state in (CREATED, SUSPENDED)
    if waits and getattr(obj, prefix + "frame") is None:
        frame.state = FINISHED  # native code has closed it before it began
    if name[3:] == "code":
        return original(getattr(obj, name))
    return NULL if frame is None else generator_attribute(obj, frame, name[3:])


def frame_attribute(shown, name):
    """Attributes of frame objects."""
    if name == "f_code":
        return original(shown.f_code)
    frame = interpreted(shown)
    if frame is None or (frame.state is FINISHED):
        return NULL
    if name == "f_locals":
        if VERSION >= (3, 13) and (frame.namespace is None or visible_names(frame) is not frame.namespace):
            return LocalsView(frame)
        return local_names(frame)
    if name == "f_lineno":
        if shown.f_trace is None:  # else it has the line that was told last
            set_line(shown, shown_line(frame))
    elif name == "f_lasti":
        return frame.offset if frame.state is not CREATED else -1
    elif name == "f_trace_opcodes":
        return frame in OPCODES
    elif name == "f_builtins":
        return frame.builtins
    elif name == "f_back":
        return live_frame(frame.back) if frame.back is not None else None
    return NULL


def visible_names(frame):
    """The local names of a class body or module, with those of a comprehension inlined in it while that runs."""
    space = frame.namespace
    inlined = {name: value for name, value in frame.bound().items() if name in frame.code.co_varnames}
    return {**space, **inlined} if inlined else space


def local_names(frame):
    """``locals()`` of a frame."""
    if frame.namespace is not None:
        return visible_names(frame)
    bound = frame.bound()
    hidden = [name for name in bound if name.startswith(".")]
    if VERSION >= (3, 13):
        extra = getattr(frame, "snapshot", {})  # what was put into f_locals
        return {name: value for name, value in bound.items() if name not in hidden} | extra
    if not hasattr(frame, "snapshot"):
        frame.snapshot = {}
    for name in frame.plan.names:
        if name in bound:
            frame.snapshot[name] = bound[name]
        else:
            frame.snapshot.pop(name, None)
    return frame.snapshot


def clear(shown):
    """``frame.clear()``."""
    frame = interpreted(shown)
    if frame is None or frame.state is FINISHED:
        shown.clear()
        return
    if frame.state is None or frame.state is RUNNING:
        raise RuntimeError("cannot clear an executing frame")
    generator = frame.owner()
    if generator is not None:
        getattr(generator, _PREFIXES[type(generator)] + "frame").clear()
    shown.clear()


def generator_attribute(generator, frame, name):
    """Attributes of generators, coroutines and async generators, without their prefix."""
    state = frame.state
    if name == "frame":
        return None if state is FINISHED else shown_suspended(frame)
    if name == "suspended":
        return state is SUSPENDED
    if name == "running" and type(generator) is not AsyncGeneratorType:
        return state is RUNNING
    if name in ("yieldfrom", "await"):
        return frame.stack[-1] if state is SUSPENDED and frame.delegating else None
    return NULL


def shown_suspended(frame):
    """The frame object of a generator's frame, whether it runs or not."""
    return live_frame(frame)
