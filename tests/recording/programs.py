"""Random programs: functions of tensors, numbers, lists, dicts, objects and globals, and the calls that are made of
them.

A `Grammar` writes a program as text, statement by statement, from one random generator; so a seed names a program, and
what fails can be read.
"""

from __future__ import annotations

import collections
import linecache
import random
import re
import types

import torch

from tests.recording.agree import Scene
from tests.recording.phrases import ANY_CONDITION, ANY_NUMBER, ANY_TENSOR, CAUGHT, KEYS, LOOPS, STATEMENTS
from tests.recording.setting import SETTING


class Grammar:
    """Writes one program. `depth` bounds how deep blocks are nested."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    def fill(self, template: str, depth: int = 1) -> str:
        """A template with a tensor for each `<t>`, a number for `<n>`, a condition for `<c>`, a key for `<k>`."""
        expand = {"t": self.tensor, "n": self.number, "c": self.condition, "k": lambda depth: self.key()}
        return re.sub("<([tnck])>", lambda found: expand[found[1]](depth), template)

    # Expressions

    def tensor(self, depth=2) -> str:
        return (
            self.fill(self.pick(*ANY_TENSOR), depth - 1)
            if depth > 0 and self.rng.random() < 0.7
            else self.pick("x", "y", "z")
        )

    def number(self, depth=2) -> str:
        return self.fill(self.pick(*ANY_NUMBER), depth - 1) if depth > 0 else self.pick("n", "k", "1", "2", "3")

    def key(self) -> str:
        return self.pick(*map(repr, KEYS), "names[0]", "'a' + str(n % 2)")

    def condition(self, depth=2) -> str:
        return (
            self.fill(self.pick(*ANY_CONDITION), depth - 1)
            if depth > 0
            else self.pick("n > 1", "flag", "'a' in d", "xs", "k is None", "len(xs) > 1")
        )

    # Statements

    def block(self, indent: int, depth: int, size: int):
        for _ in range(self.rng.randint(1, size)):
            self.statement(indent, depth)

    def put(self, indent, text):
        self.lines.append("    " * indent + text)

    def statement(self, indent: int, depth: int):
        kinds = ["assign", "more", "assign", "number", "item", "append", "attribute", "in place", "container", "state"]
        if depth:
            kinds += ["if", "if", "for", "try", "while", "with", "raise", "return", "function", "swap"]
        getattr(self, "put_" + self.pick(*kinds).replace(" ", "_"))(indent, depth)

    def put_assign(self, indent, depth):
        self.put(
            indent,
            self.pick(
                f"{self.pick('y', 'z')} = {self.tensor()}",
                f"{self.pick('x', 'y', 'z')} = {self.tensor(1)}",
                f"{self.pick('y', 'z')} {self.pick('+=', '*=', '-=')} {self.tensor(1)}",
            ),
        )

    def put_number(self, indent, depth):
        self.put(
            indent,
            self.pick(
                f"n = {self.number()}", f"k = {self.number()}", "n += 1", f"k = {self.number(1)} + n", "seen = seen + n"
            ),
        )

    def put_item(self, indent, depth):
        value = self.pick(self.tensor(1), self.number(1))
        self.put(
            indent,
            self.pick(
                f"d[{self.key()}] = {value}",
                f"d[{self.key()}] = {value}",
                f"d.pop({self.key()}, None)",
                f"d.setdefault({self.key()}, {value})",
                f"d.update(b={value})",
                f"if {self.key()} in d: del d[{self.key()}]",
                "d['count'] = d.get('count', 0) + 1",
                f"ns[0] = {self.number(1)}",
                "d = dict(d)",
                "d = {key: d[key] for key in sorted(d)}",
            ),
        )

    def put_append(self, indent, depth):
        self.put(
            indent,
            self.pick(
                f"xs.append({self.tensor(1)})",
                f"xs.insert(0, {self.tensor(1)})",
                "xs.reverse()",
                "if xs: xs.pop()",
                "del xs[:1]",
                "xs[:] = xs[1:]",
                f"ns.append({self.number(1)})",
                "ns.sort()",
                f"xs += [{self.tensor(1)}]",
                "xs = xs + [x]",
                "xs = list(xs)",
                f"names.append(str({self.number(1)}))",
                f"xs.extend(v * 2 for v in xs[:{self.pick(1, 2)}])",
                f"log.append({self.number(1)})",
                "log.append(('pair', n, [k]))",
                f"log.append({self.tensor(1)})",
                "ns += [len(ns)]",
                "ns = sorted(ns)[:3]",
            ),
        )

    def put_attribute(self, indent, depth):
        self.put(
            indent,
            self.pick(
                f"box.n = {self.number(1)}",
                "box.n += 1",
                f"box.t = {self.tensor(1)}",
                f"box.extra = {self.number(1)}",
                "if hasattr(box, 'extra'): del box.extra",
                f"other.n = {self.number(1)}",
                f"setattr(box, 'p' + str(n % 2), {self.tensor(1)})",
                f"other.t = {self.tensor(1)}",
                "box.xs = xs",
                "Box.shared += 1",
                "m.calls = m.calls + 1",
                f"m.last = {self.tensor(1)}",
                "box.xs.append(n)",
                "x.tag = n",
            ),
        )

    def put_in_place(self, indent, depth):
        name = self.pick("x", "y", "z", "xs[0]", "box.t", "m.buffer")
        guard = "if xs: " if name == "xs[0]" else ""
        self.put(
            indent,
            guard
            + self.pick(
                f"{name}.add_({self.number(1)})",
                f"{name}.mul_(2)",
                f"{name}[0] = {self.number(1)}",
                f"{name}.clamp_(max=50)",
                f"{name}.view(-1)[-1:].sub_(1)",
            ),
        )

    def put_container(self, indent, depth):
        self.put(
            indent,
            self.pick(
                f"pair = ({self.tensor(1)}, [{self.number(1)}])",
                f"pair = (x, {{'n': {self.number(1)}}})",
                "kept.append(pair)",
                f"kept.append(lambda: {self.number(1)})",
                "kept.append(Box(n))",
                "a, *rest = [*xs, x]; z = a",
                "names = [name + str(n) for name in names][:2]",
                "kept = [pair, pair]",
                "order = sorted(d, key=lambda key: str(key) + str(n)); k = len(order)",
                "z = dict(zip(names, xs)).get('p', z)",
                "for i, (key, value) in enumerate(list(d.items())): k = i",
                "ns = [*map(lambda v: v + 1, ns)][:3]",
                "pair = (*pair, n)[:2]",
            ),
        )

    def put_more(self, indent, depth):
        self.put(
            indent,
            self.fill(
                self.pick(*STATEMENTS)
            ).replace("\n", "\n" + "    " * indent),
        )

    def put_state(self, indent, depth):
        self.put(
            indent,
            self.pick(
                "space.g = space.g + 1",
                "seen += 1",
                f"space.log.append({self.number(1)})",
                "space.h = z",
                f"space.g = {self.number(1)}",
            ),
        )

    def put_if(self, indent, depth):
        self.put(indent, f"if {self.condition()}:")
        self.block(indent + 1, depth - 1, 2)
        if self.rng.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, depth - 1, 2)

    def put_for(self, indent, depth):
        self.put(
            indent,
            f"for {self.pick(*LOOPS)}:",
        )
        self.block(indent + 1, depth - 1, 2)
        if self.rng.random() < 0.3:
            self.put(indent + 1, f"if {self.condition(1)}: {self.pick('break', 'continue')}")

    def put_while(self, indent, depth):
        self.loops += 1
        name = f"turns{self.loops}"
        self.put(indent, f"{name} = 0")
        self.put(indent, f"while ({self.condition(1)}) and {name} < 3:")
        self.put(indent + 1, f"{name} += 1")
        self.block(indent + 1, depth - 1, 2)

    def put_try(self, indent, depth):
        self.put(indent, "try:")
        self.block(indent + 1, depth - 1, 2)
        if self.rng.random() < 0.5:
            self.put(
                indent + 1,
                self.pick(
                    "z = xs[5]",
                    "z = d['missing']",
                    "z = x.view(3, 3)",
                    "z = box.absent",
                    "raise ValueError('inner', n)",
                    "z = torch.ones(3) @ x.new_ones(n + 1)",
                    "k = 1 // (n - n)",
                    "x[torch.tensor([n + 1])]",
                ),
            )
        if self.rng.random() < 0.85:
            self.put(
                indent,
                f"except {self.pick(*CAUGHT)} as error:",
            )
            self.put(indent + 1, "log.append(type(error).__name__)")
            self.block(indent + 1, depth - 1, 1)
            if self.rng.random() < 0.3:
                self.put(indent, "else:")
                self.block(indent + 1, depth - 1, 1)
        else:
            self.put(indent, "finally:")
            self.block(indent + 1, depth - 1, 1)
            return
        if self.rng.random() < 0.3:
            self.put(indent, "finally:")
            self.block(indent + 1, 0, 1)

    def put_with(self, indent, depth):
        self.put(
            indent,
            f"with {self.pick('torch.no_grad()', 'scope(log, n)', 'contextlib.suppress(KeyError, IndexError)')}:",
        )
        self.block(indent + 1, depth - 1, 2)

    def put_raise(self, indent, depth):
        error = self.pick("ValueError(n)", "KeyError(str(k))", "RuntimeError(f'at {n}') from None", "Stop(x, n)")
        self.put(indent, f"if {self.condition()}: raise {error}")

    def put_return(self, indent, depth):
        self.put(indent, f"if {self.condition()}: return {self.result()}")

    def put_function(self, indent, depth):
        self.loops += 1
        name = f"g{self.loops}"
        self.put(indent, f"def {name}(v, w={self.number(0)}):")
        self.put(
            indent + 1,
            self.pick("nonlocal seen; seen += 1", "log.append(w)", "box.n += w", f"if {self.condition(1)}: return v"),
        )
        self.put(indent + 1, f"return v * w + {self.tensor(1)}")
        self.put(indent, f"z = {name}({self.tensor(1)})")
        if self.rng.random() < 0.4:
            self.put(indent, f"kept.append({name})")

    def put_swap(self, indent, depth):
        self.put(
            indent, self.pick("x, y = y, x", "xs[:2] = xs[:2][::-1]", "box, other = other, box", "n, k = (k or 1), n")
        )

    def result(self) -> str:
        return self.pick(
            "x",
            "z",
            f"({self.tensor(1)}, {self.number(1)})",
            "{'x': x, 'n': n, 'd': d}",
            "[z, z, xs]",
            "(pair, kept)",
            "box",
            f"{self.number(2)}",
            "(n, k, seen)",
            "(x, y is x, z)",
        )

    def program(self) -> str:
        self.put(0, "def f(x, y, xs, ns, names, d, n, flag, box, other, act, m):")
        self.put(1, "global total, scale")
        self.put(1, "nonlocal seen")
        self.put(1, "k, z, pair, kept = 1, x * 1, (x, [1]), []")
        self.put(1, "tags, queue, bag, proxy = space.tags, space.queue, space.bag, Proxy(box)")
        self.block(1, 3, 6)
        self.put(1, f"return {self.result()}, n, z")
        return "\n".join(self.lines)


def build_from(seed: int):
    """A function that builds the scene of this seed, and the program's text."""
    program = Grammar(random.Random(seed)).program()
    text = SETTING.replace("{function}", "\n".join("    " + line for line in program.splitlines()))
    name = f"<random program {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name

    def build():
        space = types.ModuleType("space")
        space.g, space.log = 0, []
        space.space = space
        space.log_ = []
        exec(compile(text, name, "exec", dont_inherit=True), space.__dict__)
        log: list = []
        space.log, space.tags, space.queue = log, {1}, collections.deque([1, 2], 4)
        f, seen = space.make(log)
        return Scene(
            f,
            calls(random.Random(seed + 1), space),
            state=lambda: (
                space.g,
                log,
                seen(),
                getattr(space, "h", None),
                space.Box,
                space.tags,
                space.queue,
                space.slotted,
                space.scale,
                space.total,
                space.bag,
                space.counts,
                space.order,
                space.groups,
                len(space.objects),
                space.heap,
                space.asked,
                tuple(space.cached.cache_info()),
                space.var.get(),
            ),
            tail=True,
        )

    return build, program


