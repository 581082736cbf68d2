"""Native callables of which it is known exactly what they read.

`SPECIAL` maps a callable to its handler, called as `handler(machine, callable, args, kwargs)` while a trace records.
Calls made by our own code (the bodies of lookasides) never end a trace: what their targets read of outside containers
is guarded, the rest is the machine's business.
"""

from __future__ import annotations

import _abc
import _bisect
import _heapq
import builtins
import collections
import copyreg
import functools
import sys
import sysconfig
import threading
import types
import weakref

import torch
from torch.utils._device import DeviceContext

import interpreter.lookasides
import interpreter.vm
from interpreter.lookasides.purity import SEEING
from interpreter.recording import guards, sources, switches, torch_calls
from interpreter.recording.mode import record
from interpreter.recording.numbers import pin, plain
from interpreter.recording.outside import is_constant
from interpreter.vm.frame import Frame
from interpreter.vm.hooks import Then, hooked
from interpreter.vm.lookups import HEAP_TYPE

OURS = tuple(package.__path__[0] for package in (interpreter.lookasides, interpreter.vm))
SPECIAL: dict = {}
ASK_AGAIN = _abc._abc_subclasscheck


@functools.lru_cache(maxsize=4096)
def is_ours(filename: str) -> bool:
    """Whether a file belongs to the machine or to the lookasides: its calls are the machine's business, not the
    user's."""
    return filename.startswith(OURS)


LIBRARY = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<frozen")


@functools.lru_cache(maxsize=4096)
def is_library(filename: str) -> bool:
    """Whether a file is part of Python's standard library or an installed package: its functions' code is not
    replaced in place."""
    return filename.startswith(LIBRARY)


def special(*targets):
    def register(handler):
        for target in targets:
            SPECIAL[target] = handler
        return handler

    return register


@special(*torch_calls.HAS_TORCH_FUNCTION)
def has_torch_function(machine, callable, args, kwargs):
    """The recording mode is no reason to take the overridden path; a subclass of Tensor is."""
    values = args[0] if callable is torch._C._has_torch_function else args
    return any(isinstance(value, torch.Tensor) and type(value) not in torch_calls.PLAIN_CLASSES for value in values)


