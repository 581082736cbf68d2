"""CPython's own tests, which come with every Python, called in the machine.

    python tests/vm/cpython.py                       # the groups that are to hold on this version
    python tests/vm/cpython.py --group core          # also: builtins, library, broad
    python tests/vm/cpython.py test_generators

Each module is run twice, each time in a process of its own: natively, and with every test method interpreted. A test
counts when it passes natively and is not in not_applicable.toml; it holds when it passes interpreted as well, with at
least one instruction executed by the machine. Exit status: 0 all hold, 1 some don't, 2 wrong usage.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GROUPS = {
    "core": "test_grammar test_generators test_generator_stop test_scope test_raise test_exceptions "
    "test_exception_variations test_exception_group test_except_star test_with test_contextlib test_listcomps "
    "test_setcomps test_dictcomps test_augassign test_binop test_compare test_richcmp test_contains test_call "
    "test_decorators test_keywordonlyarg test_positional_only_arg test_named_expressions test_patma test_fstring "
    "test_class test_super test_property test_funcattrs test_coroutines test_asyncgen test_opcodes test_pow "
    "test_slice test_index",
    "builtins": "test_builtin test_iter test_enumerate test_range test_list test_tuple test_dict test_dictviews "
    "test_set test_bool test_int test_float test_complex test_sort test_string test_userdict test_userlist test_bytes "
    "test_unicode_identifiers test_format test_isinstance test_hash test_iterlen",
    "library": "test_functools test_itertools test_operator test_collections test_ordered_dict test_defaultdict "
    "test_deque test_enum test_dataclasses test_abc test_descr test_copy test_heapq test_bisect test_math "
    "test_statistics test_types test_typing test_contextlib_async test_textwrap test_random test_fractions "
    "test_reprlib test_dynamicclassattribute test_genericalias test_genericclass test_weakset",
}

SLOW = {"test_builtin", "test_bytes", "test_exceptions", "test_pow", "test_range", "test_set"}
GROUPS["broad"] = " ".join(name for name in f"{GROUPS['core']} {GROUPS['builtins']}".split() if name not in SLOW)
"""What ``make test`` runs: most of core and builtins, within two minutes on an idle machine."""


def not_applicable():
    """{test id: reason} of the tests that look at CPython's own machinery."""
    with (HERE / "not_applicable.toml").open("rb") as file:
        return {row["test"]: row["reason"] for row in tomllib.load(file)["tests"]}


class PastLimit(BaseException):
    """A test took too long."""


class Outcomes(unittest.TestResult):
    """(outcome, last line of the failure) of each test; a failed subtest fails the test."""

    def __init__(self):
        super().__init__()
        self.rows = {}

    def note(self, test, outcome, error=None):
        if self.rows.get(test.id(), ["pass"])[0] in ("pass", "skip"):
            text = self._exc_info_to_string(error, test).strip().rpartition("\n")[2] if error else ""
            self.rows[test.id()] = [outcome, text]

    def addSuccess(self, test):
        self.note(test, "pass")

    def addSkip(self, test, reason):
        self.note(test, "skip")

    def addFailure(self, test, err):
        self.note(test, "fail", err)

    def addError(self, test, err):
        if isinstance(test, unittest.TestCase):
            self.note(test, "error", err)

    def addExpectedFailure(self, test, err):
        self.note(test, "expected")

    def addUnexpectedSuccess(self, test):
        self.note(test, "unexpected")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.note(test, "fail", err)


def cases(suite):
    """The test cases in a suite, in order."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from cases(item)
        elif isinstance(item, unittest.TestCase):
            yield item


def child(module, out, interpreted, limit):
    """Run one module in this process, and write {test: [outcome, text, instructions]}."""
    executed = {}
    interpret = import_module("interpreter.interpret").interpret if interpreted else None

    def call(self, method):
        def expired(number, frame):
            raise PastLimit(f"past {limit} s")

        signal.signal(signal.SIGALRM, expired)
        signal.alarm(limit)
        run = interpret(method) if interpret else method
        try:
            run()
        except PastLimit as error:
            self.fail(str(error))
        finally:
            signal.alarm(0)
            executed[self.id()] = run.stats.instructions if interpret else 1

    unittest.TestCase._callTestMethod = call
    outcomes = Outcomes()
    for case in cases(unittest.defaultTestLoader.loadTestsFromModule(import_module(f"test.{module}"))):
        Path(out).with_suffix(".now").write_text(case.id())
        unittest.TestSuite([case]).run(outcomes)
    rows = {name: [*row, executed.get(name, 0)] for name, row in outcomes.rows.items()}
    Path(out).write_text(json.dumps(rows))


def outcomes_of(module, interpreted, limit, seconds):
    """The outcomes of a module in a fresh process; where that dies, the test it died in is an error."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.json")
        command = [sys.executable, __file__, "--child", module, "--out", str(out), "--limit", str(limit)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        try:
            subprocess.run(
                [*command, *(["--interpreted"] if interpreted else [])], cwd=folder, env=environment, timeout=seconds,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            pass
        if out.exists():
            return json.loads(out.read_text())
        now = out.with_suffix(".now")
        name = now.read_text() if now.exists() else f"test.{module}"
        return {name: ["error", "the process died, or ran too long", 0]}


def judge(module, limit=60, seconds=900):
    """(ids that count, {id: what is wrong}) of one module."""
    left_out = not_applicable()
    native = outcomes_of(module, False, limit, seconds)
    found = outcomes_of(module, True, limit, seconds)
    counted = [name for name, row in native.items() if row[0] == "pass" and name not in left_out]
    wrong = {}
    for name in counted:
        outcome, text, instructions = found.get(name, ["missing", "", 0])
        if outcome != "pass":
            wrong[name] = f"{outcome}: {text}"
        elif instructions <= 0:
            wrong[name] = "not interpreted"
    return counted, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--group", action="append", choices=[*GROUPS], default=[])
    parser.add_argument("--limit", type=int, default=60, help="seconds for one test")
    parser.add_argument("--seconds", type=int, default=900, help="seconds for one module")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    parser.add_argument("--interpreted", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.out, options.interpreted, options.limit)
    default = ["core", "builtins", *(["library"] if sys.version_info < (3, 12) else [])]
    groups = options.group or ([] if options.modules else default)
    modules = [*options.modules, *(name for group in groups for name in GROUPS[group].split())]
    unknown = [name for name in modules if find_spec(f"test.{name}") is None]
    if unknown and options.modules:
        parser.error(f"this Python has no {', '.join(unknown)} in its test package")
    counted = held = 0
    for module in modules:
        if module in unknown:
            print(f"{module}: not in this Python")
            continue
        started = time.monotonic()
        names, wrong = judge(module, options.limit, options.seconds)
        counted, held = counted + len(names), held + len(names) - len(wrong)
        print(
            f"{module}: {len(names) - len(wrong)} of {len(names)} hold, {time.monotonic() - started:.0f} s", flush=True
        )
        for name, text in wrong.items():
            print(f"    {name}: {text[:160]}")
    print(f"{held} of {counted} hold; not applicable: {len(not_applicable())}")
    return 0 if counted and held == counted else 1


if __name__ == "__main__":
    sys.exit(main())
