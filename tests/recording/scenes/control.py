"""Scenes about the way that a call takes: exceptions, generators, context managers, loops, and exits of a program."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import itertools
import threading
import types
import warnings

import torch
from torch import nn

from tests.recording.agree import Scene, X, collection

SCENES, scene = collection()


@scene
def writes_before_and_after_a_check():
    log, counts = [], {"calls": 0}

    def f(x):
        counts["calls"] += 1
        log.append("before")
        x.add_(1)
        if x.sum() > 10:
            log.append("large")
            x.mul_(2)
        else:
            log.append(("small", counts["calls"]))
        if x.max() > 20:
            log.append("huge")
        counts["after"] = counts["calls"]
        return x * counts["calls"]

    return Scene(
        f,
        [
            (X(),),
            (X(4),),
            (X(),),
            (torch.full((2,), 30.0),),
            (torch.full((2,), 5.0),),
            (torch.full((2,), -5.0),),
            (torch.full((2,), 30.0),),
            (torch.full((2,), 5.0),),
        ],
        state=lambda: (log, counts),
    )


@scene
def writes_before_a_raise():
    log = []

    def f(d, x):
        d["n"] = d.get("n", 0) + 1
        log.append(d["n"])
        x.mul_(2)
        y = x.view(2, 1)
        log.append("viewed")
        if y.sum() < 0:
            raise ValueError("negative", d["n"])
        d["y"] = y
        return y

    return Scene(
        f, [({}, X()), ({}, X()), ({}, X(3)), ({}, -X()), ({}, -X()), ({"n": 4}, X()), ({}, X())], state=lambda: log
    )


@scene
def an_operation_raises_and_is_caught():
    log = []

    def f(x, i):
        log.append("try")
        x.add_(1)
        try:
            y = x[i]
            log.append("found")
        except IndexError as error:
            log.append(type(error).__name__)
            y = x * 0
        finally:
            log.append("finally")
        x.add_(1)
        return y + x

    good, bad = torch.tensor([0, 1]), torch.tensor([0, 9])
    return Scene(f, [(X(), good), (X(), bad), (X(), good), (X(), bad), (X(), good)], state=lambda: log)


@scene
def random_numbers_and_side_exits():
    def f(x, p):
        a = torch.rand(2) + torch.randn_like(x)
        x = torch.nn.functional.dropout(x, p)
        b = x.clone().uniform_()
        torch.nn.init.normal_(b, std=2.0)
        if a.sum() > x.sum():
            return a, torch.rand(1), b
        return x, torch.bernoulli(torch.full((3,), 0.5)), b

    return Scene(f, [(X(), 0.5), (X() * 9, 0.5), (X() * -9, 0.5), (X(), 0.5), (X(), 0.1), (X() * 9, 0.5), (X(3), 0.5)])


@scene
def generators_over_tensors():
    def f(x, n):
        def produce():
            got = yield x
            while got is not None:
                got = yield got * n
            return n

        g = produce()
        first = next(g)
        second = g.send(x + 1)
        try:
            g.send(None)
        except StopIteration as stop:
            third = stop.value
        h = (x * i for i in range(n))
        squares = {i: x**i for i in range(n)}
        return first, second, third, sum(h), squares, list(itertools.accumulate([x] * n)), [*map(torch.neg, [x] * n)]

    return Scene(f, [(X(), 2), (X(), 2), (X(), 3)], hits=1)


@scene
def context_managers_and_variables():
    var = contextvars.ContextVar("var", default=0)
    log = []

    @contextlib.contextmanager
    def scope(n):
        token = var.set(n)
        log.append(("in", n))
        try:
            yield n
        finally:
            var.reset(token)
            log.append(("out", n))

    def f(x, n):
        with scope(n) as k, contextlib.suppress(ZeroDivisionError):
            x = x * var.get() + k
            x = x + 1 // n
        return x, var.get()

    return Scene(f, [(X(), 2), (X(), 2), (X(), 0), (X(), 3)], state=lambda: log, tail=True)


@scene
def exceptions_with_context_and_cause():
    log = []

    class Custom(Exception):
        def __init__(self, message, value):
            super().__init__(message)
            self.value = value

    def g(x, n):
        try:
            if n == 1:
                raise KeyError("inner")
            if n == 2:
                x = x.view(7, 7)
            if n == 3:
                raise Custom("custom", x)
        except KeyError as error:
            log.append(str(error))
            raise Custom("outer", n) from error
        except RuntimeError:
            log.append("runtime")
            raise ValueError("while viewing")
        finally:
            log.append(n)
        return x

    def f(x, n):
        try:
            return g(x, n)
        except Custom as error:
            return error.value, type(error.__cause__), error

    return Scene(f, [(X(), n) for n in (0, 1, 2, 3, 0, 1, 2, 3)], state=lambda: log)


@scene
def loops_that_depend_on_data():
    def f(x):
        steps = []
        while x.sum() < 20:
            x = x * 2
            steps.append(x.max().item())
            if len(steps) > 5:
                break
        else:
            steps.append("done")
        n = int(x.max())
        return x, steps, n // 2, [i for i in range(min(n, 3))]

    return Scene(f, [(X(),), (X() * 3,), (X(),), (X() * 7,), (X() * 0,), (X() * 3,), (X(3),)])


@scene
def exceptions_chained_noted_and_grouped():
    class Custom(ValueError):
        code = 3

    def f(x, n):
        try:
            try:
                if n:
                    raise Custom("first", n)
            except Custom as error:
                error.add_note(f"note {n}")
                error.extra = x
                raise KeyError("second") from error
        except KeyError as error:
            cause = error.__cause__
            return (
                x,
                cause.__notes__,
                cause.code,
                cause.extra,
                str(error),
                cause.args,
                error.__suppress_context__,
                isinstance(cause, ValueError),
            )
        try:
            raise ExceptionGroup("many", [ValueError(1), TypeError("t"), ExceptionGroup("in", [ValueError(2)])])
        except* ValueError as group:
            found = [str(e) for e in group.exceptions]
        except* TypeError:
            found = []
        return x, len(found)

    return Scene(f, [(X(), 0), (X(), 1), (X(), 0), (X(), 1), (X(), 2)])


@scene
def exceptions_from_operations_in_loops():
    log = []

    def f(xs, rows):
        out = torch.zeros(2)
        for i, x in enumerate(xs):
            try:
                log.append(i)
                out += x[rows]
                out.mul_(2)
            except IndexError:
                log.append("skipped")
                continue
            finally:
                log.append("done")
            log.append(float(out.sum()))
        return out

    good, bad = torch.tensor([0, 1]), torch.tensor([1, 2])
    return Scene(
        f,
        [
            ([X(), X()], good),
            ([X(), X(3)], good),
            ([X(3), X(2), X(3)], bad),
            ([X(3), X(2), X(3)], good),
            ([X(3), X(2), X(3)], bad),
        ],
        state=lambda: log,
    )


@scene
def in_place_on_inputs_before_many_exits():
    counts = collections.Counter()

    def f(x, y):
        x += 1
        counts["x"] += 1
        if x.sum() > 10:
            y -= 1
            counts["y"] += 1
            if y.sum() > 3:
                x.mul_(2)
                y[0] = x[0]
                counts["both"] += 1
                if (x * y).sum() > 100:
                    counts["large"] += 1
                    return x * 0
        while y.sum() < 0:
            y.add_(torch.rand(2))
            counts["random"] += 1
        return x + y

    start = [(a * X(), b * X()) for a in (1, 3, 9, 1, 30) for b in (1, 3, -1, 20)]
    return Scene(
        f, start + [(a * X(), b * X()) for a in (9, 1, 30, 3) for b in (20, -1, 3, 1)], state=lambda: counts, tail=True
    )


@scene
def context_managers_that_swap_attributes():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.w = nn.Parameter(torch.ones(2))

        @contextlib.contextmanager
        def scaled(self, value):
            old, self.scale = self.scale, value
            try:
                yield self
            finally:
                self.scale = old

        def forward(self, x, fail):
            with self.scaled(3.0) as me, torch.no_grad():
                y = me.w * x * self.scale
                if fail:
                    raise ValueError("inside")
            with torch.nn.utils.parametrize.cached():
                z = y * self.scale
            return z, self.scale

    return Scene(M(), [(X(), False), (X(), True), (X(), False), (X(), False)], hits=1)


@scene
def views_of_inputs_changed_after_an_exit():
    def f(x, buf):
        v = buf[: x.size(0)]
        v += x
        w = buf.view(-1)
        if w.sum() > 20:
            w.zero_()
            return v, buf
        w[-1] = 7
        if v[0] > 3:
            v.neg_()
        return v, w, buf.t()

    return Scene(f, [(k * torch.ones(n), torch.zeros(4)) for k in (1, 4, 9) for n in (1, 2, 4)] * 2)


@scene
def warnings_are_given_each_time():
    caught = []

    def f(x, n):
        if n > 1:
            warnings.warn(f"n is {n}", UserWarning, stacklevel=1)
        return x * n

    def g(x, n):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            y = f(x, n)
        caught.extend(str(w.message) for w in found)
        return y

    return Scene(g, [(X(), 1), (X(), 2), (X(), 2), (X(), 1)], state=lambda: caught, tail=True)


@scene
def locks_and_thread_locals():
    lock, local = threading.Lock(), threading.local()
    local.n = 1
    box = types.SimpleNamespace(n=0)

    def f(x):
        with lock:
            box.n += 1
        return x * box.n, local.n

    return Scene(
        f, [(X(),), (X(),), lambda: setattr(local, "n", 5), (X(),)], state=lambda: (box, lock.locked()), tail=True
    )
