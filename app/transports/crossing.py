"""Crossing: one reader's events on their way to its client, over a simulated link where one is asked for.

Without a link an event is handed on as it comes. With one its frame is made at once and waits as long
as the plan says (reply.link), unread like all that has not arrived, so that a slow link holds the
generation up like a slow reader does; only what the link's proxy collects waits for more text and
not for the reader, and would wait for ever if it stopped the text. The ``t`` of events stays the
server's own. Pings do not pass through here: they are the real connection's sign of life, and a
real proxy would cut a connection whose pings are kept back.

A reply that was stopped or broken off does not keep its reader waiting: the rest comes at once. It
refuses to know what frames look like and how they are written.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from app.events import AnyEvent, Delta, Done, Error
from app.reply.link import Link, LinkPlan
from app.reply.log import Reply
from app.reply.reader import Reader
from app.transports.reading import Reading

F = TypeVar("F", bytes, str)

#: Bytes on the way at which no more is taken from the reader; twice what a proxy may collect.
_MAX_BYTES = 131_072


@dataclass(slots=True)
class _Parcel(Generic[F]):
    event: AnyEvent
    frame: F


def attach(reply: Reply, how: Reading) -> Reader:
    """The cursor for a reading. It advances by the client's acks, or by the receipts of its frames."""
    return reply.attach(how.pace, after=how.after, acks=True)


class Crossing(Generic[F]):
    """An async iterator of (event, frame), each when it may be written. ``close`` it at the end."""

    def __init__(self, reader: Reader, how: Reading, frame: Callable[[AnyEvent], F]) -> None:
        self._reader = reader
        self._frame: Callable[[AnyEvent], F] = frame
        self._link = how.link
        self._plan = LinkPlan(how.link or Link())
        #: In the proxy, and behind it with the moment of their delivery; oldest first.
        self._held: deque[_Parcel[F]] = deque()
        self._flying: deque[tuple[float, _Parcel[F]]] = deque()
        self._bytes = 0
        self._over = False
        self._listening: asyncio.Task[AnyEvent | None] | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[AnyEvent, F]:
        if self._link is None:
            event = await anext(self._reader)
            return event, self._frame(event)
        while True:
            now_ms = _now_ms()
            self._launch(self._plan.flush_due(now_ms))
            if self._flying and (self._flying[0][0] <= now_ms or self._is_broken_off):
                return self._land()
            if self._over and not self._flying:
                raise StopAsyncIteration
            await self._wait(now_ms)

    def close(self) -> None:
        """Stop listening; the reader stays its owner's to close. Idempotent."""
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None

    # Private

    @property
    def _is_broken_off(self) -> bool:
        end = self._reader.reply.end
        return isinstance(end, Error) or isinstance(end, Done) and end.finish_reason == "cancelled"

    async def _wait(self, now_ms: float) -> None:
        """Until the next delivery, the next flush or the next event; takes the event in."""
        times = [at_ms for at_ms in (self._plan.flush_at_ms,) if at_ms is not None]
        if self._flying:
            times.append(self._flying[0][0])
        timeout_s = max(0.0, min(times) - now_ms) / 1000 if times else None
        if self._listening is None and not self._over and self._bytes < _MAX_BYTES:
            self._listening = asyncio.create_task(_next(self._reader))
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=timeout_s)
            if self._listening.done():
                listened, self._listening = self._listening, None
                self._take(listened.result())
            return
        # No room, or nothing more to come: an early end is the one piece of news that matters.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                self._reader.news.clear()
                await self._reader.news.wait()

    def _take(self, event: AnyEvent | None) -> None:
        now_ms = _now_ms()
        if event is None:
            self._over = True
            self._launch(self._plan.flush(now_ms))
            return
        parcel = _Parcel(event, self._frame(event))
        self._held.append(parcel)
        self._bytes += len(parcel.frame)
        last = isinstance(event, Done | Error)
        self._launch(self._plan.send(len(parcel.frame), now_ms, last=last))

    def _launch(self, deliveries_ms: list[float]) -> None:
        for at_ms in deliveries_ms:
            self._flying.append((at_ms, self._held.popleft()))
        self._reader.hold_back(sum(p.event.tokens for p in self._held if isinstance(p.event, Delta)))

    def _land(self) -> tuple[AnyEvent, F]:
        _, parcel = self._flying.popleft()
        self._bytes -= len(parcel.frame)
        return parcel.event, parcel.frame


# Private


async def _next(reader: Reader) -> AnyEvent | None:
    return await anext(reader, None)


def _now_ms() -> float:
    return asyncio.get_running_loop().time() * 1000
