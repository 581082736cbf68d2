"""A recorded chain of operations on fake tensors: what each value is like, without computing it.

Compilers need examples of a graph's inputs, and partitioning needs to know which values are one object, which share
memory and which need gradients. Torch's fake tensors tell all of it, symbolic sizes included: a size that the
prologue leaves free is a symbol, one that depends on data is an unbacked symbol. Checks on sizes that follow from
the inputs become conditions on the symbols (`conditions`), so that the stretches before and after them can be one
graph.
"""

from __future__ import annotations

import contextlib
import re
import threading
import warnings

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import LocalSource
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx.experimental.symbolic_shapes import (
    SYMPY_INTERP,
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
    free_unbacked_symbols,
    statically_known_true,
)

from interpreter.executors.fake_values import (
    SYMBOLIC,
    UNKNOWN,
    call,
    first_line,
    is_strided,
    memory,
    tensors_in,
    versions,
)
from interpreter.executors.gradients import Gradients
from interpreter.executors.graphable import (
    EXTREMES,
    NORMS,
    SIZES,
    effectful,
    is_extreme,
    is_number_function,
    is_switch,
    is_torch,
    may_be_in_graph,
)
from interpreter.recording.operations import Build, Check, Input, Operation, Ref, leaves
from interpreter.recording.switches import INFERENCE, entering, leaving
from interpreter.recording.torch_calls import PLAIN_CLASSES, mutates, plain_name

ASKING = {"item", "__int__", "__index__"}
SHORT = 8


class Unfit(Exception):
    """A program, or a stretch of it, can't be given to a compiler: the message says why."""


class Inference:
    """Inference mode as operations enter and leave it, for a compiler: a mode without gradients."""

    def __init__(self):
        self.modes: dict[int, bool] = {}
        self.before: list[bool] = []

    def do(self, operation: Operation) -> bool:
        """Enter or leave, if that is what the operation does. Whether it is about inference mode at all."""
        if operation.function is INFERENCE:
            self.modes[operation.index] = bool(operation.args[0] if operation.args else True)
        elif operation.function is entering:
            self.before.append(torch.is_grad_enabled())
            torch.set_grad_enabled(not self.modes[operation.args[0].index])
        elif operation.function is leaving:
            torch.set_grad_enabled(self.before.pop())
        else:
            return False
        return True


