"""Globals, names of class bodies and modules, cells."""

from ..registry import VERSION, instruction
from ..values import NULL
from .operands import flagged_name, name, slot


@instruction(operand=flagged_name, until=(3, 12))
def LOAD_GLOBAL(frame, operand):
    if operand[1]:
        frame.stack.append(NULL)
    frame.stack.append(frame.machine.load_global(frame, operand[0]))


@instruction("LOAD_GLOBAL", operand=flagged_name, since=(3, 13))
def LOAD_GLOBAL_THEN_NULL(frame, operand):
    frame.stack.append(frame.machine.load_global(frame, operand[0]))
    if operand[1]:
        frame.stack.append(NULL)


@instruction("LOAD_GLOBAL", instead_of=("load_global",))
def quick_load_global(frame, operand):
    name, flag = operand
    space = frame.globals
    if type(space) is not dict:
        value = frame.machine.load_global(frame, name)
    elif name in space:
        value = space[name]
    else:
        space = frame.builtins
        value = space[name] if type(space) is dict and name in space else frame.machine.load_global(frame, name)
    if flag:
        if VERSION < (3, 13):
            frame.stack += NULL, value
        else:
            frame.stack += value, NULL
    else:
        frame.stack.append(value)


@instruction(operand=name)
def STORE_GLOBAL(frame, name):
    frame.machine.store_global(frame, name, frame.stack.pop())


@instruction(operand=name)
def DELETE_GLOBAL(frame, name):
    frame.machine.delete_global(frame, name)


@instruction(operand=name)
def LOAD_NAME(frame, name):
    frame.stack.append(frame.machine.load_name(frame, name))


@instruction(operand=name)
def STORE_NAME(frame, name):
    frame.machine.store_name(frame, name, frame.stack.pop())


@instruction(operand=name)
def DELETE_NAME(frame, name):
    frame.machine.delete_name(frame, name)


@instruction(operand=slot)
def LOAD_DEREF(frame, operand):
    frame.stack.append(frame.machine.load_cell(frame, frame.fast[operand[0]], operand[1]))


@instruction(operand=slot)
def STORE_DEREF(frame, operand):
    frame.machine.store_cell(frame, frame.fast[operand[0]], frame.stack.pop())


@instruction(operand=slot)
def DELETE_DEREF(frame, operand):
    frame.machine.delete_cell(frame, frame.fast[operand[0]], operand[1])


@instruction(operand=slot)
def LOAD_CLASSDEREF(frame, operand):
    """A free variable of a class body: the body's own name first."""
    frame.stack.append(_from_space_or_cell(frame, frame.namespace, operand))


@instruction(operand=slot)
def LOAD_FROM_DICT_OR_DEREF(frame, operand):
    frame.stack[-1] = _from_space_or_cell(frame, frame.stack[-1], operand)


def _from_space_or_cell(frame, space, operand):
    index, name = operand
    try:
        return space[name]
    except KeyError:
        return frame.machine.load_cell(frame, frame.fast[index], name)


@instruction(operand=name)
def LOAD_FROM_DICT_OR_GLOBALS(frame, name):
    space = frame.stack[-1]
    try:
        value = space[name]
    except KeyError:
        value = frame.machine.load_global(frame, name)
    frame.stack[-1] = value


@instruction()
def LOAD_LOCALS(frame, operand):
    if frame.namespace is None:
        raise SystemError("no locals")
    frame.stack.append(frame.namespace)


@instruction()
def SETUP_ANNOTATIONS(frame, operand):
    space = frame.namespace
    try:
        space["__annotations__"]
    except KeyError:
        space["__annotations__"] = {}


@instruction()
def LOAD_BUILD_CLASS(frame, operand):
    try:
        frame.stack.append(frame.builtins["__build_class__"])
    except KeyError:
        raise NameError("__build_class__ not found") from None
