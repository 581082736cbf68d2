"""Guards laid out as a tree of sources: each path is walked once, and what is asked of one value stands together.

A source is only walked when the guards of those above it hold, since a node comes before its children.
"""

from __future__ import annotations

from torch._C._dynamo.guards import TensorGuards

from interpreter.recording import guards
from interpreter.recording.guards import Guard
from interpreter.recording.sources import Source


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
        """Whether nothing but its own guards is asked of it."""
        return not self.children and not self.wanted


class Layout:
    """The tree of all guards of an entry; `order` has each node after its parent.

    `call` and `state` are the guards of how the callable is called and of torch's global state, `relations` those
    between sources, `tensors` those of tensors, which `tensor_check(*values)` checks in one call of torch's C code
    (dimensions that may change have free strides too).
    """

    def __init__(self, checked: list[Guard], inputs: list[Source]):
        self.order: list[Node] = []
        self.nodes: dict[int, Node] = {}
        self.roots: list[Node] = []
        self.inputs = inputs
        self.call: guards.Call | None = None
        self.state: guards.GlobalState | None = None
        self.relations: list[Guard] = []
        self.tensors: list[guards.Tensor] = []
        for guard in checked:
            self.place(guard)
        for source in inputs:
            self.node(source).wanted = True
        self.tensor_check = self.tensor_checker() if self.tensors else None

    def node(self, source: Source) -> Node:
        """The node of a source, made with those above it where there is none yet."""
        node = self.nodes.get(id(source))
        if node is None:
            parent = source.parent
            above = self.node(parent).children if parent is not None else self.roots
            node = self.nodes[id(source)] = Node(source)
            above.append(node)
            self.order.append(node)
        return node

    def place(self, guard: Guard):
        kind = type(guard)
        if kind is guards.Call:
            self.call = guard
        elif kind is guards.GlobalState:
            self.state = guard
        elif kind is guards.Tensor:
            self.node(guard.source).wanted = True
            self.tensors.append(guard)
        elif kind is guards.Same or kind is guards.Distinct:
            for source in guard.all_sources():
                self.node(source).wanted = True
            self.relations.append(guard)
        else:
            self.node(guard.source).guards.append(guard)

    def tensor_checker(self):
        values = [guard.value for guard in self.tensors]
        sizes = [[None if i in guard.dynamic else n for i, n in enumerate(guard.shape)] for guard in self.tensors]
        strides = [[None] * len(guard.strides) if guard.dynamic else guard.strides for guard in self.tensors]
        checker = TensorGuards(*values, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)
        for guard in self.tensors:
            guard.forget()
        return checker.check
