"""Shelf: the replies that one socket reads at the moment, each with a task that writes its events.

All of them write through the socket's one Outlet, frame by frame. Frames name the reply only, so a
reply is read once on a socket: attaching again begins anew. It refuses to know what the client
says (websocket) and how frames look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app.errors import Overloaded
from app.events import AnyEvent
from app.reply.log import Reply
from app.reply.reader import Reader
from app.transports.crossing import Crossing, attach
from app.transports.outlet import Outlet, beside
from app.transports.reading import Reading


class Shelf:
    """``frame`` words one event. ``tasks`` is set by the session before anything is attached."""

    def __init__(self, frame: Callable[[AnyEvent], str], outlet: Outlet, limit: int) -> None:
        self.tasks: asyncio.TaskGroup
        self._frame = frame
        self._outlet = outlet
        self._limit = limit
        self._readers: dict[str, Reader] = {}
        self._empty = asyncio.Event()
        self._empty.set()

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
        reader = attach(reply, how)
        reader.is_cut_off = self._outlet.cut_if_dead
        self._readers[reply.id] = reader
        self._empty.clear()
        # Only now: a moment without any reader would look like everybody had left.
        if before is not None:
            before.close()
        self.tasks.create_task(self._write(reader, how))

    def acknowledge(self, id: str, seq: int) -> None:
        """The client has everything up to delta ``seq``; an ack may cross the reply's end on its way."""
        reader = self._readers.get(id)
        if reader is not None:
            reader.acknowledge(seq)

    async def emptied(self) -> None:
        """Wait until nothing is being read."""
        await self._empty.wait()

    def clear(self) -> None:
        """Give all cursors up; tasks that were cancelled before they began have closed nothing."""
        for reader in list(self._readers.values()):
            self._leave(reader)

    # Private

    async def _write(self, reader: Reader, how: Reading) -> None:
        """One reply's events, one after the other, until its end."""
        crossing = Crossing(reader, how, self._frame)
        try:
            async with beside(self._outlet.abort_if_slow(reader.reply)):
                async for event, frame in crossing:
                    await self._outlet.write(frame, None if how.acks else reader.receipt(event))
        finally:
            crossing.close()
            self._leave(reader)
            if self._readers.get(reader.reply.id) is reader:
                del self._readers[reader.reply.id]
            if not self._readers:
                self._empty.set()
        if reader.reply.failure is not None:
            await self._outlet.abort_if_slow(reader.reply)

    def _leave(self, reader: Reader) -> None:
        if self._outlet.stalled:
            reader.give_up("the socket took nothing any more")
        else:
            reader.close()
