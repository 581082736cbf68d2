"""What an outside object holds where neither attributes nor items tell.

A number in a subclass of int, the parts of a slice, the arguments of an exception: these are guarded when the object is
read. Of an object of another native type (an iterator, a bytearray, an array) nothing tells what is in it; it is noted,
and native code that looks into it ends the recording.
"""

from __future__ import annotations

import collections
import contextvars
import datetime
import decimal
import functools
import operator
import re
import threading
import types
import weakref

from interpreter.recording import guards, sources

CONTAINERS = (list, dict, tuple, set, frozenset, collections.deque)
# immutable, told by their repr
REPRESENTED = (decimal.Decimal, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo)
UNCHANGING = (re.Pattern, contextvars.ContextVar)
MADE_OF = {  # the attributes that tell one from another
    slice: ("start", "stop", "step"),
    types.MethodWrapperType: ("__self__", "__name__"),
    types.GenericAlias: ("__origin__", "__args__"),
    types.UnionType: ("__args__",),
    super: ("__self__", "__self_class__", "__thisclass__"),
}
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
TOLD_OTHERWISE = (
    types.MethodType,
    functools.partial,
    type(functools.lru_cache(int)),
    types.CellType,
    weakref.ref,
    type(threading.Lock()),
    type(threading.RLock()),
    types.MappingProxyType,
)


def read_hidden(trace, value, kind, source):
    """Guard what `value`, just read at `source`, holds; or note it in `trace.unguarded`."""
    if kind in MADE_OF:
        for name in MADE_OF[kind]:
            trace.read(getattr(value, name), sources.Attribute(source, name), fixed=True)
    elif isinstance(value, REPRESENTED) or any(
        base.__name__ == "generic" and base.__module__ == "numpy" for base in kind.__mro__
    ):
        trace.guard(guards.Constant(sources.Reading(source, repr, (), "repr"), repr(value)))
    elif isinstance(value, (int, float, complex, str, bytes)):
        trace.guard(guards.Constant(sources.Reading(source, held, (), "value"), held(value)))
    elif isinstance(value, BaseException):
        trace.read(value.args, sources.Attribute(source, "args"))
    elif kind in UNCHANGING:
        trace.guard(guards.Identity(source, value))
    elif kind in GETTERS:
        trace.read(parts(value), sources.Reading(source, parts, (), "__reduce__"), fixed=True)
    elif hides(kind) and not isinstance(value, CONTAINERS + TOLD_OTHERWISE):
        trace.unguarded[id(value)] = value


def parts(getter):
    """What a getter of `operator` was made of."""
    made, arguments = getter.__reduce__()
    if isinstance(made, functools.partial):
        return made.args, arguments, tuple(made.keywords.items())
    return arguments


@functools.lru_cache(maxsize=4096)
def hides(kind) -> bool:
    """Whether instances hold something that C code alone can see: a class in the order of resolution is larger than its
    base by more than what a class written in Python adds (a dict, a list of weak references, its slots)."""
    if (kind.__module__ or "").partition(".")[0] == "torch" or kind is types.SimpleNamespace:
        return False
    for made in kind.__mro__[:-1]:
        names = made.__dict__
        added = made.__basicsize__ - made.__base__.__basicsize__
        if "__slots__" not in names and added > 8 * (("__dict__" in names) + ("__weakref__" in names)):
            return True
    return False


def held(value):
    """The plain number or text in an instance of a subclass, without asking the subclass."""
    for kind, take in (
        (int, int.__int__),
        (float, float.__float__),
        (complex, complex.__complex__),
        (str, str.__str__),
    ):
        if isinstance(value, kind):
            return take(value)
    return bytes.__getitem__(value, slice(None))
