"""Scenes about which object a thing is: aliases, the same object given twice, objects that are exchanged."""

from __future__ import annotations

import sys
import types

import torch

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


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


def written_through_an_alias(Box):
    def f(a, b, x):
        a.n = a.n + 1
        return x * b.n

    one = Box(1)
    return Scene(f, [(Box(1), Box(1), X()), (one, one, X()), (Box(1), Box(1), X())])


@scene
def an_attribute_written_through_an_alias():
    class Box:
        def __init__(self, n):
            self.n = n

    return written_through_an_alias(Box)


@scene
def a_slot_written_through_an_alias():
    class Box:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

    return written_through_an_alias(Box)


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
def identities_as_keys():
    space = types.ModuleType("space")
    space.seen = {}

    def f(x, o):
        fresh = id(o) not in space.seen
        space.seen[id(o)] = o
        return x, fresh, hash(o) == hash(o), len(space.seen)

    one, two = object(), object()
    return Scene(f, [(X(), one), (X(), one), (X(), two), (X(), one), (X(), two)], state=lambda: len(space.seen))


@scene
def the_same_tensors_hashed_and_compared():
    def f(a, b, c):
        return (
            len({a, b, c}),
            len({id(t): t for t in (a, b, c)}),
            [a, b].index(b) if a is not b else 0,
            a in (b, c) if a is b or a is c else None,
            a + b,
        )

    s, t, u = torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0)
    return Scene(f, [(s, t, u), (s, s, u), (s, t, s), (s, t, u), (t, t, t)])


@scene
def shared_cells_between_given_functions():
    def make():
        n = 1

        def up(x):
            nonlocal n
            n += 1
            return x * n

        def down(x):
            nonlocal n
            n -= 1
            return x * n

        return up, down

    def f(up, down, x):
        return up(x), down(x), up(up(x))

    one, two = make(), make()
    return Scene(f, [(*one, X()), (*two, X()), (one[0], two[1], X()), (*one, X()), (one[0], one[0], X())])


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
