"""The prologue: one generated function that checks all guards of an entry and returns the program's inputs.

Guards are laid out as a tree of sources, so that each path is walked once, and what is asked of one dict is asked at once, in C:

- keys that must be absent: `d.keys().isdisjoint(names)`;
- values that must be the very objects they were: `[*map(id, getter(d))] == ids`, where `getter` is an `operator.itemgetter`;
- plain constants: the same with the values and their types;
- containers of which only emptiness matters (a module's dicts of hooks): their types and `any`.

An object with a `__dict__` gets a function of its own, and objects of which the same is asked (the layers of a model) share one: the prologue
grows with the kinds of modules, not with their number. All that keeps the function short, and it is its length that makes it expensive to compile. A source is only walked when the
guards of those above it hold, since a node comes before its children. All tensors are checked by one call of torch's own
`TensorGuards`. The function gives the tuple of inputs, or None when a guard fails or a path can't be walked; `explain` then looks
for the guard that failed, slowly.
"""

from __future__ import annotations

import math
from operator import itemgetter
from types import MappingProxyType

from torch._C._dynamo.guards import TensorGuards

from interpreter.recording import guards
from interpreter.recording.guards import Binder, Guard, other_state, why_not
from interpreter.recording.sources import Dict, Item, Pinned, Source

BUILTINS = {"type": type, "len": len, "tuple": tuple, "map": map, "repr": repr, "list": list, "id": id, "any": any}
EXACT = (int, str, float, bytes)


class Miss(Exception):
    """A guard does not hold. One instance is raised again and again: only `check` sees it."""


MISS = Miss()
BUILTINS["miss"] = MISS


class Node:
    """A source with its own guards and the sources below it."""

    __slots__ = ("children", "guards", "source", "wanted")

    def __init__(self, source: Source):
        self.source = source
        self.guards: list[Guard] = []
        self.children: list[Node] = []
        self.wanted = False

    @property
    def leaf(self) -> bool:
        return not self.children and not self.wanted


