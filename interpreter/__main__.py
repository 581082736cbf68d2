"""``python -m interpreter [-m MODULE | FILE] [ARG ...]``: a whole program in the virtual machine.

The program is ``__main__``, sees its own arguments in ``sys.argv`` and ends with its own exit status. FILE may also be
a folder or a zip file with a ``__main__.py``. With ``--instructions`` before it, the number of instructions executed
goes to standard error at the end.
"""

import argparse
import builtins
import importlib.machinery
import os
import pkgutil
import runpy
import sys
import types
from pathlib import Path

from .interpret import interpret

USAGE = "python -m interpreter [--instructions] [-m MODULE | FILE] [ARG ...]"


class Parser(argparse.ArgumentParser):
    """One line about what was wrong, and status 2."""

    def error(self, message):
        self.exit(2, f"interpreter: {message}; usage: {USAGE}\n")


def wanted(arguments):
    """What to run: options, whether it is a module, its name, and its own arguments."""
    parser = Parser(prog="python -m interpreter", usage=USAGE, description=__doc__, allow_abbrev=False)
    parser.add_argument("--instructions", action="store_true", help="say at the end how many were executed")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", metavar="MODULE", nargs=rest, help="a module, and its arguments")
    parser.add_argument("rest", nargs=rest, metavar="FILE [ARG ...]", help="a file, and its arguments")
    options = parser.parse_args(arguments)
    if options.module is None and not options.rest:
        parser.error("nothing to run: name a file, or a module after -m")
    if options.module is not None and not options.module:
        parser.error("-m needs the name of a module")
    name, *own = options.module or options.rest
    return options, options.module is not None, name, own


def prepared(name, is_module):
    """(function, arguments) to be run in the machine for the program; OSError, SyntaxError where it can't be.

    For modules, folders and zip files that is the very function that ``python`` calls for them: its messages, its
    ``__spec__`` and its lines in tracebacks are CPython's.
    """
    if is_module:
        sys.path[0] = os.getcwd()
        sys.argv[0] = "-m"
        return runpy._run_module_as_main, (name,)  # type: ignore[attr-defined]
    path = os.getcwd() if name == "." else os.path.join(os.getcwd(), name)
    if pkgutil.get_importer(path) is not None:
        sys.path[0] = path
        return runpy._run_module_as_main, ("__main__", False)  # type: ignore[attr-defined]
    source = Path(path).read_bytes()
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    program = sys.modules["__main__"]
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    program.__dict__.update(__file__=path, __cached__=None, __loader__=loader)
    return execute, (compile(source, path, "exec", dont_inherit=True), program.__dict__)


def execute(code, names):
    """Run a program's code in its namespace."""
    exec(code, names)


def new_main():
    """A module ``__main__`` as ``python`` makes it."""
    program = types.ModuleType("__main__")
    program.__dict__.update(__builtins__=builtins, __loader__=importlib.machinery.BuiltinImporter)
    if sys.version_info < (3, 14):
        program.__annotations__ = {}
    return program


def show_without_us(traceback):
    """Have the exception that is about to end the process shown with this traceback, by whatever hook is set."""
    hook = sys.excepthook

    def show(kind, error, _):
        sys.excepthook = hook
        hook(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = show


def main(arguments):
    """Run the program; gives the exit status where the program itself does not set one."""
    options, is_module, name, own = wanted(arguments)
    sys.argv[:] = [name, *own]
    ours, sys.modules["__main__"] = sys.modules["__main__"], new_main()
    try:
        function, given = prepared(name, is_module)
    except (SyntaxError, ValueError) as error:
        show_without_us(None)
        raise error
    except OSError as error:
        sys.stderr.write(f"interpreter: can't run the file {name!r}: {error.strerror or error}; usage: {USAGE}\n")
        return 2
    run = interpret(function)
    run.whole_program = True
    try:
        run(*given)
    except SystemExit:
        raise
    except BaseException as error:
        first = error.__traceback__
        while first is not None and first.tb_frame.f_code is main.__code__:
            first = first.tb_next
        show_without_us(first)
        raise
    finally:
        if options.instructions:
            sys.stderr.write(f"{run.stats.instructions} instructions\n")
        del ours
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
