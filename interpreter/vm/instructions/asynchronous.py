"""``await``, ``async for`` and ``async with``."""

from types import AsyncGeneratorType, CoroutineType, GeneratorType

from ..frame import Frame
from ..generators import frame_of
from ..hooks import Then, hooked
from ..lookups import has, lookup
from ..pyframes import user_traceback
from ..registry import instruction
from ..values import NULL
from .attributes import push

_ITERABLE_COROUTINE = 0x100


def awaitable_iterator(machine, obj):
    """The iterator that ``await obj`` steps, or the Frame that will give it; NULL where there is none."""
    kind = type(obj)
    if kind is CoroutineType or (kind is GeneratorType and obj.gi_code.co_flags & _ITERABLE_COROUTINE):
        return obj
    method = lookup(kind, "__await__")
    if method is NULL:
        raise TypeError(f"object {kind.__name__} can't be used in 'await' expression")
    getter = getattr(type(method), "__get__", None)
    bound = method if getter is None else getter(method, obj, kind)
    result = machine.call(bound, [])
    return hooked(result, Then(checked)) if type(result) is Frame else checked(result)


def checked(iterator):
    """What ``__await__`` gave, if it is an iterator."""
    kind = type(iterator)
    if kind is CoroutineType or (kind is GeneratorType and iterator.gi_code.co_flags & _ITERABLE_COROUTINE):
        raise TypeError("__await__() returned a coroutine")
    if lookup(kind, "__next__") is NULL:
        raise TypeError(f"__await__() returned non-iterator of type '{kind.__name__}'")
    return iterator


@instruction()
def GET_AWAITABLE(frame, where):
    stack = frame.stack
    obj = stack.pop()
    kind = type(obj)
    if where and lookup(kind, "__await__") is NULL and kind is not GeneratorType:
        method = "__aenter__" if where == 1 else "__aexit__"
        raise TypeError(
            f"'async with' received an object from {method} that does not implement __await__: {kind.__name__}"
        )
    if kind is CoroutineType:
        inner = frame_of(obj)
        busy = inner.delegating if inner is not None and inner.state == "suspended" else obj.cr_await is not None
        if inner is None and busy or inner is not None and busy:
            raise RuntimeError("coroutine is being awaited already")
    return push(frame, awaitable_iterator(frame.machine, obj))


@instruction()
def GET_AITER(frame, operand):
    obj = frame.stack.pop()
    kind = type(obj)
    method = lookup(kind, "__aiter__")
    if method is NULL or method is None:
        raise TypeError(f"'async for' requires an object with __aiter__ method, got {kind.__name__}")

    def check(iterator):
        if lookup(type(iterator), "__anext__") is NULL:
            name = type(iterator).__name__
            text = f"'async for' received an object from __aiter__ that does not implement __anext__: {name}"
            raise TypeError(text)
        return iterator

    result = frame.machine.call(method.__get__(obj, kind) if has(type(method), "__get__") else method, [])
    if type(result) is Frame:
        return hooked(result, Then(check))
    frame.stack.append(check(result))


@instruction()
def GET_ANEXT(frame, operand):
    stack, machine = frame.stack, frame.machine
    obj = stack[-1]
    kind = type(obj)
    if kind is AsyncGeneratorType:
        stack.append(obj.__anext__())
        return None
    method = lookup(kind, "__anext__")
    if method is NULL or method is None:
        raise TypeError(f"'async for' requires an iterator with __anext__ method, got {kind.__name__}")

    def awaited(value):
        try:
            found = awaitable_iterator(machine, value)
            return machine.finish(found) if type(found) is Frame else found
        except BaseException as error:
            text = f"'async for' received an invalid object from __anext__: {type(value).__name__}"
            error.__traceback__ = user_traceback(error)
            raise TypeError(text) from error

    result = machine.call(method.__get__(obj, kind) if has(type(method), "__get__") else method, [])
    if type(result) is Frame:
        return hooked(result, Then(awaited))
    stack.append(awaited(result))


@instruction()
def END_ASYNC_FOR(frame, operand):
    """The exception that ends an ``async for``: StopAsyncIteration is its end, others go on."""
    stack = frame.stack
    error = stack.pop()
    if issubclass(type(error), StopAsyncIteration):
        stack.pop()
        return None
    return frame.machine.unwind(frame, error, traced=False)