@special(builtins.vars)
def vars_(machine, callable, args, kwargs):
    if len(args) != 1 or kwargs:
        return vars(*args, **(kwargs or {}))
    try:
        return machine.get_attribute(args[0], "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


@special(builtins.dir)
def dir_(machine, callable, args, kwargs):
    """The names of an object's attributes: its own, and those of its classes."""
    if len(args) != 1 or kwargs:
        return dir(*args, **(kwargs or {}))
    obj = plain(args[0])
    hook = machine.lookup(type(obj), "__dir__")
    if type(hook) is types.FunctionType and not isinstance(obj, torch.Tensor):
        return sorted(machine.invoke(hook, obj))
    trace = machine.trace
    for kind in obj.__mro__ if isinstance(obj, type) else type(obj).__mro__:
        if kind.__flags__ & HEAP_TYPE and id(kind) not in trace.made:
            trace.read_names(machine.class_space(kind))
    entry = trace.find(obj)
    if entry is not None and (space := trace.namespace(entry)) is not None:
        trace.read_names(space)
        if isinstance(obj, types.ModuleType):
            trace.read_key(space, "__dir__")
    return dir(obj)


@special(builtins.__import__)
def import_(machine, callable, args, kwargs):
    """An import that has happened finds its module again; one that has not happened yet happens once, unrecorded."""
    name = args[0] if args else None
    if isinstance(name, str) and name in sys.modules:
        return callable(*args, **(kwargs or {}))
    with torch.overrides._pop_mode_temporarily():
        return callable(*args, **(kwargs or {}))


@special(_abc._abc_instancecheck, _abc._abc_subclasscheck)
def abstract_check(machine, callable, args, kwargs):
    """`isinstance` of an abstract class depends on what has been registered with it: the program asks again."""
    trace = machine.trace
    answer = callable(*args)
    kind, asked = args[0], args[1] if callable is ASK_AGAIN else type(args[1])
    if id(kind) not in trace.made and isinstance(asked, type) and id(asked) not in trace.made and asked is not kind:
        entry = trace.pinned(kind, kind.__qualname__)
        key = "subclass", asked
        if key not in entry.known:
            entry.known[key] = ASK_AGAIN(kind, asked)
            trace.guard(
                guards.Constant(sources.Reading(entry.source, ASK_AGAIN, (asked,), "issubclass"), entry.known[key])
            )
    return answer


LOCKS = [
    getattr(type(lock), name)
    for lock in (threading.Lock(), threading.RLock())
    for name in ("acquire", "release", "__enter__", "__exit__")
]


@special(
    _abc.get_cache_token,
    _abc._abc_init,
    threading.get_ident,
    torch.device.__enter__,
    torch.device.__exit__,
    torch._C._get_function_stack_at,
    types.FunctionType.__get__,
    *LOCKS,
)
def plainly(machine, callable, args, kwargs):
    """Gives nothing that a program depends on; what it changes is seen in the operations that follow."""
    return callable(*map(pin, args), **(kwargs or {}))


@special(torch._C._push_on_torch_function_stack)
def mode_entered(machine, callable, args, kwargs):
    """A mode of the user's runs Python code at each operation, natively; that of a device only names the device."""
    if type(args[0]) is not DeviceContext:
        machine.sharp(callable, f"{type(args[0]).__qualname__}.__torch_function__ would run unseen at each operation")
    return callable(*args)


COPIED = (
    object,
    list,
    dict,
    set,
    frozenset,
    collections.OrderedDict,
    collections.deque,
    collections.defaultdict,
    BaseException,
    Exception,
)


@special(property.__get__)
def property_get(machine, callable, args, kwargs):
    made, obj = args[0], args[1] if len(args) > 1 else None
    if obj is None or made.fget is None:
        return callable(*args)
    return machine.call(machine.pin_function(made.fget), (obj,), None)


@special(property.__set__)
def property_set(machine, callable, args, kwargs):
    made, obj, value = args
    if made.fset is None:
        return callable(*args)
    result = machine.call(machine.pin_function(made.fset), (obj, value), None)
    return hooked(result, Then(lambda _: None)) if type(result) is Frame else None


@special(object.__reduce_ex__)
def reduce(machine, callable, args, kwargs):
    """How an object is copied: its class and its state, as `object.__reduce_ex__` tells them, with the user's hooks
    interpreted."""
    obj, protocol = args
    kind = type(obj)
    trace = machine.trace
    if type(machine.lookup(kind, "__reduce__")) is types.FunctionType:
        return machine.call(machine.lookup(kind, "__reduce__"), (obj,), None)
    if not kind.__flags__ & HEAP_TYPE and trace.find(obj) is None:
        return callable(machine.see(obj), protocol)  # native code that tells of an object made inside
    hooks = [
        name
        for name in ("__getnewargs_ex__", "__getnewargs__")
        if type(machine.lookup(kind, name)) is types.FunctionType
    ]
    if hooks or protocol < 2 or native_base(kind) not in COPIED:
        machine.sharp(callable, "asks an object how it is copied")
        return callable(*args)
    entry = trace.find(obj)
    if entry is not None:
        space = trace.namespace(entry)
        if space is not None:
            trace.read_all(space)
        for name in copyreg._slotnames(kind) or ():
            if hasattr(obj, name):
                machine.get_attribute(obj, name)
    machine.see(obj)
    how = callable(*args)
    hook = machine.lookup(kind, "__getstate__")
    if type(hook) is types.FunctionType:
        return (*how[:2], machine.invoke(hook, obj), *how[3:])
    return how


@special(
    _heapq.heapify,
    _heapq.heappush,
    _heapq.heappop,
    _heapq.heapreplace,
    _heapq.heappushpop,
    *(getattr(_heapq, name) for name in ("_heapify_max", "_heappop_max", "_heapreplace_max") if hasattr(_heapq, name)),
    _bisect.insort_left,
    _bisect.insort_right,
)
def ordered_write(machine, callable, args, kwargs):
    """Heaps and sorted lists: they compare what they hold, and write the list."""
    if args and not compares_natively([args[0], *args[1:]]) or kwargs:
        machine.sharp(callable, "compares objects of the user in native code")
    return machine.call_writer(callable, SEEING, callable, args, kwargs)


@special(_bisect.bisect_left, _bisect.bisect_right)
def ordered_read(machine, callable, args, kwargs):
    if (not compares_natively(args) or kwargs) and not machine.in_our_code():
        machine.sharp(callable, "compares objects of the user in native code")
    return callable(*map(machine.see, args), **(kwargs or {}))


def compares_natively(values, depth=0) -> bool:
    """Whether no comparison of these, or of what they hold, is written in Python or is an operation."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if depth > 3 or not compares_natively(value, depth + 1):
                return False
        elif type(value).__flags__ & HEAP_TYPE and not isinstance(value, (int, float, str)):
            return False
    return True


@special(id, hash)
def identity(machine, callable, args, kwargs):
    """An address, or a hash made of one. Of an outside object it is the same as long as the object is the same;
    library code that asks
    (`copy`, a memo of modules) only wants to know which objects are one."""
    trace = machine.trace
    if len(args) != 1 or kwargs:
        return callable(*args, **(kwargs or {}))
    obj = machine.see(args[0])
    kind = type(obj)
    if callable is hash and (is_constant(obj) or isinstance(obj, (tuple, frozenset)) or not hashed_by_address(kind)):
        machine.note_compared(obj, ("__hash__", "__eq__"))
        machine.note_hashed(set(), obj)
        return machine.call_watched(hash, (obj,))
    entry = trace.find(obj)
    if entry is not None and not isinstance(entry.source, sources.Pinned) and not is_constant(obj):
        if callable is id and machine.frame.code is not None and is_library(machine.frame.code.co_filename):
            trace.asked_distinct[id(obj)] = entry
        else:
            trace.guard(guards.Identity(entry.source, obj))
    return callable(obj)


def hashed_by_address(kind: type) -> bool:
    return kind.__hash__ in (object.__hash__, torch.Tensor.__hash__)


@special(switches.INFERENCE)
def inference_mode(machine, callable, args, kwargs):
    return record(machine.trace, callable, "inference mode", tuple(args), kwargs or {}, False, True)


@special(switches.INFERENCE.__dict__["__enter__"].__func__)
def inference_entered(machine, callable, args, kwargs):
    return record(machine.trace, switches.entering, "entering", tuple(args), {}, False, True)


@special(switches.INFERENCE.__dict__["__exit__"].__func__)
def inference_left(machine, callable, args, kwargs):
    return record(machine.trace, switches.leaving, "leaving", (args[0], None, None, None), {}, False, True)


def weak_reference(machine, reference, args, kwargs):
    """What a weak reference leads to."""
    trace = machine.trace
    entry = trace.find(reference)
    if entry is None or args or kwargs:
        return reference(*args, **(kwargs or {}))
    if "referent" not in entry.known:
        source = sources.Reading(entry.source, weakref.ref.__call__, (), "weakref")
        entry.known["referent"] = trace.read(reference(), source)
    return entry.known["referent"]


def plain_call(machine, callable, args, kwargs):
    """A callable that only wraps what it is given."""
    return machine.call_watched(callable, args, kwargs)


SPECIAL_KINDS: dict = {weakref.ref: weak_reference, type(functools.cmp_to_key(max)): plain_call}


@functools.lru_cache(maxsize=4096)
def native_base(kind: type) -> type:
    """The class written in C that a user's class is derived from."""
    for base in kind.__mro__:
        if not base.__flags__ & HEAP_TYPE:
            return base
    return object


def runs_hooks(name_space: dict, bases: tuple) -> bool:
    """Whether making a class runs hooks written in Python that the machine would not see."""
    if any(type(base.__init_subclass__) is types.MethodType for base in bases):
        return True
    return any(
        type(getattr(type(value), "__set_name__", None)) is types.FunctionType
        and type(value).__module__ not in ("functools", "enum", "abc")
        for value in name_space.values()
    )
