"""Scenes in which what a class says is another thing in a later call: its attributes, methods, bases, descriptors."""

from __future__ import annotations

import collections
import functools
import math
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


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
def abstract_class_gains_a_subclass():
    class Plain:
        pass

    def f(o, x):
        return x + isinstance(o, collections.abc.Sequence), isinstance(o, collections.abc.Sized)

    return Scene(
        f, [(Plain(), X()), lambda: collections.abc.Sequence.register(Plain), (Plain(), X()), (Plain(), X())], hits=1
    )


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
def replaced_namespaces_and_classes():
    class A:
        kind = "a"

    class B:
        kind = "b"

    def f(o, x):
        o.n = 1
        o.__dict__ = {"m": 2}
        before = o.kind
        o.__class__ = B
        return x, before, o.kind, vars(o), hasattr(o, "n")

    return Scene(f, [(A(), X()), (A(), X()), (B(), X())])


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