class Prologue:
    """`check(args, kwargs)` returns the tuple of inputs, or None where a guard does not hold."""

    def __init__(self, checked: list[Guard], inputs: list[Source]):
        self.guards = checked
        self.names: dict = dict(BUILTINS)
        self.binder = Binder(self.names)
        self.nodes: dict[int, Node] = {}
        self.roots: list[Node] = []
        self.variables: dict[int, str] = {}
        self.lines: list[str] = []
        self.helpers: dict[str, str] = {}
        self.count = 0
        self.last: list[Guard] = []
        self.pool: dict = {}
        tensors: list[guards.Tensor] = []
        for guard in checked:
            self.place(guard, tensors)
        for source in inputs:
            self.node(source).wanted = True
        for node in self.roots:
            self.walk(node)
        for guard in self.last:
            self.lines.append(f"if not ({self.relation(guard)}): raise miss")
        if tensors:
            self.tensor_line(tensors)
        results = ", ".join(self.variables[id(source)] for source in inputs)
        self.lines.append(f"return ({results}{',' if len(inputs) == 1 else ''})")
        body = "\n  ".join(self.lines)
        shared = "".join(f"def {name}(p):\n {code}\n" for code, name in self.helpers.items())
        text = f"{shared}def check(args, kwargs):\n try:\n  {body}\n except Exception:\n  return\n"
        exec(compile(text, "<prologue>", "exec"), self.names)
        self.text = text
        self.check = self.names.pop("check")
        del self.nodes, self.roots, self.variables, self.lines, self.last, self.pool, self.helpers

    # Laying out

    def node(self, source: Source) -> Node:
        node = self.nodes.get(id(source))
        if node is None:
            node = self.nodes[id(source)] = Node(source)
            if source.parent is None:
                self.roots.append(node)
            else:
                self.node(source.parent).children.append(node)
        return node

    def place(self, guard: Guard, tensors: list):
        if isinstance(guard, guards.Call):
            names = f"tuple(kwargs) == {guard.names!r}" if guard.names else "not kwargs"
            self.lines.append(f"if not (len(args) == {guard.count} and {names}): raise miss")
        elif isinstance(guard, guards.GlobalState):
            check = self.binder.bind(guard.guard.check)
            self.lines.append(f"if not ({check}() and {self.binder.bind(other_state)}() == {guard.others!r}): raise miss")
        elif isinstance(guard, guards.Tensor):
            self.node(guard.source).wanted = True
            tensors.append(guard)
        elif isinstance(guard, guards.Same):
            self.node(guard.source).wanted = self.node(guard.other).wanted = True
            self.last.append(guard)
        elif isinstance(guard, guards.Distinct):
            for source in guard.sources:
                self.node(source).wanted = True
            self.last.append(guard)
        else:
            self.node(guard.source).guards.append(guard)

    # Writing

    def variable(self, node: Node, code: str | None = None) -> str:
        """The variable that holds a node's value; `code` assigns it."""
        source = node.source
        if isinstance(source, Pinned):
            name = self.binder.bind(source.value)
        else:
            name = f"v{self.count}"
            self.count += 1
            if code is not None:
                self.lines.append(f"{name} = {code}")
        self.variables[id(source)] = name
        return name

    def walk(self, node: Node):
        """Write a root and all below it."""
        source = node.source
        name = self.variable(node, None if isinstance(source, Pinned) else source.code("", self.binder.bind))
        self.inside(node, name)

    def inside(self, node: Node, name: str):
        """Write the guards of a node whose value is in `name`, then its children."""
        self.own(node, name)
        items = [child for child in node.children if type(child.source) is Item]
        if items:
            self.items(items, name)
        for child in node.children:
            if type(child.source) is not Item:
                self.below(child, self.variable(child, child.source.code(name, self.binder.bind)))

    def below(self, node: Node, name: str):
        """Write a node: in place, or as a call of the function that objects like it share."""
        if not any(isinstance(child.source, Dict) for child in node.children):
            self.inside(node, name)
            return
        outer = self.lines, self.variables, self.count
        self.lines, self.variables, self.count = [], {}, 0
        self.inside(node, "p")
        results = list(self.variables)
        exported = [source for source in results if self.nodes[source].wanted]
        inner = [self.variables[source] for source in exported]
        body = "\n ".join([*self.lines, f"return ({', '.join(inner)}{',' if len(inner) == 1 else ''})"])
        self.lines, self.variables, self.count = outer
        helper = self.helpers.get(body)
        if helper is None:
            helper = self.helpers[body] = f"h{len(self.helpers)}"
        outputs = []
        for source in exported:
            outputs.append(f"v{self.count}")
            self.variables[source] = f"v{self.count}"
            self.count += 1
        if outputs:
            self.lines.append(f"{', '.join(outputs)}{',' if len(outputs) == 1 else ''} = {helper}({name})")
        else:
            self.lines.append(f"{helper}({name})")

    def own(self, node: Node, name: str):
        own = node.guards
        absent = [guard.key for guard in own if type(guard) is guards.Absent]
        together = len(absent) > 1 and is_mapping(node)
        fetched = {child.source.key for child in node.children if type(child.source) is Item and type(child.source.key) is str}
        conditions = []
        for guard in own:
            if type(guard) is guards.Absent and together or type(guard) is guards.Present and guard.key in fetched:
                continue  # all at once below, or implied by reading the item
            conditions.append(guard.condition(name, self.binder.bind))
        if together:
            conditions.append(f"{name}.keys().isdisjoint({self.shared(frozenset(absent))})")
        if conditions:
            self.lines.append(f"if not ({' and '.join(f'({c})' if ' or ' in c else c for c in conditions)}): raise miss")

    def items(self, items: list[Node], name: str):
        """The items of one container: leaves in groups, the others fetched in one go and then walked."""
        same, plain, empty, others = [], [], [], []
        for child in items:
            (same if is_identity(child) else plain if is_plain(child) else empty if is_empty(child) else others).append(child)
        if len(same) == 1 or len(same) + len(others) == 2:
            others, same = same + others, []
        if same:
            expected = self.shared(tuple(id(expected_of(child)) for child in same), kind=list)
            self.keep([expected_of(child) for child in same])
            self.lines.append(f"if [*map(id, {self.getter(same)}({name}))] != {expected}: raise miss")
        if len(plain) == 1:
            others, plain = plain + others, []
        if plain:
            values = tuple(child.guards[0].value for child in plain)
            kinds = self.shared(tuple(map(type, values)), kind=list)
            self.lines.append(f"t = {self.getter(plain)}({name})")
            self.lines.append(f"if t != {self.binder.bind(values)} or [*map(type, t)] != {kinds}: raise miss")
        if len(empty) == 1:
            others, empty = empty + others, []
        if empty:
            kinds = self.shared(tuple(child.guards[0].kind for child in empty), kind=list)
            self.lines.append(f"t = {self.getter(empty)}({name})")
            self.lines.append(f"if any(t) or [*map(type, t)] != {kinds}: raise miss")
        if len(others) > 2:
            names = [self.variable(child) for child in others]
            self.lines.append(f"{', '.join(names)} = {self.getter(others)}({name})")
        else:
            names = [self.variable(child, child.source.code(name, self.binder.bind)) for child in others]
        for child, value in zip(others, names):
            self.below(child, value)

    def getter(self, items: list[Node]) -> str:
        return self.shared(tuple(child.source.key for child in items), kind=lambda keys: itemgetter(*keys))

    def shared(self, value, kind=None) -> str:
        """A name for a constant that other places may share: equal tuples give one object."""
        key = value, kind is list, kind is None
        made = self.pool.get(key)
        if made is None:
            made = self.pool[key] = value if kind is None else kind(value)
        return self.binder.bind(made)

    def keep(self, values: list):
        """Objects of which the function knows the ids must live as long as it does."""
        self.names.setdefault("kept", []).extend(values)

    def relation(self, guard) -> str:
        if isinstance(guard, guards.Same):
            return f"{self.variables[id(guard.source)]} is {self.variables[id(guard.other)]}"
        names = [self.variables[id(source)] for source in guard.sources]
        if len(names) == 2:
            return f"{names[0]} is not {names[1]}"
        return f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}"

    def tensor_line(self, tensors: list[guards.Tensor]):
        """One call checks all tensors; a tensor with a free dimension has free strides too."""
        values = [guard.value for guard in tensors]
        sizes = [[None if i in guard.dynamic else n for i, n in enumerate(guard.shape)] for guard in tensors]
        strides = [[None] * len(guard.strides) if guard.dynamic else guard.strides for guard in tensors]
        checker = TensorGuards(*values, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)
        listed = ", ".join(self.variables[id(guard.source)] for guard in tensors)
        self.lines.append(f"if not {self.binder.bind(checker.check)}({listed}): raise miss")
        for guard in tensors:
            guard.forget()

    # Explaining

    def explain(self, args, kwargs) -> str:
        """Why the prologue missed: the first guard that does not hold, with both values."""
        for guard in self.guards:
            text = why_not(guard, (args, kwargs))
            if text is not None:
                return text
        return "a guard that no longer fails when it is looked at again"

    def failing(self, args, kwargs) -> Guard | None:
        """The first guard that does not hold."""
        for guard in self.guards:
            if why_not(guard, (args, kwargs)) is not None:
                return guard
        return None


