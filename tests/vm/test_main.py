"""``python -m interpreter`` gives what ``python`` gives: output, errors and exit status of whole programs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"0x[0-9a-f]+")

WHO = """\
import sys
main = sys.modules["__main__"]
print(sorted(globals()), __name__, __file__, __spec__, __package__, __cached__, __doc__, __loader__, __builtins__)
print(sys.argv, sys.path[0], main.__dict__ is globals(), type(main), __annotations__)
"""
STACK = """\
import inspect, sys, traceback, warnings


def f(*names):
    print([frame.function for frame in inspect.stack()], sys._getframe(1).f_code.co_name)
    traceback.print_stack()
    for level in range(1, 5):
        warnings.warn(f"level {level}", stacklevel=level)
    sys._getframe(3)


print([*map(f, [1])])
"""
DEBUGGED = """\
def f(n):
    a = n + 1
    breakpoint()
    b = a * 2
    for i in range(2):
        b += i
    return g(b)


def g(n):
    return [n, sorted([2, 1], key=lambda x: -x)]


print(f(1))
try:
    f(None)
except TypeError:
    print("end")
"""
FAILING = """\
def f(n):
    return 1 // n


class A:
    def method(self):
        try:
            f(0)
        except ZeroDivisionError as error:
            raise ValueError("chained") from error


[*map(lambda x: A().method(), [1])]
"""
FILES = {
    "who.py": WHO,
    "folder/__main__.py": WHO,
    "package/__init__.py": "",
    "package/__main__.py": WHO,
    "package/module.py": WHO,
    "package/failing.py": FAILING,
    "package/wrong.py": "x = = 1\n",
    "broken/__init__.py": "import nothing_of_this_name\n",
    "failing.py": FAILING,
    "stack.py": STACK,
    "debugged.py": DEBUGGED,
    "wrong.py": "def f():\n    return (\n\nprint(1)\n",
    "indented.py": "if 1:\n1\n",
    "stopped.py": "def wait():\n    raise KeyboardInterrupt\n\n\nwait()\n",
    "hooked.py": "import sys, traceback\nsys.excepthook = lambda *a: print(traceback.format_exception(*a))\n1 / 0\n",
    "exits.py": "import sys\nsys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 'a reason')\n",
    "at_exit.py": "import atexit, sys\natexit.register(lambda: print(sys.excepthook is sys.__excepthook__))\n1 / 0\n",
    "reads.py": "print([line.strip() for line in __import__('sys').stdin], input.__name__)\n",
    "pickles.py": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)\n",
    "group.py": "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError:\n    raise TypeError\n",
}
COMMANDS = (
    "who.py a -b", "./who.py", "../{here}/who.py", "package/module.py", "folder x", "folder/", "./folder", ".", "empty",
    "package", "-m package 1", "-m package.module 2 -m", "-m who", "-m nothing", "-m package.nothing", "-m empty",
    "-m who.py", "-m .who", "-m broken", "-m sys", "-m math", "-m json.tool --help", "wrong.py", "indented.py",
    "-m package.wrong", "failing.py", "-m package.failing", "stopped.py", "hooked.py", "exits.py 3", "exits.py",
    "at_exit.py", "reads.py", "pickles.py", "group.py", "stack.py", "-m stack",
)  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with the programs in it."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "empty").mkdir()
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


COMMANDS_OF_PDB = "p a\nn\nn\np b, n\nw\nn\ns\nargs\nb g\nc\ns\ns\nw\np n\nr\nu\np b\nd\nc\nq\n"


def ran(folder, *arguments, given="one\ntwo\n"):
    """(exit status, standard output, standard error) of a program, without addresses."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, input=given, timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}, check=False,
    )  # fmt: skip
    return done.returncode, ADDRESS.sub("0x", done.stdout), ADDRESS.sub("0x", done.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_as_python(programs, command):
    arguments = command.format(here=programs.name).split()
    assert ran(programs, "-m", "interpreter", *arguments) == ran(programs, *arguments)


TRACED = ("debugged.py", "-m pdb debugged.py", "-m trace --count --missing -C counts who.py")


@pytest.mark.parametrize("command", TRACED)
def test_traced_as_in_python(programs, command):
    arguments = command.split()
    found = ran(programs, "-m", "interpreter", *arguments, given=COMMANDS_OF_PDB)
    assert found == ran(programs, *arguments, given=COMMANDS_OF_PDB)


def test_a_file_that_is_not_there(programs):
    status, out, error = ran(programs, "-m", "interpreter", "nothing.py")
    assert (status, out) == (2, "") and error.count("\n") == 1
    assert "'nothing.py': No such file or directory" in error
    assert ran(programs, "nothing.py")[0] == 2


@pytest.mark.parametrize("arguments", [(), ("-m",), ("--nonsense", "who.py")])
def test_wrong_usage(programs, arguments):
    status, out, error = ran(programs, "-m", "interpreter", *arguments)
    assert (status, out) == (2, "") and error.startswith("interpreter: ") and "usage" in error


def test_the_program_is_interpreted(programs):
    status, _, error = ran(programs, "-m", "interpreter", "--instructions", "pickles.py")
    assert status == 0 and int(error.split()[0]) > 20
