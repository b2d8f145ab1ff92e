"""When the listener leaves after one word, the model stops soon."""

import asyncio
from types import ModuleType


def check(streamer: ModuleType) -> None:
    made = 0

    def make() -> str | None:
        nonlocal made
        made += 1
        return "word" if made < 1000 else None

    async def leave() -> None:
        stream = streamer.words(make)
        assert await anext(stream) == "word"
        await stream.aclose()
        for _ in range(2000):
            await asyncio.sleep(0)

    asyncio.run(leave())
    assert made < 20, f"{made} words were made for nobody"
