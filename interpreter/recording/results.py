"""How what leaves the call is made again by a later one.

`Builder.template(value)` gives a template for a result, or for an argument of a write: outside objects are given back
as themselves, tensors are results of operations, and containers and objects made inside are made anew, one Build an
object, so that what was shared stays shared. What can't be made again (a generator in the middle of its work, an object
of an unknown native type, an instance of a class that was made inside) raises Unknown with the reason.
"""

from __future__ import annotations

import collections
import contextlib
import copyreg
import enum
import functools
import types
import weakref

import torch

from interpreter.recording import iterators
from interpreter.recording.hidden import held
from interpreter.recording.methods import BOUND_NATIVE, unbound
from interpreter.recording.numbers import TRACED
from interpreter.recording.operations import Build, Input
from interpreter.recording.outside import hashed_in_python
from interpreter.recording.sources import Pinned
from interpreter.recording.torch_calls import CONSTANT_KINDS
from interpreter.recording.trace import Trace, Unknown
from interpreter.vm.lookups import HEAP_TYPE
from interpreter.vm.reentry import identity

SEQUENCES = (list, tuple, set, frozenset, torch.Size)
HASHED = (set, frozenset, dict, collections.OrderedDict, collections.Counter, collections.defaultdict)
IMMUTABLE = (tuple, frozenset, int, float, complex, str, bytes)
PINNED_KINDS = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.CodeType,
    type(torch.ops.aten.add),
    type(torch.ops.aten.add.Tensor),
)


