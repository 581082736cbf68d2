"""Globals, the names of class bodies and modules, cells, and imports."""

import builtins

from .values import NULL

_builtins = builtins.__dict__


def builtins_of(names):
    """The builtins that code with these globals sees, as a mapping."""
    found = names.get("__builtins__", builtins)
    return found if isinstance(found, dict) else found.__dict__


class Names:
    """The part of the machine that deals with names."""

    def load_global(self, frame, name):
        space = frame.globals
        if type(space) is dict:
            value = space.get(name, NULL)
            if value is not NULL:
                return value
        else:
            try:
                return space[name]
            except KeyError:
                pass
        space = frame.builtins
        try:
            return space[name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined", name=name) from None

    def store_global(self, frame, name, value):
        frame.globals[name] = value

    def delete_global(self, frame, name):
        try:
            del frame.globals[name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined", name=name) from None

    def load_name(self, frame, name):
        space = frame.namespace
        if type(space) is dict:
            value = space.get(name, NULL)
            if value is not NULL:
                return value
        else:
            try:
                return space[name]
            except KeyError:
                pass
        return self.load_global(frame, name)

    def store_name(self, frame, name, value):
        frame.namespace[name] = value

    def delete_name(self, frame, name):
        try:
            del frame.namespace[name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined", name=name) from None

    def load_cell(self, frame, cell, name):
        try:
            return cell.cell_contents
        except ValueError:
            if name in frame.code.co_freevars:
                text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
                raise NameError(text, name=name) from None
            raise unbound(name) from None

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
            return getattr(module, name)
        except AttributeError:
            pass
        from .imports import import_submodule

        return import_submodule(module, name)


def unbound(name):
    """The exception for a local variable that has no value."""
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
