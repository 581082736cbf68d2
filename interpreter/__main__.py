"""``python -m interpreter [-m MODULE | FILE] [ARG ...]``: a whole program in the virtual machine.

The program is ``__main__``, sees its own arguments in ``sys.argv`` and ends with its own exit status. With
``--instructions`` before it, the number of instructions executed goes to standard error at the end.
"""

import argparse
import importlib.machinery
import importlib.util
import os
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


def module_code(name):
    """Code, module specification and file of a module that is to be run as a program; ImportError if it can't be."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"no module named {name!r}")
    if spec.submodule_search_locations is not None:
        return module_code(f"{name}.__main__")
    code = spec.loader.get_code(name) if hasattr(spec.loader, "get_code") else None
    if code is None:
        raise ImportError(f"{name!r} is not written in Python and can't be interpreted")
    return code, spec, spec.origin


def file_code(path):
    """Code, None and the path of a file; OSError if it can't be read, SyntaxError if it is no program."""
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    path = os.path.abspath(path)
    source = Path(path).read_bytes()
    return compile(source, path, "exec", dont_inherit=True), None, path


def execute(code, names):
    """Run a program's code in its namespace."""
    exec(code, names)


def main(arguments):
    """Run the program; gives the exit status where the program itself does not set one."""
    options, is_module, name, own = wanted(arguments)
    path = Path(name).resolve()
    sys.path[0] = os.getcwd() if is_module else str(path.parent if path.is_file() else path)
    try:
        code, spec, file = module_code(name) if is_module else file_code(name)
    except SyntaxError as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        return 1
    except (ImportError, OSError) as error:
        what = "module" if is_module else "file"
        reason = getattr(error, "strerror", None) or error
        sys.stderr.write(f"interpreter: can't run the {what} {name!r}: {reason}; usage: {USAGE}\n")
        return 2
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=file, __spec__=spec, __builtins__=__builtins__, __cached__=None)
    program.__package__ = spec.parent if spec is not None else None
    if spec is not None:
        program.__loader__ = spec.loader
    else:
        program.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
    ours, sys.modules["__main__"] = sys.modules["__main__"], program
    sys.argv[:] = [file, *own]
    run = interpret(execute)
    here = main.__code__.co_filename
    try:
        run(code, program.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        first = error.__traceback__
        while first is not None and first.tb_frame.f_code.co_filename == here:
            first = first.tb_next
        sys.excepthook(type(error), error.with_traceback(first), first)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        if options.instructions:
            sys.stderr.write(f"{run.stats.instructions} instructions\n")
        del ours
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