class Builder:
    """Templates with one memory: an object met twice is one Build."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.memo: dict[int, tuple] = {}

    def template(self, value):
        kind = type(value)
        if kind in CONSTANT_KINDS and kind is not torch.Size:
            return value
        if isinstance(value, torch.Tensor):
            return self.trace.tensor_template(value)
        if kind in TRACED:
            return value.template
        known = self.memo.get(id(value))
        if known is not None:
            return known[0]
        made = self.trace.objects.get(id(value))
        if made is not None:
            return made[1]
        entry = self.trace.find(value)
        if entry is not None:
            return (
                value if isinstance(entry.source, Pinned) and isinstance(value, PINNED_KINDS) else Input(entry.source)
            )
        return self.start(value, kind)

    def keep(self, value, build):
        self.memo[id(value)] = (build, value)
        return build

    def parts(self, items):
        return [self.template(item) for item in items]

    def start(self, value, kind):
        """A Build for an object made inside; containers are noted before their parts, as they may hold themselves."""
        if kind is tuple and id(value) in self.trace.literals():
            return value
        if kind in HASHED and any(map(hashed_in_python, value)):
            self.trace.hooks_again = True
        if kind in SEQUENCES:
            build = self.keep(value, Build(kind, []))
            build.parts.extend(self.parts(value))
            return build
        if (
            kind is dict
            or kind is collections.OrderedDict
            or kind is collections.Counter
            or kind is collections.defaultdict
        ):
            extra = value.default_factory if kind is collections.defaultdict else None
            build = self.keep(value, Build(kind, [], extra and self.template(extra)))
            for key, item in value.items():
                build.parts.append(Build(tuple, (self.template(key), self.template(item))))
            return build
        if kind is collections.deque:
            build = self.keep(value, Build(kind, [], value.maxlen))
            build.parts.extend(self.parts(value))
            return build
        if kind is bytearray:
            return self.keep(value, Build("call", [bytearray, bytes(value)]))
        if kind is slice:
            return self.keep(value, Build(slice, self.parts((value.start, value.stop, value.step))))
        if isinstance(value, tuple) and (hasattr(kind, "_fields") or hasattr(kind, "n_sequence_fields")):
            return self.keep(value, Build("tuple subclass", self.parts(value), kind))
        if kind is types.MethodType:
            return self.keep(value, Build("call", self.parts((types.MethodType, value.__func__, value.__self__))))
        if kind is functools.partial:
            build = self.keep(value, Build("partial", []))
            build.parts.extend(self.parts((value.func, value.args, value.keywords)))
            return build
        if kind is types.FunctionType:
            return self.function(value)
        if kind is types.CellType:
            build = self.keep(value, Build("cell", []))
            with contextlib.suppress(ValueError):
                build.parts.append(self.template(value.cell_contents))
            return build
        if kind in iterators.KINDS:
            return self.iterator(value)
        if (kind.__module__ or "").startswith("interpreter."):
            return self.stand_in(value)
        if kind is weakref.ref and value() is not None:
            callback = () if value.__callback__ is None else (value.__callback__,)
            return self.keep(value, Build("call", self.parts((weakref.ref, value(), *callback))))
        if isinstance(value, BOUND_NATIVE) and (descriptor := unbound(value)) is not value:
            return self.keep(value, Build("call", [bound, *self.parts((value.__self__, descriptor))]))
        if isinstance(value, PINNED_KINDS):
            if isinstance(value, type) and id(value) in self.trace.made:
                raise Unknown(f"the class {value.__qualname__} was made inside the call")
            return value
        return self.instance(value, kind)

    def function(self, value):
        if (value.__module__ or "").startswith("interpreter.") and "<" not in value.__qualname__:
            return value
        if id(value) not in self.trace.made:
            raise Unknown(f"the function {value.__qualname__} is of unknown origin")
        build = self.keep(value, Build("function", [], value))
        build.parts.extend(
            self.parts((value.__closure__, value.__defaults__, value.__kwdefaults__, dict(value.__dict__)))
        )
        return build

    def iterator(self, value):
        build = self.keep(value, Build("iterator", []))
        build.parts.extend(self.parts(iterators.remake(value)))
        return build

    def stand_in(self, value):
        """What native code has in the place of a user's function or iterable, where it came to a lookaside: that
        itself, for calls that run natively."""
        kind = type(value)
        if kind.__reduce__ is object.__reduce__:
            raise Unknown(f"an object of the interpreter's own ({kind.__qualname__})")
        made_from = value.__reduce__()
        if type(made_from) is str:
            return value
        function, arguments = made_from
        if function is identity:
            return self.template(arguments[0])
        build = self.keep(value, Build("call", []))
        build.parts.extend((function, *self.parts(arguments)))
        return build

    def instance(self, value, kind):
        """An object of a class written in Python: `__new__` of its native base, then its `__dict__` and slots."""
        if id(kind) in self.trace.made:
            raise Unknown(f"an instance of {kind.__qualname__}, a class made inside the call")
        native = [base for base in kind.__mro__ if not base.__flags__ & HEAP_TYPE]
        base = native[0] if native else object
        state = getattr(value, "__dict__", None)
        slots = {name: getattr(value, name) for name in copyreg._slotnames(kind) or () if hasattr(value, name)}
        if isinstance(value, BaseException):
            build = self.keep(value, Build("exception", [], kind))
            build.parts.extend(
                self.parts(
                    (value.args, dict(state or {}), value.__cause__, value.__context__, value.__suppress_context__)
                )
            )
            return build
        if base in IMMUTABLE and not isinstance(value, enum.Enum):
            build = self.keep(value, Build("immutable", [], kind))
            content = tuple(base.__iter__(value)) if base in (tuple, frozenset) else held(value)
            build.parts.extend(self.parts((content, dict(state or {}), slots)))
            return build
        if base in (list, dict, set):
            build = self.keep(value, Build("container subclass", [], (kind, base)))
            content = dict(dict.items(value)) if base is dict else list(base.__iter__(value))
            build.parts.extend(self.parts((content, dict(state or {}), slots)))
            return build
        if base is not object:
            raise Unknown(f"an object of the type {kind.__module__}.{kind.__qualname__} can't be made again")
        build = self.keep(value, Build("instance", [], kind))
        build.parts.extend(self.parts((dict(state) if state is not None else None, slots)))
        return build


class Plan:
    """The lines of generated code that make the templates' objects: fills `lines`, gives expressions."""

    def __init__(self, bind, value_of, input_of):
        self.bind = bind
        self.value_of = value_of
        self.input_of = input_of
        self.lines: list[str] = []
        self.memo: dict[int, str] = {}
        self.keep: list = []

    def expression(self, template) -> str:
        from interpreter.recording.operations import Ref

        kind = type(template)
        if kind is Ref:
            return self.value_of(template.index)
        if kind is Input:
            return self.input_of(template.source)
        if kind is Build:
            return self.memo.get(id(template)) or self.build(template)
        if template is None or kind is bool or kind is int or kind is str:
            return repr(template)
        return self.bind(template)

    def variable(self, template, code: str) -> str:
        name = f"o{len(self.memo)}"
        self.memo[id(template)] = name
        self.keep.append(template)
        self.lines.append(f"{name} = {code}")
        return name

    def build(self, template) -> str:
        kind, parts, extra = template.kind, template.parts, template.extra
        each = self.expression
        if kind in (tuple, slice, frozenset, torch.Size) or kind == "tuple subclass":
            items = [each(part) for part in parts]
            listed = ", ".join(items) + ("," if len(items) == 1 else "")
            if kind is tuple:  # a display of constants would be one object for all calls
                return self.variable(
                    template,
                    f"({listed})" if any(varies(item) for item in items) or not items else f"tuple([{listed}])",
                )
            if kind is slice:
                return self.variable(template, f"slice({listed})")
            if kind == "tuple subclass":
                return self.variable(template, f"tuple_of({self.bind(extra)}, ({listed}))")
            return self.variable(template, f"{self.bind(kind)}(({listed}))")
        if kind is list:
            name = self.variable(template, "[]")
            if parts:
                self.lines.append(f"{name}[:] = [{', '.join(each(part) for part in parts)}]")
            return name
        if kind is set:
            name = self.variable(template, "set()")
            self.lines.extend(f"{name}.add({each(part)})" for part in parts)
            return name
        if kind is collections.deque:
            name = self.variable(template, f"{self.bind(kind)}((), {extra!r})")
            self.lines.extend(f"{name}.append({each(part)})" for part in parts)
            return name
        if kind in (dict, collections.OrderedDict, collections.Counter, collections.defaultdict):
            made = f"{self.bind(kind)}({each(extra) if extra is not None else ''})" if kind is not dict else "{}"
            name = self.variable(template, made)
            for pair in parts:
                self.lines.append(f"{name}[{each(pair.parts[0])}] = {each(pair.parts[1])}")
            return name
        if kind == "call":
            return self.variable(template, f"{each(parts[0])}({', '.join(each(part) for part in parts[1:])})")
        if kind == "cell":
            name = self.variable(template, f"{self.bind(types.CellType)}()")
            self.lines.extend(f"{name}.cell_contents = {each(part)}" for part in parts)
            return name
        if kind == "immutable":
            name = self.variable(template, f"{self.bind(new_immutable)}({self.bind(extra)}, {each(parts[0])})")
            self.lines.append(f"{self.bind(fill_instance)}({name}, {each(parts[1])}, {each(parts[2])})")
            return name
        maker = MAKERS[kind]
        if maker.early is None:
            arguments = ", ".join(each(part) for part in parts)
            return self.variable(template, f"{self.bind(maker.finish)}({self.bind(extra)}, {arguments})")
        name = self.variable(template, f"{self.bind(maker.early)}({self.bind(extra)})")
        arguments = ", ".join(each(part) for part in parts)
        self.lines.append(f"{self.bind(maker.finish)}({name}, {arguments})")
        return name


