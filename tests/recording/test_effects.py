"""What a call logs and warns is logged and warned by every later call, as in eager."""

import logging
import warnings

import pytest
import torch

from interpreter import jit


class Collecting(logging.Handler):
    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        self.seen.append((record.name, record.levelname, record.getMessage(), record.pathname, record.lineno,
                          record.funcName))


LOG = logging.getLogger("effects")


def logs(x, n):
    LOG.debug("not enabled %s", n)
    LOG.info("sizes %s, %d", x.shape[0], n)
    y = x * n
    LOG.warning("the sum is %.1f", y.sum())
    return y


def logs_what_it_wrote(x, n, seen):
    seen.append(n)
    LOG.info("seen %s", seen)
    return x * n


def logged(call, calls):
    """The results and records of calls of `call`."""
    handler = Collecting()
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    try:
        return [call(*args).tolist() for args in calls], handler.seen
    finally:
        LOG.removeHandler(handler)


@pytest.mark.parametrize("given", [(2, 2, 2, 2), (2, 3, 4, 2)], ids=["the same number", "another number"])
def test_every_call_logs_what_it_logs_in_eager(given):
    """Messages, levels, files, lines and functions."""
    calls = [(torch.full((2,), float(i)), n) for i, n in enumerate(given)]
    jitted = jit(logs)
    assert logged(jitted, calls) == logged(logs, calls)
    assert jitted.stats.hits
    assert not any(entry.tail for entry in jitted.stats.entries)


def test_what_the_call_has_written_is_logged_as_written():
    def run(call):
        seen: list = []
        return logged(lambda x, n: call(x, n, seen), [(torch.ones(1), n) for n in (1, 1, 2)]), seen

    assert run(jit(logs_what_it_wrote)) == run(logs_what_it_wrote)


def test_every_call_warns_as_in_eager():
    def call(x):
        warnings.warn("once more", stacklevel=1)
        return x + 1

    def warned(call):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(3):
                call(torch.ones(1))
        return [(str(each.message), each.category, each.filename, each.lineno) for each in seen]

    assert warned(jit(call)) == warned(call)
