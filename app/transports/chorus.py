"""Chorus: the n replies of one request, read as one stream of (index, event).

A reply's next event is asked for only when its last one has been handed out and the caller wants
more, so that each reader's progress still means that its text was taken. It refuses to know frames
and sockets.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from app.events import AnyEvent
from app.reply.reader import Reader


class Chorus:
    """Takes the readers over: ``close`` gives their cursors up."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = list(readers)
        self._listening: dict[asyncio.Task[AnyEvent | None], int] = {}
        self._resting = set(range(len(readers)))
        self._ready: deque[tuple[int, AnyEvent]] = deque()

    async def next(self, silence_s: float | None = None) -> tuple[int, AnyEvent] | None:
        """The next event of any reply; None when none came for ``silence_s``.

        Raises StopAsyncIteration when all replies are over.
        """
        while not self._ready:
            self._listen()
            if not self._listening:
                raise StopAsyncIteration
            heard, _ = await asyncio.wait(
                self._listening, timeout=silence_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not heard:
                return None
            for task in sorted(heard, key=self._listening.__getitem__):
                index, event = self._listening.pop(task), task.result()
                if event is not None:
                    self._ready.append((index, event))
        index, event = self._ready.popleft()
        self._resting.add(index)
        return index, event

    def close(self) -> None:
        """Give up all cursors; idempotent. A reply that nobody else reads may end by it."""
        for task in self._listening:
            task.cancel()
        self._listening.clear()
        self._resting.clear()
        self._ready.clear()
        for reader in self._readers:
            reader.close()

    # Private

    def _listen(self) -> None:
        for index in sorted(self._resting):
            task = asyncio.create_task(_next(self._readers[index]))
            self._listening[task] = index
        self._resting.clear()


# Private


async def _next(reader: Reader) -> AnyEvent | None:
    return await anext(reader, None)