def varies(expression: str) -> bool:
    """Whether generated code has a variable here, and no constant."""
    return expression.isidentifier() and expression not in ("True", "False", "None")


class Maker:
    """How a kind of object is made: `early(extra)` first, where its parts may lead back to it, then `finish(made,
    *parts)`.
    """

    def __init__(self, finish, early=None):
        self.early = early
        self.finish = finish


def bound(owner, descriptor):
    """A method of a native type."""
    return descriptor.__get__(owner)


def tuple_of(kind, items):
    """A named tuple or struct sequence."""
    return kind(items) if hasattr(kind, "n_sequence_fields") else tuple.__new__(kind, items)


def make_function(original, closure, defaults, kwdefaults, attributes):
    made = types.FunctionType(original.__code__, original.__globals__, original.__name__, defaults, closure)
    made.__kwdefaults__ = kwdefaults
    made.__qualname__, made.__module__, made.__doc__ = original.__qualname__, original.__module__, original.__doc__
    made.__annotations__ = dict(original.__annotations__)
    made.__dict__.update(attributes)
    return made


def new_container(extra):
    kind, base = extra
    return base.__new__(kind)


def fill_container(made, content, state, slots):
    for base in (dict, list, set):
        if isinstance(made, base):
            {dict: dict.update, list: list.extend, set: set.update}[base](made, content)
    fill_instance(made, state, slots)


def new_immutable(kind, content):
    """A tuple, a number or a text of a class of the user's; its attributes may lead back to it, and come after it."""
    base = next(base for base in kind.__mro__ if base in IMMUTABLE)
    return base.__new__(kind, content)


def fill_instance(made, state, slots):
    if state:
        made.__dict__.update(state)
    for name, value in slots.items():
        object.__setattr__(made, name, value)


def new_exception(kind):
    return kind.__new__(kind)


def fill_exception(made, args, state, cause, context, suppress):
    made.args = args
    made.__cause__, made.__context__, made.__suppress_context__ = cause, context, suppress
    made.__dict__.update(state)


def make_iterator(_, function, args, state=None):
    made = function(*args)
    if state is not None:
        made.__setstate__(state)
    return made


def make_partial(_, function, args, keywords):
    return functools.partial(function, *args, **keywords)


MAKERS = {
    "function": Maker(make_function),
    "iterator": Maker(make_iterator),
    "partial": Maker(make_partial),
    "instance": Maker(fill_instance, early=object.__new__),
    "container subclass": Maker(fill_container, early=new_container),
    "exception": Maker(fill_exception, early=new_exception),
}
