"""Segments as `fx.GraphModule`s: for compilers, and for people who want to look."""

from __future__ import annotations

import operator
import types

import torch
from torch import fx

from interpreter.executors.eager import deep_refs
from interpreter.recording.operations import Build, Input, Ref
from interpreter.recording.program import Segment, inputs_of_segment
from interpreter.recording.torch_calls import is_getter, plain_name

METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
SPECIAL = {"__getitem__": operator.getitem, "__setitem__": operator.setitem}


class GraphWriter:
    """Builds the graph of one segment: placeholders for its inputs and for what earlier segments computed."""

    def __init__(self, segment: Segment, wanted: list[int] | None = None):
        self.segment = segment
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.inputs: dict = {}
        self.values: dict[int, fx.Node] = {}
        self.sources = inputs_of_segment(segment)
        self.outer: list[int] = []
        self.wanted = wanted

    def write(self) -> fx.GraphModule:
        segment = self.segment
        for number, (identity, source) in enumerate(self.sources.items()):
            node = self.graph.placeholder(f"input_{number}")
            node.meta["source"] = str(source)
            self.inputs[identity] = node
        inside = {operation.index for operation in segment.operations}
        used: list[int] = []
        deep_refs([(operation.args, operation.kwargs) for operation in segment.operations], used, set())
        self.outer = [index for index in dict.fromkeys(used) if index not in inside]
        for index in self.outer:
            self.values[index] = self.graph.placeholder(f"value_{index}")
        for operation in segment.operations:
            self.values[operation.index] = self.operation(operation)
        outputs: list[int] = []
        if self.wanted is not None:
            outputs = self.wanted
        elif segment.check is not None:
            deep_refs(segment.check.value, outputs, set())
        else:
            deep_refs((segment.result, *(write.templates for write in segment.writes)), outputs, set())
        self.graph.output(tuple(self.values[index] for index in dict.fromkeys(outputs) if index in self.values))
        module = fx.GraphModule(self.root, self.graph)
        module.meta["sources"] = [str(source) for source in self.sources.values()]
        return module

    def operation(self, operation) -> fx.Node:
        function = operation.function
        args = tuple(map(self.argument, operation.args))
        kwargs = {key: self.argument(part) for key, part in operation.kwargs.items()}
        name = plain_name(function)
        if is_getter(function):
            return self.graph.call_function(getattr, (args[0], name))
        if type(function) in METHODS:
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
            parts = [self.argument(part) for part in template.parts]
            if template.kind is list:
                return parts
            if template.kind in (tuple, torch.Size):
                return tuple(parts)
            if template.kind is slice:
                return slice(*parts)
            if template.kind is dict:
                return dict(parts)
            raise NoGraph(f"an argument of the type {template.kind} can't be shown in a graph")
        return template


class NoGraph(Exception):
    """A segment has something that an fx graph can't hold; the eager executor runs it all the same."""


def graph_of(segment: Segment) -> fx.GraphModule:
    """The graph of a segment; its output is what is used after it."""
    return GraphWriter(segment).write()
