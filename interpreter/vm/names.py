"""Globals, the names of class bodies and modules, cells, and imports."""

import builtins
from contextlib import contextmanager
from types import FunctionType, ModuleType

from .frame import Frame
from .imports import import_submodule
from .values import NULL


def builtins_of(names):
    """The builtins that code with these globals sees, as a mapping."""
    found = dict.get(names, "__builtins__", builtins)
    return found.__dict__ if issubclass(type(found), ModuleType) else found


@contextmanager
def seen_builtins(names, found):
    """While a function is made whose globals name no builtins: they name those that the new function is to see."""
    if dict.__contains__(names, "__builtins__"):
        yield
        return
    dict.__setitem__(names, "__builtins__", found)
    try:
        yield
    finally:
        dict.pop(names, "__builtins__", None)


def new_function(frame, code, name=None, defaults=None, closure=None):
    """A function with the globals and builtins of a frame."""
    if dict.__contains__(frame.globals, "__builtins__"):
        return FunctionType(code, frame.globals, name, defaults, closure)
    with seen_builtins(frame.globals, frame.builtins):
        return FunctionType(code, frame.globals, name, defaults, closure)


class Names:
    """The part of the machine that deals with names."""

    def load_global(self, frame, name):
        space = frame.globals
        if type(space) is dict:
            value = space.get(name, NULL)
            if value is not NULL:
                return value
        else:
            value = subscript(space, name)
            if value is not NULL:
                return value
        value = subscript(frame.builtins, name)
        if value is NULL:
            raise undefined(name)
        return value

    def store_global(self, frame, name, value):
        frame.globals[name] = value

    def delete_global(self, frame, name):
        if frame.globals.pop(name, NULL) is NULL:
            raise undefined(name)

    def load_name(self, frame, name):
        space = frame.namespace
        if type(space) is dict:
            value = space.get(name, NULL)
        else:
            value = self.subscript(space, name)
        if value is not NULL:
            return value
        return self.load_global(frame, name)

    def store_name(self, frame, name, value):
        space = frame.namespace
        if type(space) is dict:
            space[name] = value
        else:
            self.drop(self.set_item(space, name, value))

    def delete_name(self, frame, name):
        missing = False
        try:
            self.drop(self.delete_item(frame.namespace, name))
        except KeyError:
            missing = True
        if missing:
            raise undefined(name)

    def load_cell(self, frame, cell, name):
        try:
            return cell.cell_contents
        except ValueError:
            pass
        if name in frame.code.co_freevars:
            text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            raise NameError(text, name=name)
        raise unbound(name)

    def store_cell(self, frame, cell, value):
        cell.cell_contents = value

    def delete_cell(self, frame, cell, name):
        self.load_cell(frame, cell, name)
        del cell.cell_contents

    def import_name(self, frame, name, fromlist, level):
        importer = frame.builtins.get("__import__", NULL)
        if importer is NULL:
            raise ImportError("__import__ not found")
        space = frame.namespace if frame.namespace is not None else None
        return self.invoke(importer, name, frame.globals, space, fromlist, level)

    def import_from(self, module, name):
        try:
            value = self.get_attribute(module, name)
            return self.finish(value) if type(value) is Frame else value
        except AttributeError:
            pass
        return import_submodule(module, name)

    def subscript(self, space, name):
        """``space[name]`` of a mapping, or NULL."""
        try:
            value = self.get_item(space, name)
            return self.finish(value) if type(value) is Frame else value
        except KeyError:
            return NULL

    def drop(self, result):
        """Run a Frame whose value is of no use."""
        if type(result) is Frame:
            self.finish(result)


def subscript(space, name):
    """``space[name]``, or NULL."""
    try:
        return space[name]
    except KeyError:
        return NULL


def undefined(name):
    """The exception for a name that is nowhere."""
    return NameError(f"name '{name}' is not defined", name=name)


def unbound(name):
    """The exception for a local variable that has no value."""
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
