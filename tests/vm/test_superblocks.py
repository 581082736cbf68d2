"""Superblocks, compiled and cut at once: programs run as natively, and count as many instructions as without."""

import contextlib
import copy
import gc
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.interpret import interpret
from interpreter.vm import Machine, superblocks
from interpreter.vm.registry import Plans
from tests.vm.both import agree
from tests.vm.test_programs import programs


@pytest.fixture
def hot(monkeypatch):
    """Has every run compiled when it is reached first, and cut when it is left for the second time."""

    def heat(count=1):
        monkeypatch.setattr(Machine, "plans", Plans(Machine.table))
        monkeypatch.setattr(superblocks, "HOT", count)
        monkeypatch.setattr(superblocks, "PATIENCE", 2)

    heat()
    return heat


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [*programs()])
def test_programs_as_natively(hot, program):
    agree(program)


class Number:
    """An operand written in Python."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + getattr(other, "value", 1))

    __radd__ = __mul__ = __rmul__ = __add__

    def __lt__(self, other):
        return self.value < getattr(other, "value", 3)

    def __bool__(self):
        return self.value % 2 == 0

    def __getitem__(self, key):
        return self.value + (key if type(key) is int else 0)

    def __setitem__(self, key, value):
        self.value = key

    def __contains__(self, item):
        return item == self.value

    def __repr__(self):
        return f"Number({self.value if type(self.value) in (int, float) else type(self.value)})"


class Slots:
    """An operand whose attributes are in slots, one of them behind a property."""

    __slots__ = ("hidden", "value")

    def __init__(self, value):
        self.value, self.hidden = value, [value]

    @property
    def double(self):
        return self.value * 2


OPERANDS = (0, 1, 7, -3, 2.5, True, None, "text", "", b"ab", [1, 2, 3], [], (4, 5), {1: 2, "a": 3}, {1, 2})
NAMES = st.sampled_from("abcd")
SYMBOLS = st.sampled_from(["+", "-", "*", "/", "//", "%", "&", "|", "**"])
COMPARED = st.sampled_from(["<", "==", "!=", ">=", "is", "is not", "in", "not in"])
ATOMS = NAMES | st.sampled_from(["0", "1", "2", "'t'", "1.5", "None", "()", "unknown", "len", "{1: 2}", "(1, 'a')"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds("({} {} {})".format, inner, SYMBOLS, inner)
        | st.builds("({} {} {})".format, inner, COMPARED, inner)
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.builds("({} and {} or {})".format, inner, inner, inner)
        | st.builds("{}[{}]".format, NAMES, inner)
        | st.builds("{}.value".format, NAMES)
        | st.builds("{}.double".format, NAMES)
        | st.builds("(not {})".format, inner)
        | st.builds("({} < {} < {})".format, inner, inner, inner)
        | st.builds("({} := {})".format, NAMES, inner)
    ),
    max_leaves=6,
)
STATEMENTS = (
    st.builds("{} = {}".format, NAMES, EXPRESSIONS)
    | st.builds("{} {}= {}".format, NAMES, SYMBOLS, EXPRESSIONS)
    | st.builds("{}, {} = {}, {}".format, NAMES, NAMES, EXPRESSIONS, EXPRESSIONS)
    | st.builds("{}, {} = {}".format, NAMES, NAMES, NAMES)
    | st.builds("{}.value = {}".format, NAMES, EXPRESSIONS)
    | st.builds("{}[{}] = {}".format, NAMES, EXPRESSIONS, EXPRESSIONS)
    | st.builds("{}[{}] += {}".format, NAMES, EXPRESSIONS, EXPRESSIONS)
    | st.builds("del {}".format, NAMES)
    | st.builds("if {}: break".format, EXPRESSIONS)
    | st.builds("if {} is None: continue".format, EXPRESSIONS)
    | st.builds("seen.append({})".format, EXPRESSIONS)
)


def program(statements):
    """A function of four values which executes statements again and again, and what became of it each time."""
    body = "\n".join(f"            {statement}" for statement in statements)
    text = (
        "def program(a, b, c, d):\n    seen, told = [], []\n    for turn in range(6):\n        try:\n"
        f"{body}\n"
        "        except Exception as error:\n"
        "            told.append((type(error).__name__, str(error), error.__traceback__.tb_lineno))\n"
        "        told.append({n: repr(v) for n, v in locals().items() if n not in ('told', 'error')})\n"
        "    return seen, told\n"
    )
    space = {}
    exec(compile(text, "<statements>", "exec"), space)
    return space["program"]


VALUES = st.builds(Number, st.integers(0, 5)) | st.builds(Slots, st.integers(0, 5)) | st.sampled_from(OPERANDS)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=250, deadline=None)
@given(statements=st.lists(STATEMENTS, min_size=1, max_size=6), values=st.tuples(VALUES, VALUES, VALUES, VALUES))
def test_statements_as_natively(statements, values):
    """Operands of all kinds, also other kinds from turn to turn: values, exceptions with their lines, and locals."""
    run = program(statements)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "plans", Plans(Machine.table))
        patch.setattr(superblocks, "HOT", 2)
        patch.setattr(superblocks, "PATIENCE", 2)
        agree(lambda: run(*copy.deepcopy(values)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [each for each in programs() if "coroutines" not in each.id])
def test_as_many_instructions_as_without(hot, program):
    """The count is exact whether runs are compiled, cut, or left alone.

    Event loops are left out, as they look at the time; what is done once in a process, or when garbage happens to be
    collected, is more, so that the less of two runs counts.
    """

    def executed(count):
        hot(count)
        run = interpret(program)
        gc.disable()
        try:
            with contextlib.suppress(BaseException):
                run()
        finally:
            gc.enable()
        return run.stats.instructions

    counts = {count: min(executed(count) for _ in range(2)) for count in (1, 10**9)}
    assert counts[1] == counts[10**9]


class Mortal:
    """Notes in a list that it dies."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


