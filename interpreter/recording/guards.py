"""What a program relies on, and the prologue that checks it.

A *guard* says what must hold of the value at a source. Guards are kept in the order in which the call read things, so
that a path is only walked when what was read before it still holds (a key is looked up in a dict that is known to be
one). `prologue.py` makes one function of all guards of an entry.
"""

from __future__ import annotations

import math

import torch
from torch._C._dynamo.guards import GlobalStateGuard
from torch.utils._device import DeviceContext

from interpreter.recording.naming import Binder, a_kind, bind_key, describe_tensor, same_objects, short
from interpreter.recording.sources import Source


class Guard:
    """One condition on the value at `source`. `lasting`: it goes on to hold while the value is the same object, and the
    dict that it is or has is as it was."""

    __slots__ = ("source",)
    lasting = True

    def __init__(self, source: Source):
        self.source = source

    def condition(self, value: str, bind) -> str:
        """Expression that is true where the guard holds."""
        raise TypeError(f"{type(self).__name__} has no condition")

    def holds(self, value) -> bool:
        """The same, evaluated slowly."""
        names: dict = {}
        return bool(eval(self.condition("value", Binder(names).bind), {**names, "value": value}))

    def expected(self) -> str:
        raise TypeError(f"{type(self).__name__} expects nothing")

    def found(self, value) -> str:
        return short(value)

    def __str__(self):
        return f"{self.source} {self.expected()}"

    def __repr__(self):
        return str(self)


class Constant(Guard):
    """Type and value of an immutable plain value (int, float, str, bytes, bool, None, dtype, device, Size ...)."""

    __slots__ = ("value",)

    def __init__(self, source, value):
        self.source = source
        self.value = value

    def holds(self, value):
        constant = self.value
        kind = type(constant)
        if type(value) is not kind:
            return False
        if kind is float or kind is complex:
            return repr(value) == repr(constant)
        return value is constant or value == constant

    def condition(self, value, bind):
        constant = self.value
        kind = type(constant)
        if constant is None or kind is bool or constant is Ellipsis or constant is NotImplemented:
            return f"{value} is {constant!r}"
        if kind is int or kind is str:
            return f"type({value}) is {kind.__name__} and {value} == {constant!r}"
        if kind is float:
            if math.isnan(constant):
                return f"type({value}) is float and {value} != {value}"
            if constant == 0.0:
                return f"type({value}) is float and repr({value}) == {repr(constant)!r}"
        if kind is complex:
            return f"type({value}) is complex and repr({value}) == {repr(constant)!r}"
        if kind is torch.dtype:
            return f"{value} is {bind(constant)}"
        return f"type({value}) is {bind(kind)} and {value} == {bind(constant)}"

    def expected(self):
        return f"is {short(self.value)}"


class Type(Guard):
    """The exact type."""

    __slots__ = ("kind",)

    def __init__(self, source, kind):
        self.source = source
        self.kind = kind

    def holds(self, value):
        return type(value) is self.kind

    def condition(self, value, bind):
        return f"type({value}) is {bind(self.kind)}"

    def expected(self):
        return f"is {a_kind(self.kind)}"

    def found(self, value):
        return a_kind(type(value))


class Identity(Guard):
    """The very object: functions, classes, modules, builtins."""

    __slots__ = ("value",)

    def __init__(self, source, value):
        self.source = source
        self.value = value

    def holds(self, value):
        return value is self.value

    def condition(self, value, bind):
        return f"{value} is {bind(self.value)}"

    def expected(self):
        return f"is {short(self.value)}"


class Absent(Guard):
    """A dict or set does not have a key."""

    __slots__ = ("key",)

    def __init__(self, source, key):
        self.source = source
        self.key = key

    def holds(self, value):
        return self.key not in value

    def condition(self, value, bind):
        return f"{bind_key(self.key, bind)} not in {value}"

    def expected(self):
        return f"has no {short(self.key)}"

    def found(self, value):
        return "has it"


class Present(Absent):
    """A dict or set has a key (whatever its value)."""

    __slots__ = ()

    def holds(self, value):
        return self.key in value

    def condition(self, value, bind):
        return f"{bind_key(self.key, bind)} in {value}"

    def expected(self):
        return f"has {short(self.key)}"

    def found(self, value):
        return "does not have it"


class NoAttribute(Guard):
    """An attribute that native code would read is not there."""

    __slots__ = ("name",)
    lasting = False

    def __init__(self, source, name):
        self.source = source
        self.name = name

    def holds(self, value):
        return not hasattr(value, self.name)

    def condition(self, value, bind):
        return f"not {bind(hasattr)}({value}, {self.name!r})"

    def expected(self):
        return f"has no attribute {self.name}"

    def found(self, value):
        return "has it"


class Length(Guard):
    __slots__ = ("length",)

    def __init__(self, source, length):
        self.source = source
        self.length = length

    def holds(self, value):
        return len(value) == self.length

    def condition(self, value, bind):
        return f"len({value}) == {self.length}"

    def expected(self):
        return f"has {self.length} items"

    def found(self, value):
        return f"{len(value)} items"


