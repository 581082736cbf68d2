"""The text of a superblock's function, as it is written: ``writers`` has what each kind of instruction adds to it.

A writer pops values off a symbolic stack and pushes others. A value is an expression that may be evaluated more than
once: a constant, a local variable of the frame (``fast[3]``) or a variable of the function (``t0``, ``p0``). What a
handler would have pushed is written to the machine's stack only where the run ends, jumps or leaves.

Variables that may hold an object of the program are cleared as soon as their value is used up, so that it dies when it
would have died on the stack. What is known to be of a type in ``SIMPLE`` (numbers, strings, bytes: no Python code can
run) is not asked for its type again.
"""

import re

from .values import NULL

HEAD = "def superblock(frame, block):"
VARIABLE = re.compile(r"[tp]\d+")
WRITERS: dict = {}
"""handler -> function(emit, operand) that writes what it does."""
FIRST_ONLY: set = set()
"""Handlers that only the first instruction of a run may have."""
LAST_ONLY: set = set()
"""Handlers after which a run ends."""
NAMESPACE: dict = {"NULL": NULL, "__builtins__": __builtins__}
"""What the functions see; ``writers`` adds to it. C code that they call imports by the builtins among it."""


class Unfit(Exception):
    """An instruction cannot be part of a superblock as things are now."""


class Value:
    """An expression. ``simple``: known to be of a type in SIMPLE. ``truth``: known to be True or False."""

    __slots__ = ("constant", "simple", "text", "truth")

    def __init__(self, text, simple=False, truth=False, constant=NULL):
        self.text, self.simple, self.truth, self.constant = text, simple or truth, truth, constant

    @property
    def cleared(self):
        """Is it a variable of the function that may keep an object of the program alive?"""
        return not self.simple and VARIABLE.fullmatch(self.text) is not None


class Emit:
    """The function of one superblock as it is written."""

    def __init__(self, sure):
        self.sure = set(sure)
        self.lines, self.parts, self.position = [HEAD], [0, 0], 0
        self.namespace = dict(NAMESPACE)
        self.values, self.simple, self.kinds = [], set(), {}
        self.popped = 0
        self.open, self.spaces = True, False
        self.line("stack = frame.stack")
        self.line("fast = frame.fast")

    def line(self, text, indent=1):
        self.lines.append("    " * indent + text)
        self.parts.append(self.position)

    def constant(self, value):
        """A name for an object."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def push(self, text, simple=False, truth=False, constant=NULL):
        self.values.append(Value(text, simple, truth, constant))

    def need(self, count):
        """Have at least so many values: the others come off the machine's stack."""
        while len(self.values) < count:
            name = f"p{self.popped}"
            self.popped += 1
            self.line(f"{name} = stack.pop()")
            self.values.insert(0, Value(name))

    def top(self, count):
        """The topmost values, the last one on top; they stay."""
        self.need(count)
        return self.values[-count:]

    def drop(self, count):
        """Take values off that are in use until the end of this line; the text that clears them, to be put behind."""
        gone = self.values[-count:] if count else []
        del self.values[len(self.values) - count :]
        kept = {value.text for value in self.values}
        names = dict.fromkeys(value.text for value in gone if value.cleared and value.text not in kept)
        return "".join(f"; {name} = None" for name in names)

    def result(self, text, count, simple=False, truth=False):
        """Replace the ``count`` topmost values by one, the value of an expression of them."""
        cleared = self.drop(count)
        name = self.fresh()
        self.line(f"{name} = {text}" + cleared.replace(f"; {name} = None", ""))
        self.push(name, simple, truth)

    def fresh(self, *others):
        """A variable that no value on the symbolic stack is in, and none of the ``others``."""
        used, number = {*others, *(value.text for value in self.values)}, 0
        while f"t{number}" in used:
            number += 1
        return f"t{number}"

    def unless(self, condition):
        """Leave, with all values on the stack, unless a condition holds."""
        self.line(f"if not ({condition}): return block.leave(frame, {self.position}, {self.tuple()})")

    def tuple(self):
        return "(" + "".join(f"{value.text}, " for value in self.values) + ")"

    def flush(self, indent=1):
        if self.values:
            self.line(f"stack += {self.tuple()}", indent)

    def jump(self, target, ticks=0, indent=1):
        """Go on elsewhere in the list."""
        self.flush(indent)
        if ticks:
            self.line(f"frame.ticks += {ticks}", indent)
        self.line(f"frame.iterator.__setstate__({target})", indent)
        self.line("return None", indent)

    def check_simple(self, *values):
        """Leave unless values are of types in SIMPLE."""
        tests = dict.fromkeys(f"type({value.text}) in SIMPLE" for value in values if not value.simple)
        if tests:
            self.unless(" and ".join(tests))
        for value in values:
            value.simple = True
            if value.text.startswith("fast["):
                self.simple.add(value.text)

    def check_kind(self, value, known):
        """Leave unless the type of a value is the one whose id the instruction has remembered; Unfit if it has none."""
        if not known:
            raise Unfit
        if self.kinds.get(value.text) != known:
            self.unless(f"id(type({value.text})) == {known}")
        if value.text.startswith("fast["):
            self.kinds[value.text] = known


def written(block):
    """(text, part of each line, namespace, None), or (..., position of the part that does not fit)."""
    emit = Emit(block.sure)
    for emit.position, part in enumerate(block.parts):
        try:
            WRITERS[part.handler](emit, part.operand)
        except Unfit:
            return None, None, None, emit.position
    if emit.open:
        emit.jump(block.end)
    return "\n".join(emit.lines), tuple(emit.parts), emit.namespace, None


def emits(*handlers, first=False, last=False):
    """Register the writer of what some handlers do."""

    def register(writer):
        for handler in handlers:
            WRITERS[handler] = writer
            if first:
                FIRST_ONLY.add(handler)
            if last:
                LAST_ONLY.add(handler)
        return writer

    return register
