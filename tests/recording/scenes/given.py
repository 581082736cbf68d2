"""Scenes about what is given: objects of native types, changing numbers where native code looks, and operations that
raise.
"""

import array
import decimal

import numpy
import torch

from tests.recording.agree import Scene, collection

SCENES, scene = collection()


def given(name, fn, *values, **more):
    """A scene that calls `fn` with what each of `values` (functions without arguments) makes."""

    def build():
        return Scene(fn, [(make(),) for make in values], **more)

    build.__name__ = name
    SCENES.append(build)


for _name, _consume in {
    "sum": sum, "list": list, "sorted": sorted, "max": max, "membership": lambda it: 1 in it, "star": lambda it: [*it],
    "unpacking": lambda it: (lambda a, *b: (a, b))(*it), "join": lambda it: ",".join(map(str, it)),
}.items():
    given(
        f"a_list_iterator_into_{_name}",
        _consume,
        lambda: iter([1, 2]),
        lambda: iter([5]),
        lambda: iter([5, 1, 7]),
        tail=True,
    )
    given(f"dict_keys_into_{_name}", _consume, lambda: {1: 1}.keys(), lambda: {1: 1, 5: 3}.keys(), tail=True)

given(
    "numpy_scalars",
    lambda v: (float(v), int(v), v > 2, f"{v}", torch.zeros(int(v))),
    *[lambda v=v: v for v in (numpy.float32(2), numpy.float32(3), numpy.int64(2), numpy.int64(5), numpy.float64(-0.0))],
    tail=True,
)
given(
    "decimals",
    lambda v: (float(v), str(v), v > 2),
    lambda: decimal.Decimal(1),
    lambda: decimal.Decimal(3),
    lambda: decimal.Decimal("1.0"),
)
given("byte_arrays", lambda v: (len(v), bytes(v), v[0]), lambda: bytearray(b"a"), lambda: bytearray(b"abc"), tail=True)
given("arrays", lambda v: (v[0], sum(v)), lambda: array.array("i", [1]), lambda: array.array("i", [3, 4]), tail=True)
given(
    "numpy_arrays",
    lambda v: (float(v[0]), v.sum(), v + 1),
    lambda: numpy.ones(2),
    lambda: numpy.full(3, 2.0),
    tail=True,
)
given(
    "slices",
    lambda s: ([1, 2, 3][s], torch.arange(4)[s]),
    lambda: slice(1),
    lambda: slice(2),
    lambda: slice(True),
    lambda: slice(None, None, 2),
)
given(
    "exceptions", lambda e: (str(e), e.args), lambda: ValueError("a"), lambda: ValueError("b", 1), lambda: KeyError("b")
)


class Number(int):
    def half(self):
        return self // 2


class Text(str):
    pass


given(
    "numbers_of_a_class_of_ones_own",
    lambda n: (n + 1, n.half(), [1, 2, 3, 4][n]),
    lambda: Number(1),
    lambda: Number(2),
    lambda: Number(1),
)
given("texts_of_a_class_of_ones_own", lambda t: (t.upper(), t + "x", len(t)), lambda: Text("a"), lambda: Text("bc"))
given("slices_by_a_changing_number", lambda i: ("abcd"[i:], (1, 2, 3)[:i], range(9)[i:], b"abc"[i:], [1, 2, 3][:i]),
      *[lambda i=i: i for i in (1, 2, 0, -1, 7)])
given(
    "items_stored_and_deleted_by_a_changing_number",
    lambda i: (lambda xs: (xs.__setitem__(slice(None, i), [9]), xs))([1, 2, 3, 4]),
    *[lambda i=i: i for i in (1, 2, 0, 3)],
)
given("sizes_by_a_changing_dimension", lambda d: (torch.ones(2, 3, 4).size(d), torch.ones(2, 3, 4).stride(d)),
      *[lambda d=d: d for d in (0, 1, 2, 0)])


def division(number):
    try:
        return 6 / number, 7 // number, 8 % number
    except ZeroDivisionError as error:
        return str(error)


given("divisions_that_raise", division, *[lambda n=n: n for n in (1.0, 0.0, 2.0, 0.0)])
given("integer_divisions_that_raise", division, *[lambda n=n: n for n in (1, 0, 2, 3, 0)])


def jittered(x):
    for size in (0, 1, 10):
        try:
            return torch.linalg.cholesky(x + size * torch.eye(2)), size
        except torch.linalg.LinAlgError:
            continue
    return None


given(
    "a_factorisation_tried_again",
    jittered,
    *[lambda n=n: n * torch.eye(2) for n in (-5.0, 1.0, -5.0, 2.0, -0.5)],
    hits=2,
)


def looked_up(index):
    x = torch.arange(3.0)
    x.add_(1)
    try:
        y = x[index]
    except IndexError as error:
        y = str(error)
        x.mul_(2)
    return y, x


given("an_index_out_of_range_first", looked_up, *[lambda i=i: torch.tensor([i]) for i in (9, 1, 2, 9)], hits=1)
given("an_index_out_of_range_later", looked_up, *[lambda i=i: torch.tensor([i]) for i in (1, 9, 2, 9)], hits=1)


def picked(x):
    try:
        return x.nonzero()[0], x[x > 0].max()
    except (IndexError, RuntimeError):
        return "nothing"


given(
    "nothing_to_pick_at_first",
    picked,
    lambda: torch.zeros(3),
    lambda: torch.ones(3),
    lambda: torch.zeros(3),
    lambda: 2 * torch.ones(3),
    hits=2,
)


@scene
def the_bases_of_a_class_change():
    class First:
        factor = 1

    class Second:
        factor = 2

    class Child(First):
        pass

    child = Child()

    def change():
        Child.__bases__ = (Second,)

    x = torch.ones(2)
    return Scene(lambda x: x * child.factor, [(x,), (x,), (x,), change, (x,), (x,)])


@scene
def a_class_is_renamed():
    class Named:
        pass

    def change():
        Named.__name__ = "Other"

    return Scene(lambda x: (x, Named.__name__), [(1,), (1,), (1,), change, (1,)])


def filled(pairs):
    found = {}
    found.update(pairs)
    return found


given("a_dict_from_an_iterator", dict, lambda: iter([(1, 2)]), lambda: iter([(3, 4)]), tail=True)
given("a_dict_updated_from_an_iterator", filled, lambda: iter([(1, 2)]), lambda: iter([(3, 4)]), tail=True)
given(
    "items_of_arrays", lambda v: [*v, v[-1]], lambda: array.array("i", [1]), lambda: array.array("i", [3, 4]), tail=True
)
given(
    "an_array_looped_over",
    lambda v: [n + 1 for n in v],
    lambda: array.array("i", [1]),
    lambda: array.array("i", [3, 4]),
    tail=True,
)