class Keys(Guard):
    """The keys of a dict, or the items of a set, and their order. Keys that aren't constants are compared by
    identity.
    """

    __slots__ = ("keys",)

    def __init__(self, source, keys):
        self.source = source
        self.keys = tuple(keys)

    def condition(self, value, bind):
        if all(type(key) in (str, int, bool, float, bytes, tuple) for key in self.keys):
            kinds = tuple(map(type, self.keys))
            if set(kinds) <= {str}:
                return f"tuple({value}) == {self.keys!r}"
            return f"tuple({value}) == {bind(self.keys)} and tuple(map(type, {value})) == {bind(kinds)}"
        return f"{bind(same_objects)}({value}, {bind(self.keys)})"

    def expected(self):
        return f"has the keys {short(list(self.keys))}"

    def found(self, value):
        return f"the keys {short(list(value))}"


class Truth(Guard):
    """Whether a builtin container is empty."""

    __slots__ = ("answer",)

    def __init__(self, source, answer):
        self.source = source
        self.answer = answer

    def holds(self, value):
        return bool(value) is self.answer

    def condition(self, value, bind):
        return f"{value}" if self.answer else f"not {value}"

    def expected(self):
        return "is not empty" if self.answer else "is empty"

    def found(self, value):
        return f"has {len(value)} items"


class Same(Guard):
    """Two sources lead to one object."""

    __slots__ = ("other",)

    def __init__(self, source, other):
        self.source = source
        self.other = other

    def all_sources(self):
        return self.source, self.other

    def expected(self):
        return f"is {self.other}"

    def found(self, value):
        return "another object"


class Distinct(Guard):
    """The sources lead to different objects, all of them."""

    __slots__ = ("sources",)

    def __init__(self, sources):
        self.source = sources[0]
        self.sources = sources

    def all_sources(self):
        return self.sources

    def expected(self):
        return "and " + ", ".join(map(str, self.sources[1:])) + " are different objects"

    def found(self, value):
        return "some are one object"


class Tensor(Guard):
    """Type, dtype, device, layout, shape, stride and requires_grad of a tensor; `dynamic` dimensions are free.

    The prologue checks all tensors of an entry in one call of torch's own C code (`TensorGuards`).
    """

    __slots__ = ("dynamic", "requires_grad", "shape", "strides", "text", "value")

    def __init__(self, source, value, dynamic=frozenset()):
        self.source = source
        self.value = value
        self.dynamic = dynamic
        self.shape = list(value.shape)
        self.strides = list(value.stride()) if value.layout is torch.strided else []
        self.text = describe_tensor(value, dynamic)

    def forget(self):
        """Drop the tensor itself; what it was like stays."""
        self.value = None

    def expected(self):
        return f"is {self.text}"

    def found(self, value):
        return describe_tensor(value) if isinstance(value, torch.Tensor) else short(value)

    def holds(self, value):
        return isinstance(value, torch.Tensor) and describe_tensor(value, self.dynamic) == self.text


class Call(Guard):
    """How the callable was called: the number of positional and the names of keyword arguments."""

    __slots__ = ("count", "names")

    def __init__(self, count, names):
        self.source = None
        self.count = count
        self.names = tuple(names)

    def __str__(self):
        return f"called with {self.count} positional arguments and the keywords {list(self.names)}"


class GlobalState(Guard):
    """Grad mode, autocast, default dtype and device, deterministic mode, number of threads: torch's own guard."""

    __slots__ = ("guard", "others")

    def __init__(self):
        self.source = None
        self.guard = GlobalStateGuard()
        self.others = other_state()

    def __str__(self):
        return "torch's global state (grad mode, autocast, default dtype, deterministic ...) is unchanged"


def other_state():
    """Global state that `GlobalStateGuard` does not look at, the modes on torch's stack included."""
    modes = [torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack())]
    return (torch.is_inference_mode_enabled(), torch.is_autocast_cache_enabled(),
            *(str(mode.device) if isinstance(mode, DeviceContext) else id(mode) for mode in modes))


def why_not(guard: Guard, call) -> str | None:
    """A line that says what failed, or None where the guard holds."""
    args, kwargs = call
    if isinstance(guard, Call):
        if len(args) != guard.count or tuple(kwargs) != guard.names:
            return f"{guard}; now {len(args)} and {list(kwargs)}"
        return None
    if isinstance(guard, GlobalState):
        if not guard.guard.check():
            return f"torch's global state changed: {guard.guard.reason()}"
        if other_state() != guard.others:
            return "inference mode, autocast cache or default device changed"
        return None
    try:
        value = guard.source.walk(call)
        if isinstance(guard, Same):
            holds = value is guard.other.walk(call)
        elif isinstance(guard, Distinct):
            values = [source.walk(call) for source in guard.sources]
            holds = len(set(map(id, values))) == len(values)
        else:
            holds = guard.holds(value)
    except Exception as error:
        return f"{guard.source} {guard.expected().replace('is', 'was', 1)}, can't be read now ({type(error).__name__})"
    if holds:
        return None
    was = guard.expected()
    was = "was" + was[2:] if was.startswith("is ") else "had" + was[3:] if was.startswith("has ") else was
    return f"{guard.source} {was}, is {guard.found(value)}"
