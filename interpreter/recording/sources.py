"""Where an outside object comes from.

A *source* is a path from something that a later call gives again (an argument) or that the program may hold on to
(a pinned object: a function's globals, a class) to an object that existed before the call. A source can be read in
three ways: as code in a generated prologue, slowly by `walk` when a miss is explained, and as text for a person.
"""

from __future__ import annotations

import collections
import itertools
import types

MEMBERS = ("_modules", "_parameters", "_buffers")


class Source:
    """A step from `parent` to a value. Roots have no parent."""

    __slots__ = ("parent",)

    def __init__(self, parent: Source | None = None):
        self.parent = parent

    def code(self, parent: str, bind) -> str:
        """Expression that reads the value, given the parent's expression; `bind(object)` names a constant object."""
        raise TypeError(f"{type(self).__name__} has no code")

    def take(self, parent):
        """The value, given the parent's value."""
        raise TypeError(f"{type(self).__name__} can't be taken")

    def walk(self, call):
        """The value in `call` = (args, kwargs). Raises what reading it raises."""
        return self.take(self.parent.walk(call))

    def identity(self):
        """Equal for two sources that are the same path, in whichever trace they were made."""
        step = (
            getattr(self, "key", None)
            if hasattr(self, "key")
            else getattr(self, "name", None) or getattr(self, "index", None)
        )
        try:
            hash(step)
        except TypeError:
            step = id(step)
        return type(self), type(step), step, self.parent.identity() if self.parent is not None else None

    def __repr__(self):
        return str(self)


class Argument(Source):
    """A positional (int) or keyword (str) argument of the jitted callable; `name` is the parameter's."""

    __slots__ = ("key", "name")

    def __init__(self, key: int | str, name: str):
        self.parent = None
        self.key = key
        self.name = name

    def code(self, parent, bind):
        return f"args[{self.key}]" if isinstance(self.key, int) else f"kwargs[{self.key!r}]"

    def walk(self, call):
        args, kwargs = call
        return args[self.key] if isinstance(self.key, int) else kwargs[self.key]

    def __str__(self):
        return self.name


class Pinned(Source):
    """An object that the program holds: it is reached by links that can't change from what is guarded by identity."""

    __slots__ = ("name", "value")

    def __init__(self, value, name: str):
        self.parent = None
        self.value = value
        self.name = name

    def code(self, parent, bind):
        return bind(self.value)

    def walk(self, call):
        return self.value

    def identity(self):
        return Pinned, id(self.value)

    def __str__(self):
        return self.name


class ClassDict(Pinned):
    """The view of a class's `__dict__`: a new object each time, and the same names."""

    __slots__ = ("kind",)

    def __init__(self, kind: type):
        super().__init__(kind.__dict__, kind.__qualname__)
        self.kind = kind

    def identity(self):
        return ClassDict, id(self.kind)


class Dict(Source):
    """The `__dict__` of an object."""

    __slots__ = ()

    def code(self, parent, bind):
        return f"{parent}.__dict__"

    def take(self, parent):
        return parent.__dict__

    def __str__(self):
        return f"{self.parent}.__dict__"


class Item(Source):
    """`parent[key]` of a builtin container."""

    __slots__ = ("key",)

    def __init__(self, parent, key):
        self.parent = parent
        self.key = key

    def code(self, parent, bind):
        key = repr(self.key) if type(self.key) in (int, str, bool) else bind(self.key)
        return f"{parent}[{key}]"

    def take(self, parent):
        return parent[self.key]

    def __str__(self):
        if isinstance(self.parent, Dict):
            return f"{self.parent.parent}.{self.key}"
        if isinstance(self.parent, Pinned) and isinstance(self.key, str):
            return f"{self.parent}.{self.key}"
        if (
            isinstance(self.parent, Item)
            and self.parent.key in MEMBERS
            and isinstance(self.parent.parent, Dict)
            and isinstance(self.key, str)
        ):
            owner = self.parent.parent.parent
            return f"{owner}.{self.key}" if self.key.isidentifier() else f"{owner}[{self.key}]"
        return f"{self.parent}[{self.key!r}]"


class Held(Item):
    """The same of a class derived from a builtin container: what the container holds, whatever the class would say.

    A `__getitem__` or `__missing__` of its own, or a default factory, is not asked: a prologue changes nothing.
    """

    __slots__ = ()

    def code(self, parent, bind):
        return f"{bind(held_item)}({parent}, {bind(self.key)})"

    def take(self, parent):
        return held_item(parent, self.key)


GONE = type("Gone", (), {"__repr__": lambda self: "nothing"})()
PLAIN = (dict, list, tuple, collections.OrderedDict, collections.deque, types.MappingProxyType)
BASES = (list, tuple, collections.deque)


def held_item(container, key):
    if isinstance(container, dict):
        return dict.get(container, key, GONE)
    return next(base for base in BASES if isinstance(container, base)).__getitem__(container, key)


def item(container, source, key) -> Item:
    """The source of what a container, which is at `source`, holds under a key."""
    kind = type(container)
    derived = kind not in PLAIN and (issubclass(kind, dict) or type(kind.__getitem__) is types.FunctionType)
    return (Held if derived else Item)(source, key)


class ValueAt(Source):
    """The value under the `index`-th key of a dict, where finding it by that key would run Python code."""

    __slots__ = ("index", "shown")

    def __init__(self, parent, index: int, shown: str):
        self.parent = parent
        self.index = index
        self.shown = shown

    def code(self, parent, bind):
        return f"{bind(value_at)}({parent}, {self.index})"

    def take(self, parent):
        return value_at(parent, self.index)

    def __str__(self):
        return f"{self.parent}[{self.shown}]"


def value_at(mapping, index: int):
    values = dict.values(mapping) if isinstance(mapping, dict) else mapping.values()
    return next(itertools.islice(values, index, None))


class Attribute(Source):
    """An attribute that native code reads: a slot, a getset descriptor, a member of a builtin object."""

    __slots__ = ("name",)

    def __init__(self, parent, name):
        self.parent = parent
        self.name = name

    def code(self, parent, bind):
        return f"{parent}.{self.name}"

    def take(self, parent):
        return getattr(parent, self.name)

    def __str__(self):
        return str(self.parent) if self.name == "cell_contents" else f"{self.parent}.{self.name}"


class Reading(Source):
    """`function(parent, *arguments)` for a native function that only reads: a context variable's value, say."""

    __slots__ = ("arguments", "function", "name")

    def __init__(self, parent, function, arguments, name):
        self.parent = parent
        self.function = function
        self.arguments = arguments
        self.name = name

    def code(self, parent, bind):
        return f"{bind(self.function)}({', '.join([parent, *map(bind, self.arguments)])})"

    def take(self, parent):
        return self.function(parent, *self.arguments)

    def identity(self):
        asked = (self.function, *self.arguments)
        try:
            hash(asked)
        except TypeError:
            asked = tuple(map(id, asked))
        return Reading, tuple(map(type, self.arguments)), asked, self.parent.identity()

    def __str__(self):
        return f"{self.name}({self.parent})"
