"""Chorus: the n replies of one request, read as one stream of (index, event), in turns.

It refuses to know frames and sockets.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Self

from app.events import AnyEvent
from app.reply.reader import Reader


class Chorus:
    """An async iterator that takes the readers over: ``close`` gives their cursors up."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._turns = deque(enumerate(readers))
        self._news = asyncio.Event()
        for reader in readers:
            # Whichever of them has something, it is us whom it wakes.
            reader.news = self._news

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[int, AnyEvent]:
        while True:
            self._news.clear()
            for _ in range(len(self._turns)):
                index, reader = self._turns[0]
                self._turns.rotate(-1)
                if (event := reader.poll()) is not None:
                    return index, event
            if all(reader.over for _, reader in self._turns):
                raise StopAsyncIteration
            await self._news.wait()

    def close(self) -> None:
        """Give up all cursors; idempotent. A reply that nobody else reads may end by it."""
        for _, reader in self._turns:
            reader.close()
