"""Scenes in which what a container holds is another thing in a later call: items, order, length, keys."""

from __future__ import annotations

import collections
import types

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
def keys_that_raise_and_keys_that_compare():
    class Key:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 1 // self.n

        def __eq__(self, other):
            return self.n == other.n

    def f(ns, x):
        try:
            return len({Key(n): x for n in ns}), sorted(key.n for key in {Key(n) for n in ns}), x * 2
        except ZeroDivisionError as error:
            return str(error), len(ns)

    return Scene(f, [([1, 2], X()), ([1, 1], X()), ([2, 0], X()), ([2, 0], X()), ([1, 2], X()), ([3], X())], hits=2)


@scene
def what_a_prologue_reads_of_derived_containers():
    class Table(dict):
        def __getitem__(self, key):
            asked.append(key)
            return super().__getitem__(key)

        def __missing__(self, key):
            self[key] = len(self)
            return -1

    asked = []

    def f(t, d, x):
        return x * t["a"], dict.get(t, "b"), list(t), d["a"]

    def make(*args, **given):
        return Table(*args, **given), collections.defaultdict(int, given), X()

    return Scene(
        f, [make(a=1), make(a=1), make(a=2), make(b=1), make(), make(a=1)], state=lambda: asked, hits=2
    )


@scene
def the_order_of_an_ordered_dict():
    def f(d, x):
        d.move_to_end("a")
        return [x * n for n in d.values()], d.popitem(last=False), list(reversed(d))

    def moved():
        made = collections.OrderedDict(a=1, b=2, c=3)
        made.move_to_end("b")
        return made

    return Scene(
        f,
        [
            (collections.OrderedDict(a=1, b=2, c=3), X()),
            (moved(), X()),
            (collections.OrderedDict(a=1, b=2, c=3), X()),
            (moved(), X()),
        ],
        hits=2,
    )


@scene
def a_dict_updated_and_then_read():
    def f(d, s, xs, x):
        d.update(b=5)
        b = d["b"]
        s.update([4])
        xs.extend([7])
        d |= {"c": 6}
        return x * b, d["c"], d.get("a"), 4 in s, xs[-1], len(xs), xs[0], d.get("z", 1)

    return Scene(
        f,
        [({"b": 2}, {1}, [1], X()), ({"b": 3}, {1}, [1], X()), ({"a": 3}, {4}, [], X()), ({"b": 2}, {1}, [1], X())],
        hits=1,
    )


@scene
def one_dict_read_written_and_iterated():
    def f(d, x):
        d["a"] = d.get("a", 0) + 1
        for key in list(d):
            if d[key] > 2:
                del d[key]
        d.update({"b": 5}) if "b" not in d else d.pop("b")
        return x * len(d), sorted(d), "a" in d, [v for v in d.values()], d.setdefault("z", []) is d["z"]

    state = {}
    return Scene(
        lambda x: (f(state, x), f({}, x))[0] if not isinstance(state.get("z"), list) else (state.pop("z"), f(state, x)),
        [(X(),)] * 6,
        state=lambda: state,
    )