def expected_of(node: Node):
    return node.guards[0].value


def is_mapping(node: Node) -> bool:
    """Whether the value is known to be a dict (or a class's view of one) when its keys are looked at."""
    return isinstance(node.source, Dict) or any(
        type(guard) is guards.Type and issubclass(guard.kind, dict) for guard in node.guards) or (
        isinstance(node.source, Pinned) and isinstance(node.source.value, (dict, MappingProxyType)))


def is_identity(node: Node) -> bool:
    """Whether all that is asked of a value is that it is the same object: functions, classes, True, None."""
    if not node.leaf or len(node.guards) != 1:
        return False
    guard = node.guards[0]
    return type(guard) is guards.Identity or (type(guard) is guards.Constant and type(guard.value) in (bool, type(None)))


def is_plain(node: Node) -> bool:
    """Whether all that is asked of a value is that it is an equal int, str, float or bytes."""
    if not node.leaf or len(node.guards) != 1 or type(node.guards[0]) is not guards.Constant:
        return False
    value = node.guards[0].value
    return type(value) in EXACT and not (type(value) is float and (math.isnan(value) or value == 0.0))


def is_empty(node: Node) -> bool:
    """Whether all that is asked of a container is that it is empty."""
    if not node.leaf or len(node.guards) != 2:
        return False
    kind, truth = node.guards
    return type(kind) is guards.Type and type(truth) is guards.Truth and not truth.answer
