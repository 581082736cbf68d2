"""``make lookaside NAME=array.array``: the part of a file to fill in for a new lookaside, and the part of its test.

Writes to ``interpreter/lookasides/`` and to ``tests/lookasides/shapes.py``; says what it wrote and what comes next.
Exit status 2, with one line that says why, for a name that can't have a lookaside.
"""
from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

from interpreter.lookasides import find
from interpreter.lookasides.inventory import in_c
from interpreter.vm.natives import NATIVES

ROOT = Path(__file__).parents[2]
HOMES = {"builtins": "builtins_calls", "collections": "containers"}  # where the file is not named after the module
CAME_WITH = {"itertools.batched": (3, 12), "math.sumprod": (3, 12), "math.fma": (3, 13)}
HEADER = '''"""{module}: stand-ins for what is written in C."""
from __future__ import annotations

from interpreter.lookasides.registry import lookaside
from interpreter.vm.reentry import entered, reenter  # noqa: F401 - for what is iterated, for what is called
'''
PART = '''

@lookaside({name})
def {function}({signature}):
    """Say in one line what it gives."""
    return {name}({call})
'''
SHAPE = '''

shape([{name}], rest=anything)
'''


class Refused(Exception):
    """The name can't have a lookaside; the message says why."""


def resolve(name: str) -> tuple[types.ModuleType, Any]:
    """(module, callable) of a dotted name; of a plain one, in builtins. Raises Refused."""
    parts = name.split(".")
    if not all(map(str.isidentifier, parts)):
        raise Refused(f"{name!r} is not the dotted name of a callable; give one such as array.array")
    if parts[0] == "torch":
        raise Refused(f"{name}: functions of torch are operations of the program, and need no lookaside")
    came = CAME_WITH.get(name)
    if came is not None and sys.version_info < came:
        raise Refused(f"{name}: Python {sys.version_info.major}.{sys.version_info.minor} has none, it came with "
                      f"{came[0]}.{came[1]}; run this with a Python that has it")
    for count in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:count]))
            break
        except ImportError:
            continue
    else:
        module, count = importlib.import_module("builtins"), 0
    target: Any = module
    for part in parts[count:]:
        target = getattr(target, part, None)
        if target is None:
            if not count and importlib.util.find_spec(name.partition(".")[0]) is not None:
                raise Refused(f"{name} is a module: say which of its callables, as in array.array")
            missing = ".".join(parts[count:])
            raise Refused(f"{name}: {module.__name__} has no {missing}; give a name such as array.array")
    if not callable(target):
        raise Refused(f"{name} can't be called: a lookaside stands in for a function, method or class written in C")
    if not in_c(target):
        raise Refused(f"{name} is written in Python: it is interpreted as it is and needs no lookaside")
    if target in NATIVES:
        raise Refused(f"{name} is answered by the machine itself, and needs no lookaside")
    present = find(target)
    if present is not None:
        code = present.function.__code__
        raise Refused(f"{name} has a lookaside: {code.co_filename}:{code.co_firstlineno}")
    return module, target


def signature(target: Any) -> tuple[str, str]:
    """(parameters, arguments that pass them on) as text."""
    try:
        parameters = list(inspect.signature(target).parameters.values())
        shown = str(inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters]))[1:-1]
        compile(f"def f({shown}): pass", "signature", "exec")
    except (TypeError, ValueError, SyntaxError):
        return "*args, **kwargs", "*args, **kwargs"
    passing = {
        inspect.Parameter.VAR_POSITIONAL: "*{0}", inspect.Parameter.VAR_KEYWORD: "**{0}",
        inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
    }
    return shown, ", ".join(passing.get(each.kind, "{0}").format(each.name) for each in parameters)


def with_import(text: str, module: str) -> str:
    """The source with ``import module`` among its first imports, in order."""
    line = f"import {module}"
    lines = text.split("\n")
    if line in lines:
        return text
    present = [at for at, each in enumerate(lines) if each.startswith("import ")]
    if not present:
        at = next(at for at, each in enumerate(lines) if each.startswith("from interpreter"))
        return "\n".join([*lines[:at], line, "", *lines[at:]])
    at = next((at for at in present if lines[at] > line), present[-1] + 1)
    return "\n".join([*lines[:at], line, *lines[at:]])


def write(name: str, root: Path = ROOT) -> list[str]:
    """Writes both parts; gives the paths written to, relative to ``root``. Raises Refused."""
    module, target = resolve(name)
    home = HOMES.get(module.__name__, module.__name__.lstrip("_").replace(".", "_"))
    package = root / "interpreter/lookasides"
    file, shapes, init = package / f"{home}.py", root / "tests/lookasides/shapes.py", package / "__init__.py"
    text = file.read_text() if file.exists() else HEADER.format(module=module.__name__)
    parameters, arguments = signature(target)
    function = re.sub(r"\W", "_", name.removeprefix(f"{module.__name__}.")).strip("_").lower() + "_"
    text += PART.format(name=name, function=function, signature=parameters, call=arguments)
    tests = shapes.read_text()
    at = tests.index("\n\ndef shape_of(")
    tests = tests[:at].rstrip("\n") + SHAPE.format(name=name) + tests[at:]
    if module.__name__ != "builtins":
        text, tests = with_import(text, module.__name__), with_import(tests, module.__name__)
    names = init.read_text()
    if f"    {home},\n" not in names:
        listed = re.findall(r"^    \w+,$", names, re.M)
        block = "\n".join(listed)
        names = names.replace(block, "\n".join(sorted([*listed, f"    {home},"])))
        init.write_text(names)
    file.write_text(text)
    shapes.write_text(tests)
    return [str(each.relative_to(root)) for each in (file, shapes)]


def main(arguments: list[str]) -> int:
    asked = arguments in (["-h"], ["--help"])
    if asked or len(arguments) != 1:
        usage = "usage: python -m interpreter.lookasides.new NAME, for example array.array\n"
        (sys.stdout if asked else sys.stderr).write(usage)
        return 0 if asked else 2
    try:
        written = write(arguments[0])
    except Refused as reason:
        sys.stderr.write(f"{reason}\n")
        return 2
    sys.stdout.write(f"Wrote to {' and '.join(written)}. Next: fill both in (docs/writing-a-lookaside.md), then\n"
                     "python -m pytest tests/lookasides\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
