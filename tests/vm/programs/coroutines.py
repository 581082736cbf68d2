"""async def, await, async for, async with, asyncio."""

import asyncio
import contextlib
import types


def by_hand():
    @types.coroutine
    def pause(value):
        return (yield value)

    async def f():
        return [await pause(1), await pause(2)]

    coro = f()
    log = [coro.send(None), coro.send("a")]
    try:
        coro.send("b")
    except StopIteration as stop:
        return log, stop.value


def an_event_loop():
    async def worker(n):
        await asyncio.sleep(0)
        return n * n

    async def main():
        return await asyncio.gather(*[worker(n) for n in range(4)])

    return asyncio.run(main())


def timeouts_and_cancelling():
    async def main():
        log = []
        try:
            await asyncio.wait_for(asyncio.sleep(10), 0.001)
        except asyncio.TimeoutError:
            log.append("timeout")
        task = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            log.append("cancelled")
        return log

    return asyncio.run(main())


def async_generators():
    log = []

    async def numbers():
        try:
            for n in range(3):
                await asyncio.sleep(0)
                received = yield n
                log.append(received)
        finally:
            log.append("closed")

    async def main():
        found = [n async for n in numbers()]
        it = numbers()
        found.append(await it.__anext__())
        found.append(await it.asend("sent"))
        await it.aclose()
        return found, {n: n async for n in numbers() if n}

    return asyncio.run(main()), log


def async_context():
    log = []

    @contextlib.asynccontextmanager
    async def manager():
        log.append("in")
        try:
            yield 5
        except KeyError:
            log.append("caught")
        finally:
            log.append("out")

    async def main():
        async with manager() as value:
            log.append(value)
            raise KeyError

    asyncio.run(main())
    return log


def error_in_task():
    async def fail():
        await asyncio.sleep(0)
        raise ValueError("in a task")

    async def main():
        await asyncio.gather(fail(), fail())

    asyncio.run(main())


def await_no_awaitable():
    async def f():
        await 5

    f().send(None)


def async_for_of_no_iterator():
    async def f():
        async for _ in 5:
            pass

    f().send(None)


def never_awaited_twice():
    async def f():
        return 1

    coro = f()
    with contextlib.suppress(StopIteration):
        coro.send(None)
    coro.send(None)
