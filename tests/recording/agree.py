"""One program twice: eager, and jitted, in step. Whatever can be seen of the two must be the same.

A *scene* is made by a function without arguments, so that it can be built twice; it says what is called, with which
arguments, what is changed between two calls, and what else the calls may change. After every call a *picture* of each
side is taken: the result or the exception, the arguments, the callable and its surroundings, all in one walk, so that
also what is shared, objects and memory, has to agree.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import types
import warnings
import weakref

import torch

from interpreter.jit import jit
from interpreter.recording.faults import Fault


@dataclasses.dataclass
class Scene:
    """`calls` are tuples of positional arguments, or functions that change something. `hits`: calls that a program
    must have served, at least;
    `tail`: whether an entry may be run unrecorded; `seed` is set before every call."""

    fn: object
    calls: list
    state: object = None
    hits: int | None = None
    entries: int | None = None
    tail: bool = False
    backward: bool = False
    kwargs: dict = dataclasses.field(default_factory=dict)


def collection():
    """A list of functions that make scenes, and the decorator that adds one to it."""
    scenes: list = []

    def scene(build):
        scenes.append(build)
        return build

    return scenes, scene


def X(n=2):
    """The floats 1 to n."""
    return torch.arange(float(n)) + 1


SAME_BY_NAME = (
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodWrapperType,
    enum.Enum,
    types.CodeType,
)
PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), torch.dtype, torch.device, range, torch.layout)


class Picture:
    """A description of an object graph: equal for graphs that can't be told apart. Objects and memory are numbered
    as they are met."""

    def __init__(self):
        self.numbers: dict = {}
        self.memory: dict = {}
        self.keep: list = []

    def of(self, value):
        kind = type(value)
        if kind in PLAIN:
            return kind.__name__, repr(value)
        if isinstance(value, SAME_BY_NAME):
            return kind.__name__, getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or str(value)
        if kind.__module__.startswith("torch._dynamo") or hasattr(value, "_torchdynamo_orig_callable"):
            return "compiled"
        if kind.__module__.startswith("interpreter"):
            return "of the interpreter", kind.__name__
        if id(value) in self.numbers:
            return "met", self.numbers[id(value)]
        number = self.numbers[id(value)] = len(self.numbers)
        self.keep.append(value)
        return number, name_of(kind), self.content(value, kind)

    def all(self, values):
        return [self.of(value) for value in values]

    def content(self, value, kind):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, type):
            if (value.__module__ or "").partition(".")[0] in (
                "builtins",
                "torch",
                "collections",
                "enum",
                "functools",
                "types",
                "typing",
            ):
                return value.__qualname__
            return value.__qualname__, self.names(
                {key: item for key, item in vars(value).items() if not key.startswith("__")}
            )
        if isinstance(value, types.FunctionType):
            cells = [self.cell(cell) for cell in value.__closure__ or ()]
            attributes = {key: item for key, item in value.__dict__.items() if key != "__wrapped__"}
            return (
                value.__qualname__,
                cells,
                self.of(value.__defaults__),
                self.of(value.__kwdefaults__),
                self.names(attributes),
            )
        if isinstance(value, types.MethodType):
            return self.all((value.__func__, value.__self__))
        if isinstance(value, functools.partial):
            return self.all((value.func, value.args, value.keywords))
        if isinstance(value, weakref.ref):
            return self.of(value())
        if isinstance(value, slice):
            return self.all((value.start, value.stop, value.step))
        if isinstance(value, torch.utils.hooks.RemovableHandle):
            return "handle"
        if isinstance(value, BaseException):
            return (
                str(value),
                self.all(value.args),
                self.of(value.__cause__),
                name_of(type(value.__context__)),
                self.names(value.__dict__),
            )
        parts = []
        if isinstance(value, collections.deque):
            parts.append(value.maxlen)
        if isinstance(value, (list, tuple, collections.deque)):
            parts.append(self.all(kind.__iter__(value)))
        elif isinstance(value, collections.defaultdict):
            parts.append(self.of(value.default_factory))
        if isinstance(value, dict):
            parts.append([(self.of(key), self.of(item)) for key, item in dict.items(value)])
        if isinstance(value, (set, frozenset)):
            parts.append(sorted(map(repr, map(self.of, value))))
        if isinstance(value, types.GeneratorType):
            return "generator"
        parts.append(
            self.names(getattr(value, "__dict__", {}) if not isinstance(value, types.MappingProxyType) else {})
        )
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__"):
                    parts.append((name, self.of(getattr(value, name)) if hasattr(value, name) else "unset"))
        return parts

    def names(self, space):
        return [
            (key, self.all(item.values()) if "_hooks" in key and isinstance(item, dict) else self.of(item))
            for key, item in space.items()
        ]

    def cell(self, cell):
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "empty"

    def tensor(self, value):
        if torch.nn.parameter.is_lazy(value):
            return "not made yet"
        memory = None
        if value.layout is torch.strided and value.device.type != "meta":
            try:
                address = value.untyped_storage().data_ptr()
                memory = self.memory.setdefault(address, len(self.memory)) if address else None
            except (RuntimeError, NotImplementedError):
                memory = None
        data = value.detach().to_dense() if value.layout is not torch.strided else value.detach()
        shown = repr(data.tolist()) if value.device.type != "meta" else None
        strides = tuple(value.stride()) if value.layout is torch.strided and value.numel() > 1 else None
        offset = value.storage_offset() if value.layout is torch.strided else None
        return (
            str(value.dtype),
            tuple(value.shape),
            strides,
            offset,
            value.requires_grad,
            value.is_leaf,
            memory,
            shown,
            self.of(value.grad) if value.is_leaf else None,
            self.names(value.__dict__),
        )


def name_of(kind):
    return kind.__module__, kind.__qualname__


def surroundings():
    """What a call may leave behind in torch itself."""
    return {
        "random state": torch.get_rng_state(),
        "grad mode": torch.is_grad_enabled(),
        "default dtype": torch.get_default_dtype(),
        "inference mode": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "function modes": torch._C._len_torch_function_stack(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def outcome(fn, args, kwargs):
    try:
        return "returned", fn(*args, **kwargs)
    except Exception as error:
        return "raised", error


def picture(scene, made, left, given):
    """One side after a call, with all it can reach."""
    state = scene.state() if scene.state is not None else None
    callable = scene.fn if isinstance(scene.fn, (torch.nn.Module, types.FunctionType, types.MethodType)) else None
    return Picture().of([made, left, given, scene.calls_given, state, callable])


def first_difference(a, b, path=""):
    """Where two pictures part, in words."""
    if type(a) is not type(b):
        return f"{path}: {a!r} and {b!r}"
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{path}: {len(a)} parts and {len(b)}: {str(a)[:300]} and {str(b)[:300]}"
        for i, (one, two) in enumerate(zip(a, b, strict=True)):
            found = first_difference(one, two, f"{path}.{i}")
            if found:
                return found
        return None
    return None if a == b else f"{path}: {str(a)[:300]} and {str(b)[:300]}"


def backwards(value):
    """Gradients of all that can have one."""
    if isinstance(value, torch.Tensor):
        if value.requires_grad and value.is_floating_point() and value.grad_fn is not None:
            value.sum().backward(retain_graph=True)
    elif isinstance(value, dict):
        for item in value.values():
            backwards(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            backwards(item)


def same(build, **options):
    """Run the scene that `build` makes on both sides and compare after every call. Returns the jitted callable."""
    sides = []
    for _ in range(2):
        torch.manual_seed(0)
        scene = build()
        scene.calls_given = [call for call in scene.calls if not callable(call)]
        sides.append(scene)
    eager, other = sides
    jitted = jit(other.fn, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Fault)
        in_step(eager, other, jitted)
    check_stats(eager, jitted.stats)
    return jitted


def in_step(eager, other, jitted):
    """The calls of both sides, one by one."""
    for number, (call, other_call) in enumerate(zip(eager.calls, other.calls, strict=True)):
        if callable(call):
            for change in (call, other_call):
                torch.manual_seed(number)
                change()
            continue
        pictures = []
        for scene, fn, given in ((eager, eager.fn, call), (other, jitted, other_call)):
            torch.manual_seed(number)
            made = outcome(fn, given, scene.kwargs)
            left = surroundings()
            if scene.backward and made[0] == "returned":
                backwards(made[1])
            pictures.append((picture(scene, made, left, given), made))
        (expected, (kind, value)), (actual, (other_kind, other_value)) = pictures
        if kind != other_kind:
            error = other_value if other_kind == "raised" else value
            raise AssertionError(f"call {number}: eager {kind}, jitted {other_kind} {other_value!r}") from (
                error if isinstance(error, BaseException) else None
            )
        difference = first_difference(expected, actual)
        assert difference is None, f"call {number}: eager and jitted differ at {difference}"


def check_stats(eager, stats):
    """What the scene asks of the entries."""
    tails = [entry.tail for entry in stats.entries if entry.tail is not None and "the call raised" not in entry.tail]
    assert eager.tail or not tails, f"run unrecorded: {tails}"
    if eager.hits is not None:
        assert stats.hits >= eager.hits, f"{stats.hits} hits: {[entry.missed for entry in stats.entries]}"
    if eager.entries is not None:
        assert len(stats.entries) <= eager.entries, [entry.missed for entry in stats.entries]
