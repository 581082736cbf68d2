"""What the recording machine answers itself is sound: instructions, operators, handlers that read a container.

A jitted function uses them on an object that exists before the call. It is changed between calls, in each way that can
matter. Each call must give what the eager function gives. Every handler is used here, or listed as one that reads none.
"""

import _abc
import _bisect
import _heapq
import abc
import bisect
import builtins
import collections
import copy
import functools
import heapq
import itertools
import logging
import re
import types
import warnings
import weakref

import pytest
import torch

from interpreter.jit import jit
from interpreter.recording import caches, effects, modules, special
from interpreter.vm.operators import BINARY, COMPARE
from tests.lookasides.outcome import consume, described
from tests.lookasides.test_sound import attempt, changes

pytestmark = pytest.mark.filterwarnings("ignore:.*has been recorded")


class Box:
    """An object with a value, a property and some order."""

    kind = "box"

    def __init__(self, n):
        self.n = n

    @property
    def twice(self):
        return self.n * 2

    @twice.setter
    def twice(self, value):
        self.n = value // 2

    def __eq__(self, other):
        return self.n == getattr(other, "n", other)

    def __hash__(self):
        return hash(self.n)

    def __lt__(self, other):
        return self.n < getattr(other, "n", other)


CONTAINERS = {
    "list": lambda: [3, 1, 2],
    "list of boxes": lambda: [Box(2), Box(1)],
    "list of lists": lambda: [[2, 1], [1]],
    "dict": lambda: {"a": 1, "b": 2},
    "dict of boxes": lambda: {Box(1): 1, "b": Box(2)},
    "set": lambda: {1, 2},
    "deque": lambda: collections.deque([3, 1], maxlen=4),
    "OrderedDict": lambda: collections.OrderedDict(a=1, b=2),
    "defaultdict": lambda: collections.defaultdict(int, a=1),
    "Counter": lambda: collections.Counter("aab"),
}


def matched(held):
    match held:
        case [first, *_]:
            return "sequence", first
        case {"a": first, **rest}:
            return "mapping", first, rest
        case _:
            return "neither"


def unpacked(held):
    first, *rest = held
    return first, rest


def given(*args):
    return args


def named(**kwargs):
    return kwargs


def written(step):
    """A use that changes its container: gives that too."""

    def use(held):
        step(held)
        return held

    return use


def set_first(held):
    held[next(iter(held)) if isinstance(held, dict) else 0] = 7


def delete_first(held):
    del held[next(iter(held)) if isinstance(held, dict) else 0]


def sliced(held):
    held[1:2] = [8, 9]


def grown(held):
    held += [4]


def joined(held):
    held |= {"c": 3} if isinstance(held, dict) else {3}


