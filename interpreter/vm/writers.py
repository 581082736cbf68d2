"""What the instructions of a superblock write into its function: the quick ways of their handlers."""

import keyword
from types import MethodType

from .emitting import NAMESPACE, Unfit, emits
from .instructions import jumps, names, operators, shortcuts, stack, stepping
from .instructions.operators import SIMPLE
from .instructions.shortcuts import ATOMS, CONTAINERS, ITERATORS
from .registry import VERSION
from .values import NULL

TRUTHY = SIMPLE | {type(None), list, tuple, dict, set, frozenset}
"""Exact types whose truth runs no Python code."""
HASHED = frozenset((str, dict, set, frozenset))
MUTABLE = frozenset((list, dict))
NAMESPACE.update(
    ATOMS=ATOMS, CONTAINERS=CONTAINERS, HASHED=HASHED, ITERATORS=ITERATORS, MUTABLE=MUTABLE, SIMPLE=SIMPLE,
    TRUTHY=TRUTHY, MethodType=MethodType, dict=dict, id=id, len=len, next=next, tuple=tuple, type=type,
)  # fmt: skip


@emits(stack.LOAD_FAST)
def load_fast(emit, index):
    text = f"fast[{index}]"
    if VERSION < (3, 12) and index not in emit.sure:
        emit.unless(f"{text} is not NULL")
        emit.sure.add(index)
    emit.push(text, simple=text in emit.simple)


@emits(stack.LOAD_FAST_LOAD_FAST)
def load_two(emit, pair):
    load_fast(emit, pair[0])
    load_fast(emit, pair[1])


@emits(stack.LOAD_CONST)
def load_const(emit, value):
    emit.push(emit.constant(value), simple=type(value) in SIMPLE, truth=type(value) is bool, constant=value)


@emits(stack.STORE_FAST)
def store_fast(emit, index):
    (value,) = emit.top(1)
    text = f"fast[{index}]"
    if value.text == text:
        emit.drop(1)
        return
    for below in emit.values[:-1]:
        if below.text == text:  # its old value is still in use
            name = emit.fresh()
            emit.line(f"{name} = {text}")
            for each in emit.values[:-1]:
                if each.text == text:
                    each.text = name
            break
    emit.line(f"{text} = {value.text}" + emit.drop(1))
    emit.sure.add(index)
    emit.kinds.pop(text, None)
    if value.simple:
        emit.simple.add(text)
    else:
        emit.simple.discard(text)


@emits(stack.STORE_FAST_STORE_FAST)
def store_two(emit, pair):
    store_fast(emit, pair[0])
    store_fast(emit, pair[1])


@emits(stack.STORE_FAST_LOAD_FAST)
def store_and_load(emit, pair):
    store_fast(emit, pair[0])
    load_fast(emit, pair[1])


@emits(stack.POP_TOP)
def pop_top(emit, operand):
    emit.need(1)
    cleared = emit.drop(1)
    if cleared:
        emit.line(cleared[2:])


@emits(stack.PUSH_NULL)
def push_null(emit, operand):
    emit.push("NULL", constant=NULL)


@emits(stack.COPY)
def copy(emit, depth):
    value = emit.top(depth)[0]
    emit.push(value.text, value.simple, value.truth, value.constant)


@emits(stack.SWAP)
def swap(emit, depth):
    emit.need(depth)
    values = emit.values
    values[-1], values[-depth] = values[-depth], values[-1]


@emits(names.quick_load_global)
def load_global(emit, operand):
    name, flag = operand
    if not name.isidentifier():
        raise Unfit
    key, result = repr(name), emit.fresh()
    if not emit.spaces:
        emit.unless("type(frame.globals) is dict and type(frame.builtins) is dict")
        emit.spaces = True
    emit.line("g = frame.globals")
    emit.line(f"if {key} in g: {result} = g[{key}]")
    emit.line("else:")
    emit.line("g = frame.builtins", 2)
    emit.line(f"if {key} not in g: return block.leave(frame, {emit.position}, {emit.tuple()})", 2)
    emit.line(f"{result} = g[{key}]", 2)
    if flag and VERSION < (3, 13):
        push_null(emit, None)
    emit.push(result)
    if flag and VERSION >= (3, 13):
        push_null(emit, None)


@emits(names.LOAD_DEREF)
def load_deref(emit, operand):
    index, name = operand
    result = emit.fresh()
    emit.line(f"{result} = frame.machine.load_cell(frame, fast[{index}], {name!r})")
    emit.push(result)


@emits(operators.BINARY_OP, stepping.step_binary)
def binary_op(emit, operand):
    symbol = operand[0]
    left, right = emit.top(2)
    emit.check_simple(left, right)
    if symbol.endswith("="):
        emit.drop(2)
        name = emit.fresh(right.text)
        if name != left.text:
            emit.line(f"{name} = {left.text}")
        emit.line(f"{name} {symbol} {right.text}")
        emit.push(name, simple=True)
    else:
        emit.result(f"{left.text} {symbol} {right.text}", 2, simple=True)


@emits(operators.COMPARE_OP, stepping.step_compare)
def compare_op(emit, operand):
    left, right = emit.top(2)
    emit.check_simple(left, right)
    emit.result(f"{left.text} {operand[0]} {right.text}", 2, truth=True)


@emits(operators.IS_OP)
def is_op(emit, inverted):
    left, right = emit.top(2)
    emit.result(f"{left.text} {'is not' if inverted else 'is'} {right.text}", 2, truth=True)


