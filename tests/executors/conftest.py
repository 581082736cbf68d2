"""What holds for all tests of executors."""

import warnings

import pytest

from interpreter.executors.executor import NotCompiled


@pytest.fixture(autouse=True)
def no_silent_fallback():
    """A program that is left to the eager executor fails the test, unless the test waits for the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        yield