INSTRUCTIONS = {
    "in": lambda held: (1 in held, "a" in held, 5 in held),
    "in, an object": lambda held: Box(1) in held,
    "[first]": lambda held: held[0],
    "[key]": lambda held: held["a"],
    "[slice]": lambda held: held[-1:],
    "for": lambda held: [each for each in held],
    "dict comprehension": lambda held: {str(each): held[each] for each in held},
    "*": lambda held: [*held],
    "{*}": lambda held: len({*held}),
    "f(*)": lambda held: given(*held),
    "f(**)": lambda held: named(**held),
    "{**}": lambda held: {**held},
    "unpacking": unpacked,
    "match": matched,
    "truth": lambda held: "some" if held else "none",
    "not": lambda held: not held,
    "len": lambda held: len(held),
    "f-string": lambda held: f"{list(map(str, map(type, held)))}",
    "[] =": written(set_first),
    "[:] =": written(sliced),
    "del": written(delete_first),
    "+=": written(grown),
    "|=": written(joined),
    **{f"{symbol} itself": lambda held, apply=apply: apply(held, held) for symbol, (apply, _) in BINARY.items()
       if not symbol.endswith("=")},
    **{f"{symbol} a copy": lambda held, apply=entry[0]: apply(held, copy.copy(held)) for symbol, entry in
       COMPARE.items()},
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions_guard_what_they_read(name, kind):
    through_changes(INSTRUCTIONS[name], CONTAINERS[kind], changes(CONTAINERS[kind]()))


def boxed_changes():
    yield "another value", lambda box: setattr(box, "n", 5)
    yield "a new attribute", lambda box: setattr(box, "m", 2)
    yield "another class attribute", lambda box: setattr(type(box), "kind", "crate")
    yield "an attribute of its own", lambda box: setattr(box, "kind", "mine")
    yield "gone", lambda box: delattr(box, "n")


def fresh_box():
    """A box of a class of its own, which may be changed."""
    return type("Box", (Box,), {})(4)


def registered():
    """An abstract class, for which other classes can be registered."""
    return abc.ABCMeta("Kind", (), {})


def weak():
    box = Box(3)
    return [box, weakref.ref(box)]


def named_module():
    module = torch.nn.Linear(2, 2)
    torch.nn.init.ones_(module.weight)
    torch.nn.init.zeros_(module.bias)
    return module


def module_changes():
    yield "another weight", lambda module: setattr(module, "weight", torch.nn.Parameter(torch.full((2, 2), 2.0)))
    yield "a hook", lambda module: module.register_forward_hook(lambda module, args, result: result * 3)
    yield "no bias", lambda module: setattr(module, "bias", None)
    yield "another forward", lambda module: setattr(module, "forward", lambda x: x + 1)


def lists(held=(3, 1, 2)):
    return list(held)



BOXES = fresh_box, boxed_changes
LISTS = lists, lambda: changes(lists())
HANDLED = {
    builtins.vars: [(lambda box: (list(vars(box)), vars(box)["n"]), *BOXES)],
    builtins.dir: [(lambda box: [name for name in dir(box) if not name.startswith("_")], *BOXES)],
    property.__get__: [(lambda box: type(box).twice.__get__(box), *BOXES), (lambda box: box.twice, *BOXES)],
    property.__set__: [(lambda box: (Box.twice.__set__(box, 8), box.n), *BOXES)],
    object.__reduce_ex__: [
        (lambda box: vars(copy.copy(box)), *BOXES),
        (lambda box: vars(copy.deepcopy([box])[0]), *BOXES),
        (copy.copy, *LISTS),
    ],
    _abc._abc_instancecheck: [
        (lambda kind: isinstance(3, kind), registered, lambda: [("registered", lambda kind: kind.register(int))])
    ],
    _abc._abc_subclasscheck: [
        (lambda kind: issubclass(int, kind), registered, lambda: [("registered", lambda kind: kind.register(int))])
    ],
    _heapq.heapify: [(written(heapq.heapify), *LISTS)],
    _heapq.heappush: [(written(lambda held: heapq.heappush(held, 2)), *LISTS)],
    _heapq.heappop: [(lambda held: (heapq.heappop(held), held), *LISTS)],
    _heapq.heapreplace: [(lambda held: (heapq.heapreplace(held, 2), held), *LISTS)],
    **{getattr(_heapq, name): [(lambda held: (heapq.nsmallest(2, held), heapq.nsmallest(1, held, key=abs)), *LISTS)]
       for name in ("_heapify_max", "_heappop_max", "_heapreplace_max") if hasattr(_heapq, name)},
    _heapq.heappushpop: [(lambda held: (heapq.heappushpop(held, 2), held), *LISTS)],
    _bisect.insort_left: [(written(lambda held: bisect.insort_left(held, 2)), *LISTS)],
    _bisect.insort_right: [(written(lambda held: bisect.insort_right(held, 2)), *LISTS)],
    _bisect.bisect_left: [(lambda held: bisect.bisect_left(held, 2), *LISTS)],
    _bisect.bisect_right: [(lambda held: bisect.bisect_right(held, 2), *LISTS)],
    builtins.id: [(lambda held: id(held[0]) == id(held[-1]), *LISTS)],
    builtins.hash: [
        (lambda held: hash(tuple(held)) == hash((3, 1, 2)), *LISTS),
        (lambda box: hash((box, 1)), *BOXES),
    ],
    weakref.ref: [
        (lambda held: held[1]() is None or held[1]().n, weak, lambda: [
            ("another value", lambda held: setattr(held[0], "n", 5)), ("gone", lambda held: held.pop(0))])
    ],
    type(functools.cmp_to_key(max)): [
        (lambda held: sorted(held, key=functools.cmp_to_key(lambda a, b: b - a)), *LISTS),
        (lambda held: max(held, key=functools.cmp_to_key(lambda a, b: b - a)), *LISTS),
    ],
    caches.CachedFunction: [
        (lambda held: cached(tuple(held)), *LISTS),
    ],
    torch.nn.Module.__getattr__: [(lambda module: module.weight.sum(), named_module, module_changes)],
    torch.nn.Module._wrapped_call_impl: [(lambda module: module(torch.ones(2)), named_module, module_changes)],
    torch.nn.Module._call_impl: [(lambda module: module._call_impl(torch.ones(2)), named_module, module_changes)],
}
READ_NO_CONTAINER = {
    builtins.__import__: "gives the module that is there",
    _abc.get_cache_token: "a number that only caches of abstract classes look at",
    _abc._abc_init: "of a class made inside",
    types.FunctionType.__get__: "makes a bound method",
    warnings.warn: "an operation of the program; see scenes/control.py",
    logging.Logger._log: "an operation of the program; see test_effects",
}


@functools.lru_cache(maxsize=None)
def cached(key):
    return key * 2


def test_every_handler_is_used_here():
    handled = [*special.SPECIAL, *special.SPECIAL_KINDS, *effects.ROUTES, *modules.HANDLERS]
    unknown = [each for each in handled if each not in {*HANDLED, *READ_NO_CONTAINER} and not of_torch(each)]
    assert unknown == []


def of_torch(target):
    """Operations, transforms and modes of torch; locks and threads: no container is read."""
    places = (getattr(target, "__module__", None), getattr(getattr(target, "__objclass__", None), "__module__", None))
    text = f"{places} {target!r}".lower()
    return any(word in text for word in ("torch", "pybind11", "lock", "get_ident"))


USES = [(target, number) for target, uses in HANDLED.items() for number in range(len(uses))]


def stable_id(value) -> str:
    """An id that is the same in each process."""
    return re.sub(r" at 0x\w+", "", str(value))


@pytest.mark.parametrize("target, number", USES, ids=stable_id)
def test_handlers_guard_what_they_read(target, number):
    use, make, ways = HANDLED[target][number]
    through_changes(use, make, ways())


def seen(function, held):
    try:
        return picture(function(held)), picture(held)
    except Exception as error:
        kind, text = described(error)
        return kind, text.replace("collections.", "")


def picture(value):
    if isinstance(value, Box):
        return "box", sorted((name, item) for name, item in vars(value).items())
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(picture(key), picture(item)) for key, item in value.items()]
    if isinstance(value, list | tuple | collections.deque):
        return type(value).__name__, [picture(item) for item in value]
    return consume(value)


def through_changes(use, make, ways):
    """Eager and jitted agree on each call, while what they are given is changed between calls."""
    eager, jitted = make(), make()
    recorded = jit(use)
    for number in range(3):
        assert seen(recorded, jitted) == seen(use, eager), f"call {number}"
    for name, change in itertools.chain(ways, [("as it is", lambda held: None)]):
        attempt(change, eager)
        attempt(change, jitted)
        assert seen(recorded, jitted) == seen(use, eager), name
        assert seen(recorded, jitted) == seen(use, eager), f"{name}, again"
