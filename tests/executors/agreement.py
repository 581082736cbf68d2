"""Jitted on an executor against eager, call by call."""

import torch

from interpreter import jit


def outcome(function, arguments):
    """What a call gave or raised, and the random generator's state after it."""
    torch.manual_seed(3)
    try:
        result = function(*arguments)
    except Exception as error:
        result = type(error), str(error)
    return result, torch.get_rng_state()


def same(a, b):
    if isinstance(a, torch.Tensor):
        assert (a.dtype, a.shape, a.stride(), a.requires_grad) == (b.dtype, b.shape, b.stride(), b.requires_grad)
        assert torch.equal(a, b)
    elif isinstance(a, (tuple, list)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b


def agree(function, *calls, executor="aot", graphs=None, hits=None, **options):
    """Call eager and jitted in step with equal arguments (a call is a function that makes them). Returns the jitted."""
    jitted = jit(function, executor=executor, **options)
    for make in calls:
        torch.manual_seed(0)
        mine = make()
        torch.manual_seed(0)
        theirs = make()
        (expected, state), (actual, other) = outcome(function, mine), outcome(jitted, theirs)
        same(expected, actual)
        assert torch.equal(state, other)
        same([x for x in mine if isinstance(x, torch.Tensor)], [x for x in theirs if isinstance(x, torch.Tensor)])
    if graphs is not None:
        assert [len(entry.graphs) for entry in jitted.stats.entries] == graphs
    assert jitted.stats.hits == (len(calls) - 1 if hits is None else hits)
    return jitted


def tensor(*shape, **options):
    return lambda: (torch.randn(*shape, **options),)
