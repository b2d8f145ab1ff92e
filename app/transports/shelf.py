"""Shelf: the replies that one socket reads at the moment, each with a task that writes its events.

All of them write through the socket's one Outlet, frame by frame. Frames name the reply only, so a
reply is read once on a socket: attaching again begins anew. It refuses to know what the client
says (websocket) and how frames look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from app.errors import Overloaded
from app.events import AnyEvent
from app.reply.log import Reply
from app.reply.reader import Reader
from app.transports.outlet import Outlet
from app.transports.reading import Reading


class Shelf:
    """``send`` writes one event. ``tasks`` is set by the session before anything is attached."""

    def __init__(self, send: Callable[[AnyEvent], Awaitable[None]], outlet: Outlet, limit: int) -> None:
        self.tasks: asyncio.TaskGroup
        self._send = send
        self._outlet = outlet
        self._limit = limit
        self._readers: dict[str, Reader] = {}

    def has(self, reply: Reply) -> bool:
        """Whether the reply is being read here."""
        return reply.id in self._readers

    def check_room(self) -> None:
        """Raises Overloaded when no more replies may be read at once."""
        if len(self._readers) >= self._limit:
            raise Overloaded(f"this socket reads {self._limit} replies at once already, which is the limit")

    def attach(self, reply: Reply, how: Reading) -> None:
        """Read a reply from now on."""
        before = self._readers.pop(reply.id, None)
        reader = reply.attach(how.pace, after=how.after, acks=how.acks)
        self._readers[reply.id] = reader
        # Only now: a moment without any reader would look like everybody had left.
        if before is not None:
            before.close()
        self.tasks.create_task(self._write(reader))

    def acknowledge(self, id: str, seq: int) -> None:
        """The client has everything up to delta ``seq``; an ack may cross the reply's end on its way."""
        reader = self._readers.get(id)
        if reader is not None:
            reader.acknowledge(seq)

    def clear(self) -> None:
        """Give all cursors up; tasks that were cancelled before they began have closed nothing."""
        for reader in list(self._readers.values()):
            self._leave(reader)

    # Private

    async def _write(self, reader: Reader) -> None:
        """One reply's events, one after the other, until its end."""
        watcher = asyncio.ensure_future(self._abort_if_stuck(reader))
        try:
            async for event in reader:
                await self._send(event)
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)
            self._leave(reader)
            if self._readers.get(reader.reply.id) is reader:
                del self._readers[reader.reply.id]

    def _leave(self, reader: Reader) -> None:
        if self._outlet.stalled:
            reader.give_up("the socket took nothing any more")
        else:
            reader.close()

    async def _abort_if_stuck(self, reader: Reader) -> None:
        # With acks a slow reader says nothing about the socket, which others may be reading.
        if not reader.acks:
            await self._outlet.abort_if_slow(reader.reply)
