"""The generated check of an entry's guards, as one Python function.

What is asked of one dict is asked at once, in C:

- keys that must be absent: `d.keys().isdisjoint(names)`;
- values that must be the very objects they were: `[*map(id, getter(d))] == ids`, where `getter` is an
  `operator.itemgetter`;
- plain constants: the same with the values and their types;
- containers of which only emptiness matters (a module's dicts of hooks): their types and `any`.

An object with a `__dict__` gets a function of its own, and objects of which the same is asked (the layers of a model)
share one, so the text grows with the kinds of modules and not with their number; compiling it is what costs. Values
that `warm.Snapshot` found to be fixed are constants of the function, and what it vouches for is left out.
"""

from __future__ import annotations

import math
from operator import itemgetter
from types import MappingProxyType

from interpreter.recording import guards
from interpreter.recording.guards import other_state
from interpreter.recording.layout import Layout, Node
from interpreter.recording.naming import Binder
from interpreter.recording.sources import Dict, Item, Pinned


class Miss(Exception):
    """A guard does not hold. Only the generated check sees it."""


BUILTINS = {
    "type": type,
    "len": len,
    "tuple": tuple,
    "map": map,
    "repr": repr,
    "list": list,
    "id": id,
    "any": any,
    "miss": Miss,
}
EXACT = (int, str, float, bytes)


