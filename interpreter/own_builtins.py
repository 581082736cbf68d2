"""Builtins of the machine's own: a program that replaces ``builtins.len`` does not replace it for the machine.

A function looks for builtins where its module's ``__builtins__`` said when it was defined. So that has to be set before
a module is executed, which is what a loader does; a finder that uses it is put in the import system's cache for the
directories of the machine and the lookasides, and for no others.
"""

import builtins
import os
import sys
from importlib.machinery import BYTECODE_SUFFIXES, SOURCE_SUFFIXES, FileFinder, SourceFileLoader, SourcelessFileLoader

BUILTINS = dict(vars(builtins))
"""The builtins as they were when the interpreter was imported."""


class Loader(SourceFileLoader):
    """Executes a module with the machine's own builtins."""

    def exec_module(self, module):
        module.__dict__["__builtins__"] = BUILTINS
        super().exec_module(module)


def keep() -> None:
    """Have the modules of the machine and of the lookasides loaded with ``BUILTINS``."""
    here = os.path.dirname(__file__)
    if os.path.isdir(here):  # it is not where the package lies in a zip file
        for folder in ("vm", os.path.join("vm", "instructions"), "lookasides"):
            path = os.path.join(here, folder)
            kinds = (Loader, SOURCE_SUFFIXES), (SourcelessFileLoader, BYTECODE_SUFFIXES)
            sys.path_importer_cache[path] = FileFinder(path, *kinds)
