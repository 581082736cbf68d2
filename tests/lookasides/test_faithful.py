"""Every lookaside is faithful: original and stand-in have the same outcome, log of hook calls and exception."""

import pytest
from hypothesis import HealthCheck, given, settings

from interpreter.lookasides import REGISTRY
from tests.lookasides.outcome import both
from tests.lookasides.shapes import shape_of

QUICK = settings(
    max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("entry", list(REGISTRY.values()), ids=lambda entry: entry.name)
def test_standin_is_faithful(entry):
    """A lookaside without a shape to draw its arguments from fails here too."""

    @QUICK
    @given(shape_of(entry.target))
    def check(call):
        args, kwargs = call
        natively, interpreted = both(entry.target, args, kwargs)
        assert interpreted == natively

    check()
