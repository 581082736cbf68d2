"""The number of CPython's tests that are left out is said at the end of every run."""

from tests.vm.cpython import not_applicable


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"CPython's own tests left out as not applicable: {len(not_applicable())} (at most 40)")
