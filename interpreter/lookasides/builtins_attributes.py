"""Builtins that ask or change an object's attributes, and what it is an instance of. They need the machine itself."""
from __future__ import annotations

import types

from interpreter.lookasides.hooks import in_python
from interpreter.lookasides.lent import bind
from interpreter.lookasides.machinery import answered, done, finish
from interpreter.lookasides.registry import lookaside
from interpreter.vm.frame import Frame
from interpreter.vm.hooks import Otherwise, hooked


def names_attribute(args, kwargs):
    """``needed`` of getattr and its kin: the name is a string."""
    return 2 <= len(args) <= 3 and issubclass(type(args[1]), str)


@lookaside(getattr, native=True, needed=names_attribute)
def getattr_(machine, obj, name, /, *default):
    """``obj.<name>``, or the default where that raises AttributeError."""
    if not default:
        return machine.get_attribute(obj, name)
    try:
        outcome = machine.get_attribute(obj, name)
    except AttributeError:
        return default[0]
    if type(outcome) is Frame:
        hooked(outcome, Otherwise(AttributeError, lambda error: default[0]))
    return outcome


@lookaside(hasattr, native=True, needed=names_attribute)
def hasattr_(machine, obj, name, /):
    """Whether ``obj.<name>`` raises AttributeError."""
    try:
        outcome = machine.get_attribute(obj, name)
    except AttributeError:
        return False
    return answered(outcome, True, AttributeError, False)


@lookaside(setattr, native=True, needed=names_attribute)
def setattr_(machine, obj, name, value, /):
    """``obj.<name> = value``."""
    return done(machine.set_attribute(obj, name, value))


@lookaside(delattr, native=True, needed=names_attribute)
def delattr_(machine, obj, name, /):
    """``del obj.<name>``."""
    return done(machine.delete_attribute(obj, name))


def asks(hook):
    """``needed`` of isinstance and issubclass: the class, one in the tuple, or the object answers with Python code."""

    def needed(args, kwargs):
        obj, classinfo = args
        if in_python(type(obj), "__class__"):
            return True
        return type(classinfo) is not type and answers_in_python(classinfo, hook)

    return needed


def answers_in_python(classinfo, hook):
    """Does a class among these answer with Python code? Tuples may lie in one another as deep as they like."""
    waiting = [classinfo]
    while waiting:
        each = waiting.pop()
        kind = type(each)
        if kind is tuple:
            waiting += each
        elif kind is type:
            continue
        elif issubclass(kind, tuple):
            waiting += tuple.__iter__(each)
        elif kind is types.UnionType:
            waiting += each.__args__
        elif in_python(kind, hook) or in_python(kind, "__bases__"):
            return True
    return False


@lookaside(isinstance, native=True, needed=asks("__instancecheck__"))
def isinstance_(machine, obj, classinfo, /):
    """Whether the class, or one of the classes, says that the object is an instance."""
    if type(obj) is classinfo:
        return True
    asked = members(classinfo)
    if asked is not None:
        return any(isinstance_(machine, obj, each) for each in asked)
    if in_python(type(classinfo), "__instancecheck__"):
        return machine.truth(machine.invoke(bind(classinfo, "__instancecheck__"), obj))
    if type(classinfo) is type and in_python(type(obj), "__class__") and not issubclass(type(obj), classinfo):
        told = finish(machine, machine.get_attribute(obj, "__class__"))
        return isinstance(told, type) and issubclass(told, classinfo)
    return machine.original(isinstance, [obj, classinfo])


@lookaside(issubclass, native=True, needed=asks("__subclasscheck__"))
def issubclass_(machine, cls, classinfo, /):
    """Whether the class, or one of the classes, says that ``cls`` is derived from it."""
    asked = members(classinfo)
    if asked is not None:
        return any(issubclass_(machine, cls, each) for each in asked)
    if in_python(type(classinfo), "__subclasscheck__"):
        return machine.truth(machine.invoke(bind(classinfo, "__subclasscheck__"), cls))
    return machine.original(issubclass, [cls, classinfo])


def members(classinfo):
    """The classes in a tuple, or in a union of nothing but classes; None for anything else."""
    if issubclass(type(classinfo), tuple):
        return classinfo
    if type(classinfo) is types.UnionType and all(issubclass(type(each), type) for each in classinfo.__args__):
        return classinfo.__args__
    return None