@emits(shortcuts.quick_contains)
def contains_op(emit, inverted):
    item, container = emit.top(2)
    constant = container.constant
    if not (type(constant) is tuple and ATOMS.issuperset(map(type, constant))):
        emit.unless(f"type({item.text}) in ATOMS and type({container.text}) in HASHED")
    elif not item.simple:
        emit.unless(f"type({item.text}) in ATOMS")
    emit.result(f"{item.text} {'not in' if inverted else 'in'} {container.text}", 2, truth=True)


@emits(operators.UNARY_NOT)
def unary_not(emit, operand):
    (value,) = emit.top(1)
    check_truth(emit, value)
    emit.result(f"not {value.text}", 1, truth=True)


def check_truth(emit, value):
    if not value.simple:
        emit.unless(f"type({value.text}) in TRUTHY")


def is_name(name):
    return name.isidentifier() and not keyword.iskeyword(name)


@emits(*([shortcuts.quick_load_attr] if VERSION < (3, 12) else [shortcuts.quick_load_attr_or_method]))
def load_attr(emit, memory):
    if VERSION >= (3, 12) and memory[4]:
        load_method(emit, memory)
        return
    (value,) = emit.top(1)
    if not is_name(memory[0]):
        raise Unfit
    emit.check_kind(value, memory[1])
    emit.result(f"{value.text}.{memory[0]}", 1)


@emits(shortcuts.quick_load_method)
def load_method(emit, memory):
    (value,) = emit.top(1)
    name, function, found = memory[0], memory[1], memory[2]
    if not is_name(name):
        raise Unfit
    emit.check_kind(value, function or found)
    if function:
        emit.result(f"{value.text}.{name}", 1)
        bound = emit.values.pop().text
        other = emit.fresh(bound)
        emit.line(f"if type({bound}) is MethodType: {other} = {bound}.__self__; {bound} = {bound}.__func__")
        if VERSION < (3, 13):
            emit.line(f"else: {other} = {bound}; {bound} = NULL")
        else:
            emit.line(f"else: {other} = NULL")
        emit.push(bound)
        emit.push(other)
    else:
        value = emit.values.pop()
        emit.push(emit.constant(memory[3]))
        emit.values.append(value)


@emits(shortcuts.quick_store_attr)
def store_attr(emit, memory):
    value, obj = emit.top(2)
    if not is_name(memory[0]):
        raise Unfit
    emit.check_kind(obj, memory[1])
    emit.line(f"{obj.text}.{memory[0]} = {value.text}" + emit.drop(2))


@emits(shortcuts.quick_subscript)
def subscript(emit, operand):
    obj, key = emit.top(2)
    emit.unless(f"type({obj.text}) in CONTAINERS")
    emit.result(f"{obj.text}[{key.text}]", 2)


@emits(shortcuts.quick_store_subscript)
def store_subscript(emit, operand):
    value, obj, key = emit.top(3)
    emit.unless(f"type({obj.text}) in MUTABLE")
    emit.line(f"{obj.text}[{key.text}] = {value.text}" + emit.drop(3))


@emits(shortcuts.quick_unpack)
def unpack_sequence(emit, count):
    (value,) = emit.top(1)
    if not count:
        raise Unfit
    emit.unless(f"type({value.text}) is tuple and len({value.text}) == {count}")
    cleared = emit.drop(1)
    for _ in range(count):
        emit.push(emit.fresh())
    targets = "".join(f"{each.text}, " for each in reversed(emit.values[-count:]))
    for each in emit.values[-count:]:
        cleared = cleared.replace(f"; {each.text} = None", "")
    emit.line(f"{targets}= {value.text}{cleared}")


@emits(shortcuts.quick_for_iter, first=True)
def for_iter(emit, operand):
    target, ticks, _ = operand
    emit.line("t0 = stack[-1]")
    emit.unless("type(t0) in ITERATORS")
    emit.line("t0 = next(t0, NULL)")
    emit.line("if t0 is NULL:")
    emit.line("stack.pop()", 2)
    emit.jump(target, ticks, 2)
    emit.push("t0")


@emits(jumps.JUMP, last=True)
def jump(emit, operand):
    emit.jump(*operand)
    emit.open = False


def conditional(emit, operand, test):
    """Jump if a condition on the value that is popped holds."""
    text = emit.values[-1].text
    cleared = emit.drop(1)
    emit.line(f"if {test.format(text)}:")
    emit.jump(*operand, indent=2)
    if cleared:
        emit.line(cleared[2:])


@emits(jumps.POP_JUMP_IF_TRUE)
def pop_jump_if_true(emit, operand):
    check_truth(emit, *emit.top(1))
    conditional(emit, operand, "{}")


@emits(jumps.POP_JUMP_IF_FALSE)
def pop_jump_if_false(emit, operand):
    check_truth(emit, *emit.top(1))
    conditional(emit, operand, "not {}")


@emits(jumps.POP_JUMP_IF_NONE)
def pop_jump_if_none(emit, operand):
    emit.need(1)
    conditional(emit, operand, "{} is None")


@emits(jumps.POP_JUMP_IF_NOT_NONE)
def pop_jump_if_not_none(emit, operand):
    emit.need(1)
    conditional(emit, operand, "{} is not None")


@emits(shortcuts.quick_return, last=True)
def return_value(emit, passed):
    (value,) = emit.top(1)
    if len(emit.values) > 1:
        raise Unfit
    emit.unless("frame.hook is None and frame.state is None and frame.shown is None")
    emit.line(f"frame.machine.stats.instructions += frame.ticks + {passed}")
    emit.line("back = frame.back")
    emit.line(f"back.stack.append({value.text})")
    emit.line("fast.reverse()")
    emit.line("return back")
    emit.open = False