def calls(rng: random.Random, space) -> list:
    """Calls with arguments that are the same, alike, or different, some of them kept over several calls."""
    boxes = [space.Box(1), space.Box(2)]
    module = space.M()
    kept = {"a": 1}
    shared = torch.ones(2)
    acts = [torch.sin, lambda v: v + 1, helper_of(2), helper_of(3)]
    first = arguments(rng, boxes, module, kept, shared, acts)
    made = [first()]
    for _ in range(rng.randint(4, 8)):
        roll = rng.random()
        if roll < 0.45:
            made.append(first())
        elif roll < 0.75:
            made.append(arguments(rng, boxes, module, kept, shared, acts)())
        elif roll < 0.85:
            made.append(lambda n=rng.randint(0, 3): setattr(space, "g", n))
        else:
            made.append(change(rng, rng.randint(0, 3), space, boxes, module, kept, shared))
    return made


def change(rng: random.Random, n, space, boxes, module, kept, shared):
    """Something that another part of the program does between two calls."""
    return rng.choice(
        [
            lambda: setattr(boxes[0], "n", n),
            lambda: kept.update(a=n),
            lambda: setattr(space, "scale", n),
            lambda: setattr(space, "helper", lambda v, n=1, scale=1: v + n),
            lambda: module.train(n > 1),
            lambda: module.weight.requires_grad_(n > 1),
            lambda: setattr(module.weight, "grad", None),
            lambda: module.layers.append(torch.nn.Sigmoid()),
            lambda: setattr(module, "weight", torch.nn.Parameter(torch.ones(2) * n)),
            lambda: shared.add_(1),
            lambda: setattr(space.Box, "shared", n),
            lambda: setattr(space.Box, "step", lambda self, v: v - n),
            lambda: setattr(space.Box, "level", n),
            lambda: space.counts.clear(),
            lambda: space.bag.append(n),
            lambda: space.cached.cache_clear(),
            lambda: space.tags.add(n),
            lambda: setattr(space.slotted, "n", n),
            lambda: space.objects.add(boxes[n % 2]),
            lambda: space.groups.update(t=[]),
        ]
    )