class Generator:
    """Writes `check(args, kwargs)`, which returns the tuple of inputs or None. `snapshot` may be None: then every guard
    is in the text.
    """

    def __init__(self, layout: Layout, snapshot=None):
        self.layout = layout
        self.snapshot = snapshot
        self.fixed: dict = snapshot.fixed if snapshot else {}
        self.names: dict = dict(BUILTINS)
        self.binder = Binder(self.names)
        self.variables: dict[int, str] = {}
        self.lines: list[str] = []
        self.helpers: dict[str, str] = {}
        self.pool: dict = {}
        self.count = 0

    def write(self):
        """The function and its text."""
        layout = self.layout
        if layout.state is not None:
            check = self.binder.bind(layout.state.guard.check)
            self.lines.append(
                f"if not ({check}() and {self.binder.bind(other_state)}() == {layout.state.others!r}): return"
            )
        if layout.call is not None:
            names = f"tuple(kwargs) == {layout.call.names!r}" if layout.call.names else "not kwargs"
            self.lines.append(f"if not (len(args) == {layout.call.count} and {names}): return")
        if self.snapshot is not None:
            self.lines.extend(self.snapshot.conditions(self.names))
        for node in layout.roots:
            self.below(node, self.variable(node, node.source.code("", self.binder.bind)), shared=False)
        for guard in layout.relations:
            if not all(id(source) in self.fixed for source in guard.all_sources()):
                self.lines.append(f"if not ({self.relation(guard)}): return")
        if layout.tensors:
            listed = ", ".join(self.variables[id(guard.source)] for guard in layout.tensors)
            self.lines.append(f"if not {self.binder.bind(layout.tensor_check)}({listed}): return")
        results = ", ".join(self.variables[id(source)] for source in layout.inputs)
        self.lines.append(f"return ({results}{',' if len(layout.inputs) == 1 else ''})")
        body = "\n  ".join(self.lines)
        shared = "".join(f"def {name}(p):\n {code}\n" for code, name in self.helpers.items())
        text = f"{shared}def check(args, kwargs):\n try:\n  {body}\n except Exception:\n  return\n"
        exec(compile(text, "<prologue>", "exec"), self.names)
        return self.names["check"], text

    def variable(self, node: Node, code: str | None = None) -> str:
        """The variable that holds a node's value; `code` assigns it."""
        source = node.source
        if id(source) in self.fixed:
            name = self.binder.bind(self.fixed[id(source)])
        elif isinstance(source, Pinned):
            name = self.binder.bind(source.value)
        else:
            name = f"v{self.count}"
            self.count += 1
            if code is not None:
                self.lines.append(f"{name} = {code}")
        self.variables[id(source)] = name
        return name

    def below(self, node: Node, name: str, shared: bool = True):
        """Write a node: in place, or as a call of the function that objects like it share."""
        if (
            not shared
            or id(node.source) in self.fixed
            or not any(isinstance(child.source, Dict) for child in node.children)
        ):
            self.inside(node, name)
            return
        outer = self.lines, self.variables, self.count
        self.lines, self.variables, self.count = [], {}, 0
        self.inside(node, "p")
        exported = [source for source in self.variables if self.layout.nodes[source].wanted]
        inner = [self.variables[source] for source in exported]
        body = "\n ".join([*self.lines, f"return ({', '.join(inner)}{',' if len(inner) == 1 else ''})"])
        self.lines, self.variables, self.count = outer
        helper = self.helpers.setdefault(body, f"h{len(self.helpers)}")
        outputs = []
        for source in exported:
            outputs.append(f"v{self.count}")
            self.variables[source] = f"v{self.count}"
            self.count += 1
        target = f"{', '.join(outputs)}{',' if len(outputs) == 1 else ''} = " if outputs else ""
        self.lines.append(f"{target}{helper}({name})")

    def inside(self, node: Node, name: str):
        """Write the guards of a node whose value is in `name`, then its children."""
        self.own(node, name)
        items = [child for child in node.children if type(child.source) is Item]
        others = [child for child in node.children if type(child.source) is not Item]
        loose = [child for child in items if id(child.source) not in self.fixed]
        if loose:
            self.items(loose, name)
        for child in items if self.fixed else ():
            if id(child.source) in self.fixed:
                self.below(child, self.variable(child))
        for child in others:
            self.below(child, self.variable(child, child.source.code(name, self.binder.bind)))

    def own(self, node: Node, name: str):
        own = node.guards if self.snapshot is None else self.snapshot.left(node)
        if not own:
            return
        absent = [guard.key for guard in own if type(guard) is guards.Absent]
        together = len(absent) > 1 and is_mapping(node)
        fetched = {
            child.source.key for child in node.children if type(child.source) is Item and type(child.source.key) is str
        }
        conditions = []
        for guard in own:
            if type(guard) is guards.Absent and together or type(guard) is guards.Present and guard.key in fetched:
                continue  # all at once below, or implied by reading the item
            conditions.append(guard.condition(name, self.binder.bind))
        if together:
            conditions.append(f"{name}.keys().isdisjoint({self.shared(frozenset(absent))})")
        if conditions:
            self.lines.append(
                f"if not ({' and '.join(f'({c})' if ' or ' in c else c for c in conditions)}): raise miss"
            )

    def items(self, items: list[Node], name: str):
        """The items of one container: leaves in groups, the others fetched in one go and then walked."""
        same, plain, empty, others = [], [], [], []
        for child in items:
            (same if is_identity(child) else plain if is_plain(child) else empty if is_empty(child) else others).append(
                child
            )
        if len(same) == 1 or len(same) + len(others) == 2:
            others, same = same + others, []
        if same:
            expected = [child.guards[0].value for child in same]
            self.names.setdefault("kept", []).extend(expected)  # their ids must stay theirs
            known = self.shared(tuple(map(id, expected)), kind=list)
            self.lines.append(f"if [*map(id, {self.getter(same)}({name}))] != {known}: raise miss")
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

    def relation(self, guard) -> str:
        names = [self.variables[id(source)] for source in guard.all_sources()]
        if isinstance(guard, guards.Same):
            return f"{names[0]} is {names[1]}"
        if len(names) == 2:
            return f"{names[0]} is not {names[1]}"
        return f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}"


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
    return type(guard) is guards.Identity or (
        type(guard) is guards.Constant and type(guard.value) in (bool, type(None))
    )


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
