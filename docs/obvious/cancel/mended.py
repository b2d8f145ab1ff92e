"""A model's words through a queue that is bounded. Whoever stops listening ends the work."""

import asyncio
from collections.abc import AsyncIterator, Callable


async def words(make: Callable[[], str | None]) -> AsyncIterator[str]:
    queue: asyncio.Queue[str | None] = asyncio.Queue(maxsize=8)

    async def work() -> None:
        while (word := make()) is not None:
            await queue.put(word)
            await asyncio.sleep(0)
        await queue.put(None)

    working = asyncio.create_task(work())
    try:
        while (word := await queue.get()) is not None:
            yield word
    finally:
        working.cancel()