class Fakes:
    """Fake values of the inputs and of the results of operations, by identity of the source and by index."""

    def __init__(self):
        self.shape_env = ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
        self.mode = FakeTensorMode(shape_env=self.shape_env, allow_non_fake_inputs=False)
        self.inputs: dict = {}
        self.values: dict[int, object] = {}
        self.in_graph: dict[int, bool] = {}
        self.reasons: dict[int, str] = {}
        self.written: dict[int, list] = {}
        self.spoiled: set = set()
        self.gradients = Gradients()
        self.left_out: Operation | None = None  # the first that a graph could hold, were it known what it is given
        self.operations: dict[int, Operation] = {}
        self.examples: dict = {}
        self.dirty: set = set()  # memory of inputs that the operations so far write to
        self.asked: list[tuple[Operation, list[Operation]]] = []
        self.symbolic: list[tuple[str, object]] = []
        self.inference = Inference()
        self.idle: set[int] = set()  # switches of a mode to what it is already

    # Inputs

    def add_input(self, identity, example, dynamic=frozenset(), changing=False):
        """An input like `example`; `dynamic` are its free dimensions, `changing` marks an int that isn't guarded by
        value."""
        source = LocalSource(f"t{len(self.inputs)}")
        self.examples[identity] = example
        if isinstance(example, torch.Tensor):
            made = self.fake_tensor(example, source, dynamic)
            if dynamic:
                self.symbolic.append((source.local_name, made))
        elif type(example) is int and changing:
            made = self.shape_env.create_unspecified_symint_and_symbol(example, source, DimDynamic.DYNAMIC)
            self.symbolic.append((source.local_name, made))
        else:
            made = UNKNOWN
        self.inputs[identity] = made
        self.gradients.note(-1, made)

    def fake_tensor(self, example, source, dynamic):
        if type(example) not in PLAIN_CLASSES or example.layout is not torch.strided or example.is_quantized:
            return UNKNOWN
        if not dynamic:
            return self.mode.from_tensor(example, static_shapes=True, source=source)
        sizes = [DimDynamic.DYNAMIC if i in dynamic else DimDynamic.STATIC for i in range(example.dim())]
        base = None
        if example._is_view():
            base = StatelessSymbolicContext([DimDynamic.DYNAMIC] * example._base.dim())
        context = StatelessSymbolicContext(sizes, view_base_context=base)
        return self.mode.from_tensor(example, source=source, symbolic_context=context)

    # Operations

    def context(self):
        """In which fake operations run: warnings were given when the call was recorded."""
        return _Fake(self)

    def do(self, operation: Operation):
        """Take one operation: its fake result, whether a graph can hold it, and what it writes to."""
        function = operation.function
        index = operation.index
        self.operations[index] = operation
        self.values[index] = UNKNOWN
        self.in_graph[index] = False
        if self.inference.do(operation):
            return
        if is_switch(function):
            grad = torch.is_grad_enabled()
            function(*operation.args, **operation.kwargs)
            if function is torch._C._set_grad_enabled and torch.is_grad_enabled() is grad:
                self.idle.add(index)
            self.values[index] = None
            return
        if not (is_torch(function) or is_number_function(function) or operation.number or operation.element):
            self.reasons[index] = "it is no function of torch"
            self.spoil(operation)
            return
        try:
            args = tuple(map(self.value, operation.args))
            kwargs = {key: self.value(part) for key, part in operation.kwargs.items()}
            if any(type(each) in SYMBOLIC for each in args):  # for which a truth is no number
                args = tuple(int(each) if type(each) is bool else each for each in args)
        except Unfit as reason:
            self.reasons[index] = str(reason)
            self.left_out = self.left_out or (operation if may_be_in_graph(operation) else None)
            self.spoil(operation)
            return
        if plain_name(function) in ASKING and self.ask(operation):
            return
        before = versions(args, kwargs)
        try:
            result = call(EXTREMES[function] if is_extreme(operation) else function, args, kwargs)
        except Exception as error:
            self.reasons[index] = f"{type(error).__name__} on fake tensors: {first_line(error)}"
            self.spoil(operation)
            return
        self.values[index] = result
        self.written[index] = [value for value, version, _ in before if value._version != version]
        self.gradients.note(index, [args, kwargs, result])
        alike = self.gradients.follow(index, before, [*self.inputs.values(), *self.values.values()])
        if plain_name(function) in NORMS:
            self.written[index] += [value for value in args[3:5] if isinstance(value, torch.Tensor)]
        self.dirty.update(memory(value) for value in self.written[index])
        if not alike:
            self.reasons[index] = "it writes to memory that tensors with and without a gradient share"
        self.in_graph[index] = alike and may_be_in_graph(operation) and self.fits(operation, result)

    def holds(self, operation) -> bool:
        """Whether a graph can hold an operation: an element only together with what it is an element of."""
        return self.in_graph[operation.index] and not (
            operation.element and not self.in_graph[operation.args[0].index]
        )

    # Numbers that Python asks of inputs

    def ask(self, operation: Operation) -> bool:
        """A number that is computed from inputs alone, in a few operations, can be asked before anything else is
        done: conditions on it are conditions on the inputs. False where it can't be; else its value is a symbol with
        the number's present value as an example."""
        needed = self.slice(operation)
        if needed is None or free_unbacked_symbols([value for value in self.inputs.values() if value is not UNKNOWN]):
            return False
        try:
            with unset_fake_temporarily():
                value = self.real(needed)
        except Exception:
            return False
        if type(value) is not int:
            return False
        source = LocalSource(f"t{len(self.inputs) + len(self.asked)}")
        made = self.shape_env.create_unspecified_symint_and_symbol(value, source, DimDynamic.DYNAMIC)
        self.values[operation.index] = made
        self.symbolic.append((source.local_name, made))
        self.asked.append((operation, needed))
        return True

    def slice(self, operation: Operation) -> list[Operation] | None:
        """The operations that lead from inputs to a result, in order; None where they are many, change anything or read
        what has been changed."""
        needed, queue = {}, [operation]
        while queue:
            each = queue.pop()
            if each.index in needed:
                continue
            needed[each.index] = each
            if (
                len(needed) > SHORT
                or effectful(each)
                or self.written.get(each.index)
                or not is_torch(each.function)
                and not each.element
            ):
                return None
            for part in leaves(each.args, each.kwargs):
                if type(part) is Ref:
                    queue.append(self.operations[part.index])
                elif any(
                    memory(value) in self.dirty | self.spoiled
                    for value in tensors_in(self.inputs.get(part.source.identity()))
                ):
                    return None
        return [needed[index] for index in sorted(needed)]

    def real(self, operations: list[Operation]):
        """The last result of operations on the examples themselves."""
        values: dict = {}

        def value(template):
            kind = type(template)
            if kind is Ref:
                return values[template.index]
            if kind is Input:
                return self.examples[template.source.identity()]
            if kind is Build:
                return self.build(template, value)
            return template

        for operation in operations:
            args = tuple(map(value, operation.args))
            values[operation.index] = call(
                operation.function, args, {key: value(part) for key, part in operation.kwargs.items()}
            )
        return values[operations[-1].index]

    def spoil(self, operation):
        """What an operation that was not done on fakes may have changed is no longer known: it may need gradients now,
        for one."""
        if operation.function is print or operation.number:
            return
        changed = (operation.args, operation.kwargs)
        if is_torch(operation.function):
            if not mutates(operation.function, operation.kwargs):
                return
            changed = operation.kwargs.get("out", operation.args[:1])
        for template in leaves(changed):
            try:
                value = self.value(template)
            except Unfit:
                continue
            self.spoiled.update(memory(tensor) for tensor in tensors_in(value))
            if is_torch(operation.function):
                self.written.setdefault(operation.index, []).extend(tensors_in(value))
                self.dirty.update(memory(tensor) for tensor in tensors_in(value))

    def fits(self, operation, result) -> bool:
        if type(result) in SYMBOLIC or type(result) is int or type(result) is torch.Size:
            return (operation.number or operation.function in SIZES) and type(result) in (int, torch.SymInt)
        return result is None or is_strided(result)

    def value(self, template):
        """The fake that a template stands for. Raises Unfit where it isn't known."""
        kind = type(template)
        if kind is Ref or kind is Input:
            found = self.known(template)
            if found is UNKNOWN or (
                self.spoiled and any(memory(tensor) in self.spoiled for tensor in tensors_in(found))
            ):
                raise Unfit(f"{template} is not known before it runs")
            return found
        return self.build(template, self.value) if kind is Build else template

    def known(self, template):
        """The fake that a Ref or an Input stood for when it was taken, whatever became of it since; or UNKNOWN."""
        if type(template) is Ref:
            return self.values.get(template.index, UNKNOWN)
        return self.inputs.get(template.source.identity(), UNKNOWN)

    def build(self, template, value):
        """The container that a template stands for, from what `value` gives for its parts."""
        if template.kind is dict:
            return {pair.parts[0]: value(pair.parts[1]) for pair in template.parts}
        parts = [value(part) for part in template.parts]
        if template.kind is slice:
            return slice(*parts)
        if template.kind in (list, tuple, torch.Size):
            return parts if template.kind is list else tuple(parts)
        raise Unfit(f"a {getattr(template.kind, '__name__', template.kind)} among the arguments")

    # Checks

    def implied(self, check: Check, answer) -> bool:
        """Whether an answer follows from the inputs' guards, perhaps with a condition on free sizes that is noted."""
        try:
            value = self.value(check.value)
        except Unfit:
            return False
        if isinstance(value, (torch.Tensor, list, tuple, dict)):
            return False
        if type(value) not in SYMBOLIC:
            return type(value) is type(answer) and value == answer
        if free_unbacked_symbols(
            value
        ):  # it depends on data: unless it is so for all data only the call itself can tell
            return type(value) is torch.SymBool and statically_known_true(value if answer else torch.sym_not(value))
        return (bool(value) if type(answer) is bool else value) == answer

    def conditions(self):
        """Two functions: `holds(inputs)`, whether all that was assumed about free sizes is so, and `agrees(inputs
        and asked numbers)`, the same about asked numbers. None where nothing was assumed."""
        if not self.symbolic:
            return None, None
        texts = self.shape_env.produce_guards(  # not ignored: that a free size was taken to be one number
            [made for _, made in self.symbolic], [LocalSource(name) for name, _ in self.symbolic], ignore_static=False
        )
        asked = {str(len(self.inputs) + number) for number in range(len(self.asked))}
        on_sizes, on_numbers = [], []
        for text in dict.fromkeys(text for text in texts if "storage_offset" not in text):
            names = set(re.findall(r"L\['t(\d+)'\]", text))
            (on_numbers if names & asked else on_sizes).append(
                "(" + re.sub(r"L\['t(\d+)'\]", r"inputs[\1]", text) + ")"
            )
        return condition(on_sizes), condition(on_numbers)

    def fresh(self, fake, index):
        """An example input like what a fake was when the operation at `index` had been done, with no history."""
        if not isinstance(fake, torch.Tensor):
            return fake
        with self.mode:
            made = torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device=fake.device)
        return made.requires_grad_(self.gradients.needed(fake, index))


def condition(texts):
    """A function of a tuple from the texts of what must hold of its items."""
    return eval(f"lambda inputs: {' and '.join(texts)}", dict(SYMPY_INTERP)) if texts else None


@contextlib.contextmanager
def quiet():
    """Without warnings. Their filters are the whole process's: in a thread of our own they are left alone, or those
    that the user's code sets meanwhile would be lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Fake:
    """The context in which operations are done on fakes."""

    def __init__(self, fakes: Fakes):
        self.parts = (
            quiet(),
            fakes.shape_env.ignore_fresh_unbacked_symbols(),
            fakes.mode,
            enable_python_dispatcher(),
        )

    def __enter__(self):
        for part in self.parts:
            part.__enter__()

    def __exit__(self, *error):
        for part in reversed(self.parts):
            part.__exit__(*error)
