"""What each lookaside is called with in the property tests: a strategy for its positional and keyword arguments.

Every entry of the registry must have one; ``shape_of`` raises KeyError otherwise, and the test run fails.
"""

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import re

from hypothesis import strategies as st

from interpreter.lookasides.registry import qualified_name
from tests.lookasides.recipes import (
    callables,
    calm_things,
    elements,
    hashables,
    iterables,
    iterables_of,
    many,
    moods,
    pairs,
    recipe,
    scalars,
    small,
    things,
    wrong,
)

anything = st.one_of(elements, iterables, callables)
SHAPES = {}


def shape(targets, *positional, rest=None, most=3, strange=True, **named):
    """``positional`` strategies, then up to ``most`` of ``rest``; ``named`` are given or left out.

    Now and then the arguments are ``strange``: of any number and kind.
    """
    for target in targets:
        if target is None:
            continue
        args = st.tuples(*positional)
        if rest is not None:
            args = st.tuples(args, st.lists(rest, max_size=most)).map(lambda made: (*made[0], *made[1]))
        kwargs = st.fixed_dictionaries({}, optional=named)
        odd = st.tuples(st.lists(anything, max_size=4), st.fixed_dictionaries({}, optional=named | {"odd": small}))
        usual = st.tuples(args, kwargs)
        SHAPES[qualified_name(target)] = st.one_of(*[usual] * 7, odd) if strange else usual


def of(module, names):
    return [getattr(module, name, None) for name in names.split()]


numbers = st.one_of(small, recipe("thing", st.just(("number",)), moods, small), scalars)
summands = iterables_of(st.one_of(small, recipe("thing", st.just(("number",)), moods, small), scalars))
ordered = st.one_of(small, recipe("thing", st.just(("ordered",)), moods, small))
orderable = st.one_of(iterables_of(ordered), iterables_of(many("tuple", of=ordered, most=2)), iterables)
keys = st.one_of(st.none(), callables)
mappings = st.one_of(
    many("mapping", of=hashables, most=4),
    many("dict", of=hashables, most=4),
    iterables_of(pairs, 3),
    many("ordered_dict", of=hashables, most=4),
    wrong,
)

shape([zip, itertools.chain], rest=iterables, strict=st.booleans())
shape([itertools.zip_longest], rest=iterables, fillvalue=small)
shape([itertools.product], rest=iterables, most=2, repeat=st.integers(-1, 2))
shape([map], callables, iterables, rest=iterables, most=2)
shape([filter, itertools.dropwhile, itertools.takewhile, itertools.filterfalse], callables, iterables)
shape([functools.reduce], callables, iterables, rest=elements, most=1)
shape([itertools.starmap], callables, iterables_of(iterables_of(small, 2)))
shape([enumerate], iterables, rest=numbers, most=1)
shape([any, all, itertools.cycle, itertools.pairwise], iterables)
shape([list, tuple], rest=iterables, most=1)
shape([set, frozenset], rest=st.one_of(iterables_of(hashables), iterables), most=1)
shape([sum], st.one_of(summands, iterables), rest=st.one_of(numbers, st.just("")), most=1)
shape([sorted], orderable, key=keys, reverse=st.one_of(st.booleans(), numbers))
shape([min, max], orderable, rest=ordered, most=2, key=keys, default=small)
shape([iter], st.one_of(iterables, recipe("countdown", small), callables), rest=st.one_of(small, things), most=1)
shape([next], iterables_of(elements), rest=small, most=1)

shape([itertools.accumulate], iterables, rest=callables, most=1, initial=small)
shape([itertools.chain.from_iterable], st.one_of(iterables_of(iterables), iterables))
shape(
    [itertools.combinations, itertools.combinations_with_replacement, itertools.permutations],
    iterables_of(small),
    rest=numbers,
    most=1,
)
shape([itertools.compress], iterables, iterables)
shape([itertools.groupby], st.one_of(iterables_of(small), iterables), key=st.one_of(st.none(), callables))
shape([itertools.islice], iterables, rest=st.one_of(st.none(), numbers), most=3)
shape([itertools.tee], iterables, rest=st.integers(-1, 3), most=1)
shape([getattr(itertools, "batched", None)], iterables, st.integers(-1, 3))
shape([itertools.repeat], small, rest=st.one_of(st.integers(0, 4), numbers), most=1)
shape([functools.cmp_to_key], callables)

shape([pow], numbers, numbers, rest=numbers, most=1)
shape([divmod], numbers, numbers)
shape([bytes, bytearray], rest=st.one_of(iterables_of(small), numbers, things, st.just("ab")), most=2)
shape(
    [compile],
    st.sampled_from(["1 + 1", "x = 1", "x: int = f()", "(", b"2"]),
    st.just("file"),
    st.sampled_from(["eval", "exec", "wrong"]),
    flags=st.just(0),
    dont_inherit=st.booleans(),
)

