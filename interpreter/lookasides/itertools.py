"""itertools: each makes the real iterator, over iterables and callbacks that enter the machine again."""
from __future__ import annotations

import itertools

from interpreter.lookasides.adding import added
from interpreter.lookasides.asking import asks
from interpreter.lookasides.builtins_iterables import calls_and_iterates, is_true, iterates
from interpreter.lookasides.callables import Judged
from interpreter.lookasides.hooks import atoms, plain
from interpreter.lookasides.lent import INDEX, lend_number
from interpreter.lookasides.registry import lookaside
from interpreter.vm.reentry import EnteredPieces, entered, reenter


@lookaside(itertools.accumulate)
def accumulate_(iterable, func=None, *, initial=None):
    """Running totals; without a function, of ``+``."""
    return itertools.accumulate(entered(iterable), reenter(added if func is None else func), initial=initial)


@lookaside(itertools.chain, needed=iterates)
def chain_(*iterables):
    """One iterable after another."""
    return itertools.chain(*[entered(each) for each in iterables])


@lookaside(itertools.chain.from_iterable, native=True, needed=lambda args, kwargs: not plain(args[0]))
def chain_from_iterable_(machine, iterable, /):
    """One iterable after another, from an iterable of them."""
    return machine.original(itertools.chain.from_iterable, [EnteredPieces(machine, iterable)])


@lookaside(itertools.combinations, needed=iterates)
def combinations_(iterable, r):
    """Tuples of r items, in the order given."""
    return itertools.combinations(entered(iterable), r)


@lookaside(itertools.combinations_with_replacement, needed=iterates)
def combinations_with_replacement_(iterable, r):
    """Tuples of r items, each as often as you like."""
    return itertools.combinations_with_replacement(entered(iterable), r)


@lookaside(itertools.permutations, needed=iterates)
def permutations_(iterable, r=None):
    """Tuples of r items in every order."""
    return itertools.permutations(entered(iterable), r)


@lookaside(itertools.product, needed=iterates)
def product_(*iterables, repeat=1):
    """Every combination of an item of each iterable."""
    return itertools.product(*[entered(each) for each in iterables], repeat=repeat)


@lookaside(itertools.compress, needed=lambda args, kwargs: kwargs or iterates(args[:1], None) or not atoms(args[1]))
def compress_(data, selectors):
    """The items whose selector is true."""
    return itertools.compress(entered(data), map(reenter(is_true), entered(selectors)))


@lookaside(itertools.cycle, needed=iterates)
def cycle_(iterable, /):
    """The items, again and again."""
    return itertools.cycle(entered(iterable))


def judged(function):
    """``function``, the truth of its answers asked in the machine."""
    return reenter(Judged(function))


@lookaside(itertools.dropwhile, needed=calls_and_iterates)
def dropwhile_(predicate, iterable, /):
    """The items from the first that the predicate refuses on."""
    return itertools.dropwhile(judged(predicate), entered(iterable))


@lookaside(itertools.takewhile, needed=calls_and_iterates)
def takewhile_(predicate, iterable, /):
    """The items up to the first that the predicate refuses."""
    return itertools.takewhile(judged(predicate), entered(iterable))


@lookaside(itertools.filterfalse, needed=calls_and_iterates)
def filterfalse_(function, iterable, /):
    """The items for which ``function``, or their own truth, says no."""
    if function is None or function is bool:
        return itertools.filterfalse(reenter(is_true), entered(iterable))
    return itertools.filterfalse(judged(function), entered(iterable))


@lookaside(itertools.groupby)
def groupby_(iterable, key=None):
    """Runs of items with one key. Keys are compared natively: ``==`` written in Python is run, but not interpreted."""
    return itertools.groupby(entered(iterable), reenter(key))


@lookaside(itertools.islice)
def islice_(iterable, /, *bounds):
    """The items from start to stop by step."""
    return itertools.islice(entered(iterable), *bounds)


@lookaside(itertools.pairwise, needed=iterates)
def pairwise_(iterable, /):
    """Each item with its successor."""
    return itertools.pairwise(entered(iterable))


@lookaside(itertools.starmap)
def starmap_(function, iterable, /):
    """``function`` of each tuple of arguments."""
    return itertools.starmap(reenter(function), map(reenter(arguments), entered(iterable)))


def arguments(item):
    return item if type(item) is tuple else tuple(item)


@lookaside(itertools.tee, needed=iterates)
def tee_(iterable, n=2, /):
    """Iterators that share one."""
    return itertools.tee(entered(iterable), n)


@lookaside(itertools.zip_longest, needed=iterates)
def zip_longest_(*iterables, fillvalue=None):
    """The n-th items of each iterable, as long as one of them lasts."""
    return itertools.zip_longest(*[entered(each) for each in iterables], fillvalue=fillvalue)


if hasattr(itertools, "batched"):
    @lookaside(itertools.batched, needed=iterates)
    def batched_(iterable, n, **strict):
        """Tuples of n items, the last perhaps shorter."""
        return itertools.batched(entered(iterable), n, **strict)


asks(itertools.repeat, (), INDEX, take=lend_number)
