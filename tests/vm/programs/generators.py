"""Generators: send, throw, close, delegation, attributes."""

import inspect
import types


def sending():
    def g():
        received = []
        while len(received) < 3:
            received.append((yield len(received)))
        return received

    it = g()
    log = [next(it), it.send("a"), it.send("b")]
    try:
        it.send("c")
    except StopIteration as stop:
        return log, stop.value


def throwing():
    def g():
        while True:
            try:
                yield "waiting"
            except ValueError as error:
                yield ("caught", str(error))

    it = g()
    return next(it), it.throw(ValueError("x")), next(it), it.throw(ValueError("y"))


def throw_before_start():
    def g():
        yield 1

    g().throw(KeyError("early"))


def closing():
    log = []

    def g():
        try:
            yield 1
        except GeneratorExit:
            log.append("exit")
            raise
        finally:
            log.append("finally")

    it = g()
    next(it)
    it.close()
    it.close()
    unstarted = g()
    unstarted.close()
    return log, list(it)


def ignoring_exit():
    def g():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    it = g()
    next(it)
    it.close()


def leaking_stop_iteration():
    def g():
        yield 1
        raise StopIteration(5)

    return list(g())


def already_running():
    def g():
        yield next(it)

    it = g()
    next(it)


def delegation():
    def inner():
        try:
            received = yield "inner"
            print("got", received)
        except KeyError:
            yield "inner caught"
        return "result"

    def outer():
        value = yield from inner()
        print("value", value)
        yield from [1, 2]
        return "end"

    it = outer()
    log = [next(it), it.send("x"), next(it)]
    try:
        next(it)
    except StopIteration as stop:
        log.append(stop.value)
    other = outer()
    next(other)
    log.append(other.throw(KeyError))
    return log


def delegated_close():
    log = []

    def inner():
        try:
            yield 1
        finally:
            log.append("inner")

    def outer():
        try:
            yield from inner()
        finally:
            log.append("outer")

    it = outer()
    next(it)
    it.close()
    return log


def states():
    def g():
        states.append(inspect.getgeneratorstate(it))
        yield 1

    states = []
    it = g()
    states.append(inspect.getgeneratorstate(it))
    next(it)
    states.append(inspect.getgeneratorstate(it))
    states.append(it.gi_frame.f_lineno - g.__code__.co_firstlineno)
    list(it)
    states.append(inspect.getgeneratorstate(it))
    return states, isinstance(it, types.GeneratorType), it.__name__, it.__qualname__, it.gi_code is g.__code__


def finalisation():
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("done")

    for n in g():
        log.append(n)
        break
    return log


def driven_by_native_code():
    def squares(n):
        for i in range(n):
            yield i * i

    source = squares(6)
    head = [next(source), next(source)]
    return (
        head,
        list(source),
        sum(squares(5)),
        dict(zip("ab", squares(2))),
        max(squares(4)),
        ",".join(map(str, squares(3))),
    )


def generator_expressions():
    n = 3
    lazy = (x * n for x in range(4) if x % 2)
    n = 10
    return list(lazy), sum(x for x in (y + 1 for y in range(5)))


def pipeline():
    def numbers():
        yield from range(10)

    def odd(source):
        for n in source:
            if n % 2:
                yield n

    return [n * n for n in odd(numbers())]


def handled_exception_inside():
    import sys

    def g():
        try:
            raise ValueError
        except ValueError:
            yield type(sys.exc_info()[1]).__name__
            yield type(sys.exc_info()[1]).__name__

    it = g()
    log = [next(it)]
    try:
        raise KeyError
    except KeyError:
        log += [next(it), type(sys.exc_info()[1]).__name__]
    return log


def chains_of_iterables():
    """``chain.from_iterable`` over a generator: laziness, order, what is raised, and going on after that."""
    import itertools

    log = []

    class Items:
        def __init__(self, *items):
            self.items = items

        def __iter__(self):
            log.append(("iter", self.items))
            return iter(self.items)

        def __bool__(self):
            log.append("bool")
            return False

    class Failing:
        def __iter__(self):
            yield 1
            raise KeyError("in an iterable")

    def pieces():
        for piece in ((), [1, 2], "", Items(), {}, Items(3), Failing(), (), "ab", None, [4]):
            log.append(type(piece).__name__)
            yield piece
        return 5

    def numbered(n):
        log.append("begin")
        yield ()
        yield [n]
        raise ValueError("at the end")

    results = []
    for source in (pieces(), numbered(1), Items([1], ()), (x for x in ()), iter([(), [2]]), 5):
        try:
            chained = itertools.chain.from_iterable(source)
        except TypeError as error:
            results.append(str(error))
            continue
        log.append("made")
        for _ in range(12):
            try:
                results.append(next(chained))
            except (KeyError, TypeError, ValueError, StopIteration) as error:
                results.append((type(error).__name__, str(error)))
    return results, log
