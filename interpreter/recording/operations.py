"""What was computed: operations on tensors and on traced numbers, and the checks between them.

An operation holds the function that was called and *templates* of its arguments. A template is a constant, a `Ref` to
the result of an earlier operation, an `Input` (an outside object that the prologue returns), or a `Build` of templates.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class Ref:
    """The result of operation `index` of the program."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index

    def __repr__(self):
        return f"v{self.index}"


class Input:
    """An outside object."""

    __slots__ = ("source",)

    def __init__(self, source):
        self.source = source

    def __repr__(self):
        return str(self.source)


class Build:
    """A container or object to make anew: `kind` is its type, `parts` are templates.

    list, tuple, set, frozenset and their like: the items; dict: (key, value) pairs; slice: start, stop, step. `extra`
    says what else the kind needs (an object's class, a function's code).
    """

    __slots__ = ("extra", "kind", "parts")

    def __init__(self, kind, parts, extra=None):
        self.kind = kind
        self.parts = parts
        self.extra = extra

    def __repr__(self):
        return f"{getattr(self.kind, '__name__', self.kind)}({', '.join(map(repr, self.parts))})"


@dataclass(slots=True)
class Operation:
    """`function(*args, **kwargs)`, the templates of its arguments, and where the user's code did it."""

    function: object
    args: tuple
    kwargs: dict
    index: int
    where: object = None
    element: bool = False  # takes a part of the result of the operation before it: costs nothing and is not an event
    effect: bool = False  # does something that can be seen from outside: writes outside memory, draws random numbers
    number: bool = False  # arithmetic on traced numbers
    dropped: bool = False  # gave its first argument itself (a conversion to what it is already): programs leave it out

    def uses(self) -> list[int]:
        """The operations whose results are among its arguments."""
        return refs_of(self.args, self.kwargs)

    def __str__(self):
        arguments = [*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwargs.items())]
        return f"v{self.index} = {name_of(self.function)}({', '.join(arguments)})"


@dataclass(slots=True)
class Check:
    """Python asked: `value` (a Ref) was `answer`. Another answer leaves the program here."""

    value: Ref
    answer: object
    question: str
    where: object = None
    told: int = 0  # how much Python had been told of tensors before

    def __str__(self):
        return f"{self.question} was {self.answer!r}, at {self.where}"


@dataclass(slots=True)
class Write:
    """`function(*args)` on an outside object, done after the operations. `text` names it for a person."""

    function: object
    args: tuple
    text: str
    templates: tuple = field(default=())


def answer_key(answer):
    """A hashable key that is equal for equal answers of the same type only."""
    if type(answer) in (bool, int, str, type(None)):
        return type(answer), answer
    return type(answer), repr(answer)


def name_of(function) -> str:
    """A short name for a function: `linear`, `Tensor.view`, `Tensor.shape`."""
    owner = getattr(function, "__self__", None)
    if type(function).__name__ == "method-wrapper" and hasattr(owner, "__name__"):
        return f"Tensor.{owner.__name__}{'' if function.__name__ == '__get__' else ' ='}"
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or str(function)
    for prefix in ("_VariableFunctionsClass.", "TensorBase."):
        if name.startswith(prefix):
            return ("Tensor." if prefix == "TensorBase." else "torch.") + name[len(prefix):]
    return name.replace("PyCapsule.", "")


def refs_of(*templates) -> list[int]:
    """The operations whose results templates name, in order."""
    return [leaf.index for leaf in leaves(*templates) if type(leaf) is Ref]


def inputs_of(*templates) -> dict:
    """The sources that templates name: {identity of the source: source}."""
    return {leaf.source.identity(): leaf.source for leaf in leaves(*templates) if type(leaf) is Input}


def leaves(*templates) -> list[Ref | Input]:
    """All Refs and Inputs in templates, which may refer back to themselves."""
    found: list[Ref | Input] = []
    gather(templates, found, set())
    return found


def gather(template, found: list, seen: set[int]):
    kind = type(template)
    if kind is Ref or kind is Input:
        found.append(template)
    elif kind is tuple or kind is list:
        for part in template:
            gather(part, found, seen)
    elif kind is dict:
        for part in template.values():
            gather(part, found, seen)
    elif kind is Build and id(template) not in seen:
        seen.add(id(template))
        gather(template.parts, found, seen)
        gather(template.extra, found, seen)
