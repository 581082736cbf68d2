"""The eager executor: the operations of a segment in order, as one generated Python function.

`run(inputs, values)` does what the recorded stretch did, on other tensors: torch is called with the same functions,
autograd records as usual, and a value is dropped after its last use, so that no more memory is held than eager holds.
Where the call may have to be taken up in the middle by the interpreter (`logged`), each result is also put into
`values`, under the number of its operation.
"""

from __future__ import annotations

import types

from interpreter.recording.arithmetic import may_raise
from interpreter.recording.naming import Binder
from interpreter.recording.operations import Build, Input, Operation, Ref, refs_of
from interpreter.recording.results import Plan, tuple_of
from interpreter.recording.torch_calls import is_getter, plain_name

INLINE = (list, tuple, dict, slice)


def droppable(operation) -> bool:
    """Whether an operation whose result nobody uses may be left out."""
    return operation.element or operation.number and not may_raise(operation)


class Writer:
    """Writes the function of one segment."""

    def __init__(self, segment, inputs: dict, logged: bool):
        self.segment = segment
        self.inputs = inputs
        self.logged = logged
        self.names: dict = {"slice": slice, "tuple_of": tuple_of, "set": set}
        self.binder = Binder(self.names)
        self.used_inputs: set[int] = set()
        self.defined: dict[int, str] = {}  # result -> its variable
        self.head: list[str] = []
        self.lines: list[str] = []
        self.last: dict[int, int] = {}

    def write(self):
        """The text of `run(inputs, values)`."""
        segment = self.segment
        needed = self.needed_values()
        plan = Plan(self.binder.bind, self.value, self.input)
        for position, operation in enumerate(segment.operations):
            if operation.index not in needed and droppable(operation) and not self.logged:
                continue
            self.operation(operation, position, needed)
        if segment.check is not None:
            self.lines.append(f"return {self.template(segment.check.value, plan)}")
        else:
            result = plan.expression(segment.result)
            writes = [(write, [plan.expression(part) for part in write.templates]) for write in segment.writes]
            self.lines.extend(plan.lines)
            for write, parts in writes:
                self.lines.append(f"{self.binder.bind(write.function)}({', '.join(parts)})")
            self.lines.append(f"return {result}")
        order = sorted(self.used_inputs)
        unpack = [f"i{number} = inputs[{number}]" for number in order]
        if len(order) > 2:
            listed = ", ".join(f"i{n}" if n in self.used_inputs else "_" for n in range(order[-1] + 1))
            unpack = [f"{listed}, *_ = inputs" if len(self.inputs) > order[-1] + 1 else f"{listed} = inputs"]
        body = "\n    ".join([*unpack, *self.head, *self.lines])
        return f"def run(inputs, values):\n    {body}\n"

    def needed_values(self) -> set[int]:
        """Which results somebody uses; notes after which operation each is used last."""
        segment = self.segment
        needed: set[int] = set()
        end = len(segment.operations)
        for index in refs_of(segment.ends_in()):
            needed.add(index)
            self.last[index] = end
        for position in range(end - 1, -1, -1):
            operation = segment.operations[position]
            if operation.index not in needed and droppable(operation):
                continue
            for index in operation.uses():
                if index not in self.last:
                    self.last[index] = position
                needed.add(index)
        return needed

    def operation(self, operation: Operation, position: int, needed):
        """One line. The result takes the variable of an argument that dies here, which frees that argument; other dead
        ones are deleted.
        """
        code = self.call(operation)
        dead: list[str] = []
        if not self.logged:
            dead = [
                self.defined[index]
                for index in dict.fromkeys(operation.uses())
                if self.last[index] == position and index in self.defined
            ]
        if operation.index in needed or self.logged:
            name = dead.pop(0) if dead else f"v{operation.index}"
            self.defined[operation.index] = name
            self.lines.append(f"{name} = {code}")
            if self.logged:
                self.lines.append(f"values[{operation.index}] = {name}")
        else:
            self.lines.append(code)
        if dead:
            self.lines.append("del " + ", ".join(dead))

    def call(self, operation: Operation) -> str:
        function = operation.function
        args = [self.argument(part) for part in operation.args]
        if is_getter(function):
            return f"{args[0]}.{plain_name(function)}"
        if len(args) == 2 and plain_name(function) == "__getitem__" or operation.element:
            return f"{args[0]}[{self.subscript(operation.args[1], args[1])}]"
        named = [f"{key}={self.argument(part)}" for key, part in operation.kwargs.items()]
        return f"{self.binder.bind(function)}({', '.join([*args, *named])})"

    def subscript(self, template, code: str) -> str:
        """What stands between the brackets: slices in their own notation, which Python turns into constants."""
        if type(template) is not Build:
            return code
        if template.kind is slice:
            start, stop, step = ("" if part is None else self.argument(part) for part in template.parts)
            return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
        if template.kind is tuple and template.parts:
            parts = [self.subscript(part, self.argument(part)) for part in template.parts]
            return ", ".join(parts) + ("," if len(parts) == 1 else "")
        return code

    def argument(self, template) -> str:
        if type(template) is Build and template.kind in INLINE:
            if template.kind is dict:
                return (
                    "{"
                    + ", ".join(f"{pair.parts[0]!r}: {self.argument(pair.parts[1])}" for pair in template.parts)
                    + "}"
                )
            parts = ", ".join(map(self.argument, template.parts))
            if template.kind is list:
                return f"[{parts}]"
            return (
                f"slice({parts})" if template.kind is slice else f"({parts}{',' if len(template.parts) == 1 else ''})"
            )
        plan = Plan(self.binder.bind, self.value, self.input)
        code = self.template(template, plan)
        self.lines.extend(plan.lines)
        return code

    def template(self, template, plan) -> str:
        if type(template) is Ref:
            return self.value(template.index)
        if type(template) is Input:
            return self.input(template.source)
        if template is Ellipsis:
            return "..."
        if isinstance(template, float) and template == template and abs(template) != float("inf"):
            return repr(template)
        return plan.expression(template)

    def value(self, index: int) -> str:
        name = self.defined.get(index)
        if name is None:
            name = self.defined[index] = f"v{index}"
            self.head.append(f"{name} = values[{index}]")
        return name

    def input(self, source) -> str:
        number = self.inputs[source.identity()]
        self.used_inputs.add(number)
        return f"i{number}"


def lower(segment, inputs: dict, logged: bool):
    """Write the function of a segment; `inputs` maps identities of sources to places in the tuple that the prologue
    returns. It is compiled when it is first called: a program may never be used again.
    """
    writer = Writer(segment, inputs, logged)
    segment.text, names = writer.write(), writer.names

    def first(inputs, values):
        segment.run = compiled(segment.text, names)
        return segment.run(inputs, values)

    segment.run = first


def compiled(text: str, names: dict) -> types.FunctionType:
    """The function `run` of a text, over the constants that it names."""
    space = dict(names)
    exec(compile(text, "<program>", "exec"), space)
    return space.pop("run")