names = st.sampled_from(["real", "nope", "number", "append", "__class__"])
shape([getattr], elements, st.one_of(names, wrong), rest=elements, most=1)
shape([hasattr, delattr], st.one_of(elements, many("mapping", of=hashables)), st.one_of(names, wrong))
shape([setattr], elements, st.one_of(names, wrong), small)
classes = st.sampled_from(
    [
        int,
        str,
        (int, str),
        (bool, (float, list)),
        int | str,
        list[int],
        type,
        3,
        (int, 3),
        collections.abc.Iterable,
        collections.abc.Hashable,
        (str, collections.abc.Sized),
    ]
)
shape([isinstance], anything, classes)
shape([issubclass], st.one_of(st.sampled_from([int, bool, list, collections.OrderedDict]), wrong), classes)

shape([bin, oct, hex, chr, operator.index], numbers)
shape([range, slice.indices], rest=numbers, most=3)
shape([slice.indices], many("slice", of=st.one_of(st.none(), numbers), least=1, most=3), numbers)
shape([hash], st.one_of(ordered, scalars, many("tuple", of=ordered), many("list", of=small)), strange=False)
shape(
    [abs, ascii, bool, float, len, repr, object.__str__, object.__format__, reversed],
    st.one_of(things, elements, many("list", of=calm_things)),
)
shape([format, object.__format__], st.one_of(things, elements), rest=st.sampled_from(["", ">8", "x", "d"]), most=1)
shape([complex, int], numbers, rest=numbers, most=1)
shape([round], numbers, rest=numbers, most=1)
shape([str], st.one_of(things, elements), rest=st.sampled_from(["utf8", 3]), most=1)

for name, target in vars(math).items():
    if name in ("fsum", "prod"):
        shape([target], summands, rest=small, most=0)
    elif name in ("dist", "sumprod"):
        shape([target], iterables_of(numbers, 3), iterables_of(numbers, 3))
    elif type(target) is type(math.sin):
        shape([target], rest=numbers, most=2)

BINARY = (
    "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor lt le eq ne gt ge concat contains "
    "getitem delitem countOf indexOf"
)
operands = st.one_of(things, elements, iterables_of(elements), many("dict", of=hashables))
shape(
    [
        *of(operator, BINARY),
        *of(operator, " ".join(f"i{name.rstrip('_')}" for name in BINARY.split()[:13]) + " iconcat"),
    ],
    operands,
    operands,
)
shape([operator.setitem], operands, operands, small)
shape(of(operator, "neg pos invert inv truth not_"), st.one_of(things, elements))
shape([operator.length_hint], iterables, rest=numbers, most=1)
shape([operator.call], callables, rest=small)
shape(
    [operator.attrgetter.__call__],
    many("attrgetter", of=st.sampled_from(["real", "number", "log.append", "no"]), least=1),
    elements,
)
shape([operator.itemgetter.__call__], many("itemgetter", of=small, least=1, most=2), iterables)
shape(
    [operator.methodcaller.__call__],
    many("methodcaller", st.sampled_from(["__len__", "bit_length", "count", "no"]), of=small, most=1),
    iterables,
)

templates = st.sampled_from(
    ["{}", "{0} {1!r}", "{x}", "{0.number:>4}", "{x[1]}", "{!s:>5}", "{0.nope}", "{", "{0[a]}", "{!a} {}", "plain"]
)
shape(
    [re.Pattern.sub, re.Pattern.subn],
    st.just(re.compile("[ab]")),
    st.one_of(callables, st.just("x")),
    st.just("abcab"),
    rest=numbers,
    most=1,
)
held = st.one_of(*(many(kind, of=elements, most=3) for kind in ("list", "tuple")), many("dict", of=hashables))
percents = st.sampled_from(["%s", "%r %s", "%d", "%5.1f|%x", "%%", "%(a)s", "%", "%c", "%*d"])
percented = st.one_of(elements, held, many("mapping", st.just("a"), elements, of=elements, most=0))
shape([str.__mod__], percents, percented)
shape([repr, ascii, str], st.one_of(things, elements, held), strange=False)
shape([str.format], templates, rest=elements, x=elements)
shape(
    [str.format_map],
    st.sampled_from(["{a}", "{b!r:>5}", "{a.real} {b}", "{c}"]),
    many("mapping", st.just("a"), elements, st.just("b"), elements, most=0),
)

lists = many("list", of=elements)
for kind, maker in ((list, "list"), (tuple, "tuple"), (collections.deque, "deque")):
    shape([kind.index], many(maker, of=ordered), ordered, rest=numbers, most=2)
    shape([kind.count, kind.__contains__, getattr(kind, "remove", None)], many(maker, of=ordered), ordered)
    shape(
        [
            kind.__getitem__,
            getattr(kind, "__delitem__", None),
            kind.__mul__,
            kind.__rmul__,
            getattr(kind, "__imul__", None),
            getattr(kind, "pop", None),
            getattr(kind, "rotate", None),
        ],
        many(maker, of=small),
        st.one_of(numbers, many("slice", of=st.one_of(st.none(), numbers), least=1, most=3)),
    )
    shape(
        [getattr(kind, "insert", None), getattr(kind, "__setitem__", None)],
        many(maker, of=small),
        st.one_of(numbers, many("slice", of=st.one_of(st.none(), numbers), least=1, most=3)),
        st.one_of(small, iterables),
    )
    shape(
        [
            getattr(kind, "extend", None),
            getattr(kind, "extendleft", None),
            getattr(kind, "__iadd__", None),
            kind.__init__ if kind is not tuple else None,
        ],
        many(maker, of=elements),
        iterables,
    )