def helper_of(n):
    return lambda v: v * n


def arguments(rng: random.Random, boxes, module, kept, shared, acts):
    """A function that gives the arguments of one call, anew where they are written to."""
    scale, scale_y, n, flag = (
        rng.choice([1.0, 1.0, -1.0, 3.0]),
        rng.choice([1.0, 2.0]),
        rng.choice([0, 1, 1, 2, 3, 4, True, 2.5]),
        rng.random() < 0.5,
    )
    size, count = rng.choice([2, 2, 2, 3]), rng.choice([0, 1, 2, 2, 3])
    ns, names = rng.choice([[1, 2], [1, 2], [3], [0, 5, 1]]), rng.choice([["p", "q"], ["p"], ["r", "q"]])
    keys, alias, act = rng.sample(KEYS, rng.randint(0, 3)), rng.random(), rng.choice(acts)
    old, one, keep, grad = rng.random() < 0.3, rng.random() < 0.8, rng.random() < 0.3, rng.random() < 0.15

    def give():
        x = (torch.arange(float(size)) + 1) * scale
        if grad:
            x.requires_grad_()
        if old:
            x = shared
        y = x if alias < 0.15 else torch.ones(size) * scale_y
        xs = [torch.ones(size) * i for i in range(count)]
        if alias < 0.25 and xs:
            xs[0] = x
        d = kept if keep else {key: (torch.ones(size) if key == "a" else 2) for key in keys}
        box = boxes[0] if one else boxes[1]
        return x, y, xs, list(ns), list(names), d, n, flag, box, boxes[0] if alias > 0.7 else boxes[1], act, module

    return give
