"""Operations as `fx.GraphModule`s: for compilers, and for people who want to look."""

from __future__ import annotations

import contextlib
import operator

import torch
from torch import fx

from interpreter.executors.graphable import EXTREMES, is_extreme
from interpreter.recording.operations import Build, Input, Operation, Ref, refs_of
from interpreter.recording.program import Segment
from interpreter.recording.torch_calls import is_getter, plain_name

SPECIAL = {"__getitem__": operator.getitem, "__setitem__": operator.setitem}


class GraphWriter:
    """Builds a graph: a placeholder for each template of `takes`, a node for each operation."""

    def __init__(self, takes: list):
        self.graph = fx.Graph()
        self.inputs: dict = {}
        self.values: dict[int, fx.Node] = {}
        for number, template in enumerate(takes):
            if type(template) is Ref:
                self.values[template.index] = self.graph.placeholder(f"value_{template.index}")
            else:
                node = self.inputs[template.source.identity()] = self.graph.placeholder(f"input_{number}")
                node.meta["source"] = str(template.source)

    def write(self, operations: list[Operation], gives: list[int]) -> fx.GraphModule:
        """The graph of the operations, whose output is the tuple of the results `gives`. Raises NoGraph."""
        for operation in operations:
            self.values[operation.index] = self.operation(operation)
        self.graph.output(tuple(self.values[index] for index in gives))
        module = fx.GraphModule(torch.nn.Module(), self.graph)
        module.meta["sources"] = [
            node.meta.get("source", node.name) for node in self.graph.find_nodes(op="placeholder")
        ]
        return module

    def operation(self, operation) -> fx.Node:
        function = operation.function
        args = tuple(map(self.argument, operation.args))
        kwargs = {key: self.argument(part) for key, part in operation.kwargs.items()}
        name = plain_name(function)
        if is_extreme(operation):
            return self.graph.call_function(EXTREMES[function], args)
        if is_getter(function):
            return self.graph.call_function(getattr, (args[0], name))
        if getattr(torch.Tensor, name, None) is function:
            if name in SPECIAL:
                return self.graph.call_function(SPECIAL[name], args, kwargs)
            return self.graph.call_method(name, args, kwargs)
        if type(function).__name__ == "method-wrapper":
            return self.graph.call_function(setattr, (args[0], name, args[1]))
        return self.graph.call_function(function, args, kwargs)

    def argument(self, template):
        kind = type(template)
        if kind is Ref:
            return self.values[template.index]
        if kind is Input:
            return self.inputs[template.source.identity()]
        if kind is Build:
            if template.kind is dict:
                return {self.argument(pair.parts[0]): self.argument(pair.parts[1]) for pair in template.parts}
            parts = [self.argument(part) for part in template.parts]
            if template.kind is list:
                return parts
            if template.kind in (tuple, torch.Size):
                return tuple(parts)
            if template.kind is slice:
                return slice(*parts)
            raise NoGraph(f"an argument of the type {template.kind} can't be shown in a graph")
        return template


class NoGraph(Exception):
    """Operations that an fx graph can't hold; the eager executor runs them all the same."""


def graphs_of(segments) -> list[fx.GraphModule]:
    """The graphs of those segments that a graph can show."""
    found = []
    for segment in segments:
        with contextlib.suppress(NoGraph):
            found.append(graph_of(segment))
    return found


def graph_of(segment: Segment) -> fx.GraphModule:
    """The graph of a segment; its output is what is used after it. Raises NoGraph."""
    inside = {operation.index for operation in segment.operations}
    outputs = list(dict.fromkeys(refs_of(segment.ends_in())))
    used = [index for operation in segment.operations for index in operation.uses()]
    takes = [Input(source) for source in segment.inputs().values()]
    takes += [Ref(index) for index in dict.fromkeys([*used, *outputs]) if index not in inside]
    return GraphWriter(takes).write(segment.operations, outputs)