COMPARISONS = "__eq__ __ne__ __lt__ __le__ __gt__ __ge__"
shape(of(list, COMPARISONS), many("list", of=ordered), many("list", of=ordered))
shape(of(tuple, COMPARISONS), many("tuple", of=ordered), many("tuple", of=ordered))
dicts = many("dict", st.just(1), ordered, st.just(2), ordered, of=ordered, most=2)
shape(of(dict, "__eq__ __ne__"), dicts, dicts)
shape(
    [dict.__getitem__],
    many("defaultdict", st.one_of(st.sampled_from([None, list, int]), recipe("countdown", small)), of=small),
    hashables,
)
heaps = many("list", of=ordered, most=5)
shape(of(heapq, "heappush heapreplace heappushpop _heapreplace_max"), heaps, st.one_of(ordered, scalars))
shape(of(heapq, "heappop heapify _heappop_max _heapify_max"), heaps)
shape(
    [bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right],
    st.one_of(heaps, iterables),
    st.one_of(ordered, scalars),
    rest=st.one_of(small, st.none()),
    most=2,
    key=keys,
)
shape([list.sort], many("list", of=st.one_of(ordered, scalars)), key=keys, reverse=st.booleans())
shape([collections.deque], rest=st.one_of(iterables, st.none(), small), most=2)
shape([range.__getitem__], st.just(range(5)), numbers)

SETS = "union intersection difference symmetric_difference issubset issuperset isdisjoint"
UPDATES = "update intersection_update difference_update symmetric_difference_update __init__"
shape(
    of(set, f"{SETS} {UPDATES}"), many("set", of=hashables), rest=st.one_of(iterables_of(hashables), iterables), most=2
)
shape(of(frozenset, SETS), many("frozenset", of=hashables), rest=st.one_of(iterables_of(hashables), iterables), most=2)
shape(
    [type({}.keys()).isdisjoint, type({}.items()).isdisjoint],
    st.sampled_from([{1: 2, 3: 4}.keys(), {1: 2}.items()]),
    iterables_of(hashables),
)
texts = iterables_of(st.one_of(st.sampled_from(["a", "", "bc"]), scalars))
shape([str.join], st.just("-"), texts)
shape([bytes.join], st.just(b"-"), iterables_of(st.sampled_from([b"a", b"", 3])))
shape(
    of(bytearray, "join extend __iadd__"),
    recipe("bytearray", st.just(b"xy")),
    iterables_of(st.one_of(numbers, st.just(b"a"))),
)

for kind, sample in ((str, "abc abc"), (bytes, b"abc abc")):
    part = sample[:1]
    shape(
        of(kind, "center ljust rjust zfill expandtabs splitlines __getitem__ __mul__ __rmul__ __contains__")
        if kind is bytes
        else of(kind, "center ljust rjust zfill expandtabs splitlines __getitem__ __mul__ __rmul__"),
        st.just(sample),
        numbers,
        rest=st.just(part),
        most=1,
    )
    shape(
        of(kind, "find rfind rindex index count startswith endswith"),
        st.just(sample),
        st.one_of(st.just(part), wrong),
        rest=numbers,
        most=2,
    )
    shape(of(kind, "split rsplit"), st.just(sample), st.one_of(st.just(part), st.none()), rest=numbers, most=1)
    shape([kind.replace], st.just(sample), st.just(part), st.just(part * 2), rest=numbers, most=1)

shape([dict, collections.OrderedDict], rest=mappings, most=1, a=small)
shape([dict.__init__, dict.update, dict.__ior__], many("dict", of=hashables), rest=mappings, most=1, a=small)
shape(
    of(collections.OrderedDict, "__init__ update"), many("ordered_dict", of=hashables), rest=mappings, most=1, a=small
)
shape([collections.defaultdict], st.one_of(st.none(), callables), rest=mappings, most=1, a=small)
shape(
    [collections.defaultdict.__missing__],
    many("defaultdict", st.one_of(st.sampled_from([None, list, int]), recipe("countdown", small)), of=small),
    hashables,
)
shape(
    [dict.fromkeys, collections.OrderedDict.fromkeys], st.one_of(iterables_of(hashables), iterables), rest=small, most=1
)
shape([collections._count_elements], many("dict", of=st.integers(0, 3), most=4), iterables_of(hashables))


def shape_of(target):
    """The strategy for a registered callable; KeyError names one that has none."""
    return SHAPES[qualified_name(target)]