def test_values_die_where_they_do_natively(hot):
    """What a run loads, stores and drops lives no longer than on the stack."""

    def lives():
        log = []

        class Holder:
            pass

        for turn in range(8):
            holder = Holder()
            holder.held = Mortal(log, f"held {turn}")
            pair = (Mortal(log, f"first {turn}"), Mortal(log, f"second {turn}"))
            one, other = pair
            pair = None
            one = other
            log.append("one")
            kept = holder.held
            holder.held = None
            log.append("held")
            kept = turn
            log.append("kept")
            items = [Mortal(log, f"item {turn}")]
            items[0] = None if items[0] is None else turn
            log.append("items")
            other = one = None
            log.append(kept)
        return log

    agree(lives)


def test_a_run_is_cut_where_it_is_left(hot):
    """Types that change from call to call cost no more than a few tries: what is before and behind stays compiled."""

    def add(a, b, c):
        x = a + a
        y = x * b
        z = c + c
        return z * c + y

    def program():
        return [repr(add(1, value, 2)) for value in (1, 2, Number(3), Number(4), 2.5, "t", Number(5), 3)]

    agree(program)
    plan = Machine.plans[id(add.__code__)]
    assert any(type(operand) is superblocks.Superblock for _, operand in plan.instructions)


def test_a_finalizer_may_come_in_while_a_run_is_compiled(hot, monkeypatch):
    """What it runs in the machine gets hot too: it waits for nobody, and the plan that is being written stays whole."""
    write = superblocks.written

    def total(n):
        result = 0
        for i in range(n):
            result += i * 2 if i % 3 else -i
        return result

    def interrupted(block):
        monkeypatch.setattr(superblocks, "written", write)
        agree(total, 30)
        return write(block)

    monkeypatch.setattr(superblocks, "written", interrupted)
    agree(total, 20)
    agree(total, 20)


def test_a_function_does_not_hold_itself(hot):
    """What the constants of a run are goes with the code, also while nobody collects garbage."""

    def program():
        kept = []
        for turn in range(5):
            space = {}
            text = f"def f(n):\n  for i in range(n):\n    g, x, y = lambda: {turn}, i + {turn}, i\n  return g, x + y"
            exec(text, space)
            kept.append(weakref.ref(space["f"](4)[0].__code__))
        del space
        return [each() is None for each in kept]

    gc.disable()
    try:
        agree(program)
    finally:
        gc.enable()
