"""Scenes in which what a call reads is another thing in a later call: values, absence, order, types, identity,
aliasing."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import math
import sys
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def counter_given_a_key():
    def f(c, x):
        return x * c["a"], c["missing"], sorted(c)

    return Scene(
        f,
        [(collections.Counter("ab"), X()), (collections.Counter("aab"), X()), *[(collections.Counter("ab"), X())] * 2],
        hits=1,
    )


@scene
def dict_subclass_with_missing():
    class Table(dict):
        def __missing__(self, key):
            self[key] = len(self)
            return -1

    def f(t, x):
        return x * t["a"] + t["b"], t["b"], len(t)

    return Scene(f, [(Table(a=2), X()), (Table(a=3), X()), (Table(a=3, b=4), X()), (Table(a=2), X())])


@scene
def list_subclass_indexed_and_sliced():
    class Row(list):
        pass

    def f(r, x):
        return x * r[0] + r[-1], r[1:], len(r), 3 in r

    return Scene(f, [(Row([1, 2, 3]), X()), (Row([1, 2, 4]), X()), (Row([1, 2]), X()), (Row([1, 2, 3]), X())], hits=1)


@scene
def mapping_proxy_given():
    inner = {"a": 2}

    def f(m, x):
        return x * m["a"], "b" in m, len(m), list(m)

    return Scene(
        f,
        [
            (types.MappingProxyType(inner), X()),
            lambda: inner.update(a=3),
            (types.MappingProxyType(inner), X()),
            lambda: inner.update(b=3),
            (types.MappingProxyType(inner), X()),
        ],
        tail=True,
    )


@scene
def views_given():
    inner = {"a": 2}

    def f(keys, values, items, x):
        return x * len(keys), list(values), "a" in keys, ("a", 2) in items, [k for k in keys], sum(values)

    views = lambda: (inner.keys(), inner.values(), inner.items(), X())
    return Scene(
        f, [views(), lambda: inner.update(a=3), views(), lambda: inner.update(b=3), views(), views()], tail=True
    )


@scene
def class_namespace_read():
    class Options:
        scale = 2

    def f(x):
        return (
            x * vars(Options)["scale"] + Options.__dict__["scale"],
            "bias" in vars(Options),
            getattr(Options, "bias", 0),
        )

    return Scene(f, [(X(),), lambda: setattr(Options, "scale", 3), (X(),), lambda: setattr(Options, "bias", 3), (X(),)])


@scene
def instance_namespace_read():
    class Box:
        pass

    box = Box()
    box.a = 1

    def f(x):
        return x * vars(box).get("a"), len(box.__dict__), list(vars(box)), "b" in box.__dict__

    return Scene(
        f, [(X(),), lambda: setattr(box, "a", 2), (X(),), lambda: setattr(box, "b", 3), (X(),), (X(),)], hits=1
    )


@scene
def a_dict_reached_through_items_values_and_get():
    def f(d, x):
        total = x
        for _, value in d.items():
            total = total * value
        return total, list(d.values()), d.get("z"), [*d], dict(d), {**d}, d == {"a": 2}

    return Scene(
        f, [({"a": 2}, X()), ({"a": 3}, X()), ({"b": 2}, X()), ({"a": 2, "z": 1}, X()), ({"a": 2}, X())], hits=1
    )


@scene
def order_of_a_set():
    def f(s, x):
        for n in s:
            x = x * 2 + n
        return x

    return Scene(f, [({1, 2}, X()), ({2, 1}, X()), ({8, 1}, X()), ({1, 8}, X())])


@scene
def order_of_keyword_arguments():
    def f(x, **kwargs):
        for key, value in kwargs.items():
            x = x * 2 + value + len(key)
        return x

    def g(x, flip):
        return f(x, a=1, bb=2) if flip else f(x, bb=2, a=1)

    return Scene(g, [(X(), True), (X(), False), (X(), True)], hits=1)


@scene
def membership_by_equality_and_identity():
    def f(xs, y, x):
        return x + (y in xs), xs.count(y), xs.index(y) if y in xs else -1

    return Scene(
        f,
        [
            ([1, 2], 2, X()),
            ([1, 3], 2, X()),
            ([1, 2.0], 2, X()),
            ([True, 2], 1, X()),
            ([float("nan")], float("nan"), X()),
        ],
    )


@scene
def the_same_list_given_twice():
    def f(a, b, x):
        a.append(1)
        return x * len(b), a is b

    shared = []
    return Scene(f, [([], [], X()), (shared, shared, X()), ([], [], X())], hits=1)


@scene
def the_same_dict_at_two_places():
    def f(d, x):
        d["a"]["n"] = 5
        return x * d["b"]["n"]

    shared = {"n": 1}
    return Scene(
        f,
        [
            ({"a": {"n": 1}, "b": {"n": 2}}, X()),
            ({"a": shared, "b": shared}, X()),
            ({"a": {"n": 1}, "b": {"n": 2}}, X()),
        ],
    )


@scene
def an_attribute_written_through_an_alias():
    class Box:
        def __init__(self, n):
            self.n = n

    def f(a, b, x):
        a.n = a.n + 1
        return x * b.n

    one = Box(1)
    return Scene(f, [(Box(1), Box(1), X()), (one, one, X()), (Box(1), Box(1), X())])


@scene
def a_slot_written_through_an_alias():
    class Box:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

    def f(a, b, x):
        a.n = a.n + 1
        return x * b.n

    one = Box(1)
    return Scene(f, [(Box(1), Box(1), X()), (one, one, X()), (Box(1), Box(1), X())])


@scene
def an_argument_that_is_the_jitted_module():
    class M(torch.nn.Module):
        def __init__(self, n=0):
            super().__init__()
            self.n = n

        def forward(self, x, other):
            self.n = self.n + 1
            return x * other.n

    m = M()
    return Scene(m, [(X(), M(5)), (X(), m), (X(), M(5)), (X(), m)])


@scene
def an_argument_that_is_a_global():
    space = types.ModuleType("space")
    exec("log = []\ndef f(xs, x):\n    xs.append(1)\n    return x * len(log)", space.__dict__)
    return Scene(space.f, [([], X()), (space.log, X()), ([], X())], state=lambda: space.log)


@scene
def a_captured_object_given_as_argument():
    log = []

    def f(xs, x):
        log.append(2)
        return x * len(xs)

    return Scene(f, [([], X()), (log, X()), ([], X())], state=lambda: log)


@scene
def identity_of_arguments():
    def f(a, b, x):
        return x + (a is b), a == b, [a] == [b]

    one, two = object(), object()
    return Scene(f, [(one, two, X()), (one, one, X()), (two, two, X()), (one, two, X())])


@scene
def identity_of_tensors():
    def f(a, b, others):
        return a is b, any(a is other for other in others), a * 2

    t = X()
    return Scene(f, [(t, t, [X(), t]), (t, X(), [X(), X()]), (t, X(), [t, t])])


@scene
def types_of_subclasses():
    class Base:
        n = 1

    class Derived(Base):
        def __len__(self):
            return 0

    def f(o, x):
        return x * o.n if o else x - o.n, isinstance(o, Base), type(o) is Base

    return Scene(f, [(Base(), X()), (Derived(), X()), (Base(), X())], hits=1)


@scene
def special_method_added_to_a_class():
    class Base:
        pass

    base = Base()

    def f(o, x):
        return x + bool(o)

    return Scene(
        f,
        [
            (base, X()),
            lambda: setattr(Base, "__len__", lambda self: 0),
            (base, X()),
            lambda: setattr(Base, "__bool__", lambda self: True),
            (base, X()),
        ],
    )


@scene
def special_method_added_beside_one_that_native_code_asks():
    """Native code is lent an object in the place of the user's: what the user's class has is guarded all the same."""

    class Sized:
        def __len__(self):
            return 0

    class Indexed:
        def __index__(self):
            return 4

    class Shown:
        def __repr__(self):
            return "shown"

    objects = Sized(), Indexed(), Shown()

    def f(sized, indexed, shown, x):
        return x + bool(sized), x * math.sqrt(indexed), x + len(str(shown)), f"{shown!s}"

    return Scene(
        f,
        [
            (*objects, X()),
            (*objects, X()),
            lambda: setattr(Sized, "__bool__", lambda self: True),
            (*objects, X()),
            lambda: setattr(Indexed, "__float__", lambda self: 9.0),
            (*objects, X()),
            lambda: setattr(Shown, "__str__", lambda self: "text"),
            (*objects, X()),
        ],
    )


@scene
def method_replaced_on_class_base_and_instance():
    class Base:
        def scale(self):
            return 2

    class Derived(Base):
        pass

    one = Derived()

    def f(o, x):
        return x * o.scale()

    return Scene(
        f,
        [
            (one, X()),
            lambda: setattr(Base, "scale", lambda self: 3),
            (one, X()),
            lambda: setattr(Derived, "scale", lambda self: 4),
            (one, X()),
            lambda: setattr(one, "scale", lambda: 5),
            (one, X()),
        ],
    )


@scene
def code_of_a_function_replaced():
    def g(x):
        return x + 1

    def other(x):
        return x - 1

    def f(x):
        return g(x)

    return Scene(f, [(X(),), lambda: setattr(g, "__code__", other.__code__), (X(),)])


@scene
def defaults_of_a_function_replaced():
    def g(x, n=1, *, k=2):
        return x * n + k

    def f(x):
        return g(x)

    return Scene(
        f,
        [
            (X(),),
            lambda: setattr(g, "__defaults__", (5,)),
            (X(),),
            lambda: g.__kwdefaults__.update(k=7),
            (X(),),
            lambda: setattr(g, "__kwdefaults__", {"k": 9}),
            (X(),),
            lambda: setattr(g, "__kwdefaults__", None),
            (X(),),
        ],
    )


@scene
def function_attribute_read():
    def g(x):
        return x * g.scale

    g.scale = 2

    def f(x):
        return g(x)

    return Scene(f, [(X(),), lambda: setattr(g, "scale", 3), (X(),), (X(),)], hits=1)


@scene
def global_deleted_and_builtin_shadowed():
    space = types.ModuleType("space")
    exec("def f(x):\n    return x * len([1, 2])", space.__dict__)
    return Scene(
        space.f, [(X(),), lambda: setattr(space, "len", lambda xs: 7), (X(),), lambda: delattr(space, "len"), (X(),)]
    )


@scene
def module_attribute_of_a_python_module():
    space = types.ModuleType("space")
    space.inner = types.ModuleType("inner")
    space.inner.n = 2

    def f(x):
        return x * space.inner.n, hasattr(space.inner, "m")

    return Scene(
        f,
        [
            (X(),),
            lambda: setattr(space.inner, "n", 3),
            (X(),),
            lambda: setattr(space.inner, "m", 3),
            (X(),),
            lambda: setattr(space, "inner", types.SimpleNamespace(n=9)),
            (X(),),
        ],
    )


@scene
def lambdas_given_as_arguments():
    def f(x, act):
        return act(x) + 1

    return Scene(f, [(X(), lambda t: t * 2) for _ in range(4)], entries=2, hits=2)


@scene
def closures_given_as_arguments():
    def f(x, act):
        return act(x) + 1

    def make(n):
        return lambda t: t * n

    return Scene(f, [(X(), make(2)), (X(), make(2)), (X(), make(3)), (X(), make(2))])


@scene
def partials_and_bound_methods_given():
    class Box:
        def __init__(self, n):
            self.n = n

        def apply(self, x):
            return x * self.n

    def scale(x, n, k=1):
        return x * n + k

    def f(x, act):
        return act(x)

    return Scene(
        f,
        [
            (X(), functools.partial(scale, n=2)),
            (X(), functools.partial(scale, n=3)),
            (X(), functools.partial(scale, n=2, k=4)),
            (X(), Box(2).apply),
            (X(), Box(3).apply),
            (X(), Box(2).apply),
            (X(), torch.sin),
            (X(), torch.nn.Tanh()),
        ],
    )


@scene
def enum_members_and_dataclasses():
    class Mode(enum.Enum):
        UP = 1
        DOWN = 2

    @dataclasses.dataclass
    class Config:
        mode: Mode
        sizes: tuple = (1, 2)
        extra: dict = dataclasses.field(default_factory=dict)

    def f(c, x):
        return (
            x * c.mode.value + sum(c.sizes) + len(c.extra),
            c.mode is Mode.UP,
            dataclasses.asdict(c) if c.extra else None,
        )

    return Scene(
        f,
        [
            (Config(Mode.UP), X()),
            (Config(Mode.DOWN), X()),
            (Config(Mode.UP, (1, 3)), X()),
            (Config(Mode.UP, extra={"a": 1}), X()),
            (Config(Mode.UP), X()),
        ],
        hits=1,
    )


@scene
def properties_and_descriptors():
    class Field:
        def __init__(self, name):
            self.name = name

        def __get__(self, obj, owner):
            return self if obj is None else obj.__dict__[self.name] * 2

        def __set__(self, obj, value):
            obj.__dict__[self.name] = value

    class Box:
        n = Field("n_")

        def __init__(self, n):
            self.n = n

        @property
        def twice(self):
            return self.n * 2

        @twice.setter
        def twice(self, value):
            self.n = value // 2

    def f(b, x):
        b.n = b.n + 1
        b.twice = b.twice + 2
        return x * b.n, property.__get__(Box.twice, b)

    return Scene(f, [(Box(1), X()), (Box(2), X()), (Box(1), X())], hits=1)


@scene
def getattr_with_hooks():
    class Lazy:
        def __init__(self, **space):
            self.space = space

        def __getattr__(self, name):
            try:
                return self.space[name]
            except KeyError:
                raise AttributeError(name) from None

    def f(o, x):
        return x * o.n, getattr(o, "m", None), hasattr(o, "k")

    return Scene(
        f, [(Lazy(n=1), X()), (Lazy(n=2), X()), (Lazy(n=1, m=2), X()), (Lazy(n=1, k=2), X()), (Lazy(n=1), X())], hits=1
    )


@scene
def deque_ordered_and_default_dicts_read():
    def f(q, od, dd, x):
        return x * q[0] + q[-1], len(q), list(q), list(od.items()), dd["a"], len(dd), q.maxlen, next(iter(od)), 2 in q

    make = lambda *q: (collections.deque(q), collections.OrderedDict(a=1, b=2), collections.defaultdict(int, a=1), X())
    return Scene(
        f,
        [
            make(1, 2),
            make(1, 3),
            make(1, 2, 3),
            (collections.deque([1, 2], 5), *make(1)[1:]),
            (collections.deque([1, 2]), collections.OrderedDict(b=2, a=1), *make(1)[2:]),
            make(1, 2),
        ],
        hits=1,
    )


@scene
def iterators_given():
    def f(it, x):
        return x * next(it), list(it)

    return Scene(
        f,
        [(iter([1, 2, 3]), X()), (iter([2, 2, 3]), X()), ((n for n in (4, 5)), X()), (zip([1], [2]), X())][:3],
        tail=True,
    )


@scene
def comparison_of_outside_objects():
    def f(a, b, x):
        return x + (a == b), a < b if isinstance(a, list) else None

    return Scene(
        f,
        [
            ([1, 2], [1, 3], X()),
            ([1, 2], [1, 2], X()),
            ({"a": [1]}, {"a": [1]}, X()),
            ({"a": [1]}, {"a": [2]}, X()),
            (([1],), ([1],), X()),
            (([1],), ([2],), X()),
        ],
    )


@scene
def strings_and_numbers_in_containers():
    def f(d, x):
        return (
            x,
            f"{d}",
            str(d["names"]),
            "-".join(d["names"]),
            sum(d["ns"]),
            max(d["ns"]),
            sorted(d["names"]),
            d["ns"][::-1],
        )

    return Scene(
        f,
        [
            ({"names": ["a", "b"], "ns": [1, 2]}, X()),
            ({"names": ["a", "c"], "ns": [1, 2]}, X()),
            ({"names": ["a", "b"], "ns": [1, 2.0]}, X()),
            ({"names": ["a", "b"], "ns": [1, 2]}, X()),
        ],
        hits=1,
    )


@scene
def nested_containers_changed_deep_inside():
    def f(tree, x):
        for (a, b), *rest in tree:
            x = x * a + b["k"][0] + len(rest)
        return x

    make = lambda k: [((1, {"k": [k]}), 5), ((2, {"k": [3]}),)]
    return Scene(f, [(make(1), X()), (make(2), X()), (make(1), X())], hits=1)


@scene
def user_equality_and_hash():
    class Key:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return isinstance(other, Key) and self.n == other.n

        def __hash__(self):
            return hash(self.n)

    def f(d, k, x):
        return x * d[k], k in d, d.get(Key(9), 4), [Key(1)] == [k]

    return Scene(
        f,
        [
            ({Key(1): 2}, Key(1), X()),
            ({Key(1): 3}, Key(1), X()),
            ({Key(2): 2, Key(1): 8}, Key(2), X()),
            ({Key(1): 2}, Key(1), X()),
        ],
        tail=True,
    )


@scene
def lru_cache_asked_and_cleared():
    calls = []

    @functools.lru_cache(maxsize=None)
    def table(n):
        calls.append(n)
        return torch.arange(float(n))

    def f(x, n):
        return x + table(n), table(n)

    return Scene(f, [(X(), 2), (X(), 2), (X(), 2), table.cache_clear, (X(), 2), (X(3), 3)], state=lambda: calls, hits=1)


@scene
def cached_property_and_dict_cache():
    class Box:
        @functools.cached_property
        def table(self):
            return torch.arange(2.0)

    def f(b, x):
        return x + b.table, b.table

    one = Box()
    return Scene(
        f, [(Box(), X()), (one, X()), (one, X()), (one, X()), lambda: one.__dict__.pop("table"), (one, X())], hits=1
    )


@scene
def abstract_class_gains_a_subclass():
    class Plain:
        pass

    def f(o, x):
        return x + isinstance(o, collections.abc.Sequence), isinstance(o, collections.abc.Sized)

    return Scene(
        f, [(Plain(), X()), lambda: collections.abc.Sequence.register(Plain), (Plain(), X()), (Plain(), X())], hits=1
    )


@scene
def single_dispatch_gains_a_case():
    @functools.singledispatch
    def size(o):
        return 1

    def f(o, x):
        return x * size(o)

    return Scene(f, [([], X()), ([], X()), lambda: size.register(list, lambda o: 5), ([], X()), ("s", X()), ([], X())])


@scene
def global_torch_state():
    def f(x):
        return (
            (x * 2).requires_grad,
            torch.ones(2),
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.is_autocast_enabled("cpu"),
        )

    x = X().requires_grad_()
    return Scene(
        f,
        [
            (x,),
            lambda: torch.set_grad_enabled(False),
            (x,),
            lambda: torch.set_grad_enabled(True),
            (x,),
            lambda: torch.set_default_dtype(torch.float64),
            (x,),
            lambda: torch.set_default_dtype(torch.float32),
            (x,),
        ],
        hits=1,
    )


@scene
def tensor_properties():
    def f(x):
        return (
            x.shape,
            x.dtype,
            x.stride(),
            x.requires_grad,
            x.is_leaf,
            x.grad is None,
            x.is_contiguous(),
            x.dim(),
            len(x),
            x.storage_offset(),
        )

    y = X().requires_grad_()
    z = X()
    z.grad = X()
    return Scene(
        f,
        [
            (X(),),
            (X(3),),
            (X().double(),),
            (torch.ones(2, 2),),
            (torch.ones(2, 2).T,),
            (y,),
            (z,),
            (X(4)[::2],),
            (X(4)[2:],),
            (y * 1,),
        ],
    )


@scene
def parameters_given_in_turn():
    m = torch.nn.Linear(2, 2)
    return Scene(
        m,
        [
            (X(),),
            lambda: m.requires_grad_(False),
            (X(),),
            lambda: m.double(),
            (X().double(),),
            lambda: m.float(),
            (X(),),
            lambda: m._forward_hooks.update({5: lambda *a: a[-1] * 2}),
            (X(),),
            lambda: m._forward_hooks.clear(),
            (X(),),
        ],
        hits=1,
    )


@scene
def ints_bools_and_floats_mixed_up():
    def f(x, n):
        return x * n, n, type(n) is bool, {n: 1}, [n][0], n if n else "zero"

    return Scene(
        f,
        [
            (X(), v)
            for v in (1, True, 1.0, 0, 0.0, -0.0, False, 2, 3, 4, 2.5, 3.5, float("inf"), float("nan"), float("nan"))
        ],
    )


@scene
def ints_that_change_and_what_is_done_with_them():
    def f(x, n, names):
        y = x[:n] if n < 3 else x * n
        return (
            y,
            n + 1,
            n // 2,
            -n,
            n % 3,
            n**2,
            min(n, 3),
            max(n, 2),
            range(n),
            list(range(n)),
            names[n % 2],
            f"{n}",
            abs(n),
            divmod(n, 2),
            n == 3,
            n & 1,
            n << 1,
            bool(n),
            str(n),
            float(n),
            round(n / 2, 1),
            [0] * n,
            "a" * n,
            (n, [n], {"n": n}),
            int(n),
            n in (1, 3),
            hash(n),
        )

    return Scene(f, [(X(5), n, ["a", "b"]) for n in (1, 2, 3, 4, 5, 6, 2, 3)])


@scene
def sizes_that_change_and_what_is_done_with_them():
    def f(x):
        b, *rest = x.shape
        pieces = x.split(2)
        return (
            x.view(b, -1),
            x.sum(0) / b,
            x.shape,
            x.new_zeros(b),
            [p.sum() for p in pieces],
            x.numel(),
            x.size(),
            x.mean(),
            x[: b // 2],
            b,
        )

    return Scene(f, [(torch.ones(n, 2),) for n in (2, 3, 4, 5, 6, 1, 0, 7)])


@scene
def keys_named_as_questions():
    """What is noted of a container does not get in the way of what is in it."""

    def f(x, d, keys):
        if d and len(d) > 1 and "present" in d and keys:
            x = x + 1
        marks = [("present", 1) in d, d.get(("present", 1)), ("present", "length") in d, len(keys), dir(d)[:1]]
        return x, d.get("length"), d.get("truth"), d.get("names"), d["present"], d.get("whole"), marks

    def given(n):
        return {"length": n, "truth": 2, "names": 3, "present": 4, ("present", 1): 5}

    calls = [(X(), given(n), ["length"]) for n in (1, 1, 3, 3)]
    return Scene(f, [*calls, (X(), {**given(1), "whole": 7}, [])], hits=1)


@scene
def names_of_all_attributes():
    class Base:
        pass

    class Box(Base):
        def __init__(self):
            self.n = 1

    class Chosen:
        names = ("b", "a")

        def __dir__(self):
            return list(self.names)

    box, chosen, space = Box(), Chosen(), types.ModuleType("space")
    space.n = 1

    def f(x):
        names = [[name for name in dir(each) if name[0] != "_"] for each in (box, Box, Base, chosen, space)]
        box.n = 2
        return names, x * sum(map(len, names)), len(dir(box)), sorted(vars(box))

    return Scene(
        f,
        [
            (X(),),
            (X(),),
            lambda: setattr(Base, "added", 1),
            (X(),),
            (X(),),
            lambda: setattr(box, "more", 1),
            (X(),),
            lambda: setattr(Box, "own", 1),
            (X(),),
            lambda: setattr(Chosen, "names", ("c",)),
            (X(),),
            lambda: setattr(space, "m", 1),
            (X(),),
            lambda: delattr(Base, "added"),
            (X(),),
            (X(),),
        ],
        hits=3,
    )


@scene
def names_after_a_write_to_the_class():
    class Box:
        pass

    box = Box()

    def f(x, n):
        if n:
            Box.made = n
            box.own = n
        return [name for name in dir(box) if name[0] != "_"], x

    def clear():
        del Box.made

    return Scene(f, [(X(), 1), clear, (X(), 1), (X(), 0), clear, (X(), 0), (X(), 0)], lambda: (Box, box), tail=True)


@scene
def descriptors_that_become_data_descriptors():
    class Plain:
        def __get__(self, obj, owner=None):
            return 10

    class Box:
        held = Plain()
        value = 3

    box = Box()
    box.__dict__.update(held=3)

    def f(x):
        return x * box.held, Box.value, x + box.value

    return Scene(
        f,
        [
            (X(),),
            (X(),),
            lambda: setattr(Plain, "__set__", lambda self, obj, value: None),
            (X(),),
            lambda: delattr(Plain, "__set__"),
            (X(),),
            lambda: setattr(Box, "value", Plain()),
            (X(),),
            lambda: delattr(Plain, "__get__"),
            (X(),),
            (X(),),
        ],
        hits=2,
    )


@scene
def modules_that_are_exchanged():
    def space(n):
        made = types.ModuleType("tests_made_module")
        made.n = n
        return made

    one, two = space(1), space(2)
    sys.modules["tests_made_module"] = one

    def f(x):
        import tests_made_module
        from tests_made_module import n

        return x * tests_made_module.n + n

    def put(module):
        return lambda: sys.modules.__setitem__("tests_made_module", module)

    return Scene(f, [put(one), (X(),), (X(),), put(two), (X(),), (X(),), put(one), (X(),)], hits=2)
