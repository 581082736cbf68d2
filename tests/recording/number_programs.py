"""Random programs of numbers: what operators, builtins and texts make of ints, floats and truths that change from call
to call. A seed names a program."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import random

import torch

from tests.recording.agree import Scene, X

ATOMS = ("n", "n", "n", "a", "a", "b", "1", "2", "0.5", "True", "3", "-1", "x.size(0)", "k")
BINARY = "@ + - * / // % & | ^ >> < <= == != > >= and or is"
UNARY = (
    *("abs({})", "(-{})", "(+{})", "(~{})", "(not {})", "float({})", "int({})", "bool({})", "round({})", "str({})"),
    *("math.floor({})", "math.sqrt({})", "math.ceil({})", "math.trunc({})", "math.isfinite({})", "math.hypot({}, 1)"),
    *("math.isclose({}, 1.5)", "math.prod([{}, 2])", "math.gcd(int({}), 6)", "math.log(abs({}) + 1)", "hex(int({}))"),
    *("math.copysign(1, {})", "operator.neg({})", "operator.lt({}, 1.5)", "operator.truediv(1, {})", "hash({})"),
    *("type({})", "repr({})", "complex({})", "(1j * {})", "({}).real", "({}).__class__", "divmod({}, 3)", "pow({}, 2)"),
    *("round({}, 1)", "round({}, n)", "round({} / 3)", "(abs({}) ** 0.5)", "(2 ** {})", "(0.5 ** {})"),
    *("(0.5 < {} < 3)", "max(0.5, {})", "min(2, {}, 3.5)", "min([{}, True])", "sum([{}, n])"),
    *("sum(v for v in ({}, 0.5))", "max([n, 2], key=lambda q: q * {})", "sorted([{}, 1.5, 2])"),
    *("any(q == {} for q in (1, 2.0))", "repr([{}])"),
    *("functools.reduce(operator.add, [0.5, {}])", "list(itertools.accumulate([0.5, {}]))", "next(iter([{}]))"),
    *("({} in (1, 2.0))", "({} in [True, 3])", "(2 in ({}, n))", "(({}, 1) < (1.5, 2))", "([{}] == [n])"),
    *("list(range({} % 4))", "[1, 2, 3, 4][{} % 3]", "'abcdef'[:{} % 4]", "('%s' % ({},))", "{{{}: 1}}"),
    *("format({}, '>5')", "len(str({}))"),
    *("isinstance({}, int)", "isinstance({}, (bool, float))", "(1 if {} else 2)", "(y := {})", "(lambda q: q)({})"),
    *("torch.full((2,), {})", "(x * {})", "x[: int(abs({})) % 2 + 1]", "(x + {}).sum().item()", "(x.size(0) + {})"),
    *("box.set({})", "box.held", "pair({})", "pair(k={})", "[q for q in range(4) if q < {}]", "frozenset([{}, 1])"),
)
LINES = (
    "    try: told.append({0})\n    except Exception as error: told.append((type(error).__name__, str(error)))",
    "    try: told.append({0})\n    except Exception as error: told.append((type(error).__name__, str(error)))",
    "    try: told.append('yes' if {0} else 'no')\n    except Exception as error: told.append(str(error))",
    "    try: {1} {2} {0}\n    except Exception as error: told.append(str(error))",
    "    try: x = x * {0}\n    except Exception as error: told.append(str(error))",
)


class Box:
    def __init__(self):
        self.held = 1

    def set(self, value):
        self.held = value
        return value


def pair(q=1, k=2):
    return q, k


def expression(rng: random.Random, depth: int) -> str:
    roll = rng.random() if depth else 1.0
    if roll < 0.45:
        return f"({expression(rng, depth - 1)} {rng.choice(BINARY.split())} {expression(rng, depth - 1)})"
    if roll < 0.85:
        return rng.choice(UNARY).format(f"({expression(rng, depth - 1)})")
    return rng.choice(ATOMS)


def build_from(seed: int):
    """A function that builds the scene of this seed, and the program's text."""
    rng = random.Random(seed)
    lines = [
        rng.choice(LINES).format(expression(rng, 2), rng.choice("nak"), rng.choice(["+=", "*=", "-=", "=", "//="]))
        for _ in range(rng.randint(2, 5))
    ]
    text = "\n".join(["def f(x, n, a, b, k):", "    told = []", *lines, "    return told, x, n, a", ""])
    given = [
        (
            rng.choice([2, 2, 3]),
            rng.choice([0, 1, 2, 3, 4, 5, 7, -1, -2, 9]),
            rng.choice([0.0, 0.5, 1.5, 2.0, -1.5, 3.25, -0.0, 100.0]),
            rng.random() < 0.5,
            rng.choice([1, 2, 3]),
        )
        for _ in range(7)
    ]

    def build():
        space = {"math": math, "operator": operator, "torch": torch, "functools": functools, "itertools": itertools}
        space |= {"box": Box(), "pair": pair}
        exec(compile(text, f"<random numbers {seed}>", "exec", dont_inherit=True), space)
        return Scene(
            space["f"], [(X(size), *numbers) for size, *numbers in given], lambda: vars(space["box"]), tail=True
        )

    return build, text
