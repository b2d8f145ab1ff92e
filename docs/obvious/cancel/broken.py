"""A model's words through a queue. The task that makes them does not hear that nobody listens any more."""

import asyncio
from collections.abc import AsyncIterator, Callable


async def words(make: Callable[[], str | None]) -> AsyncIterator[str]:
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def work() -> None:
        while (word := make()) is not None:
            await queue.put(word)
            await asyncio.sleep(0)
        await queue.put(None)

    working = asyncio.create_task(work())
    while (word := await queue.get()) is not None:
        yield word
    await working
