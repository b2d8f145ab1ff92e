"""Outlet: the way out to one client: one send at a time, each with a receipt.

A frame's receipt is called when the client has taken the frame, as far as its connection tells (see
wire): that a send has returned says only that our own buffers had room. While the wire is not sure, a
frame now and then is made heavy, by bytes that mean nothing in its format, which shows whether the far
end sleeps. One that takes nothing at all is cut off by its wire. Every transport writes through one of
these. It refuses to know what the bytes mean.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from app.errors import SlowConsumer
from app.reply.log import Reply
from app.transports.wire import Carried, Wire

T = TypeVar("T")

#: How long a too slow reader may take for what it was told until its end, before its connection is cut.
_LAST_WORDS_S = 1.0
#: How often the wire is asked for receipts while nothing is written.
_LOOK_S = 0.05
#: One frame of so many is made heavy: how it was taken is to be known before the next one.
_HEAVY_EVERY = 4


class ConnectionGone(Exception):
    """Nobody is there any more; whatever was done for this client can end."""


class Outlet:
    """``send`` hands one frame, whatever that is there, to the transport.

    ``send_heavy`` does it with a frame of so many bytes at least.
    """

    def __init__(
        self,
        send: Callable[[Any], Awaitable[None]],
        wire: Wire,
        send_heavy: Callable[[Any, int], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._send_heavy = send_heavy
        self._wire = wire
        self._lock = asyncio.Lock()
        self._written_ns = time.monotonic_ns()
        #: (bytes that the client has to have taken, whom to tell), oldest first.
        self._untaken: deque[tuple[int, Callable[[], None]]] = deque()
        self._weight = 0
        self._since_heavy = 0
        self._look_later: asyncio.TimerHandle | None = None

    @property
    def stalled(self) -> bool:
        """Whether the client took nothing for too long, and was cut off."""
        return self._wire.stalled

    async def write(self, frame: Any, receipt: Callable[[], None] | None = None) -> None:
        """Send one frame. Raises ConnectionGone when the client was cut off, as it took nothing.

        ``receipt`` is called once it has been taken, at once where nobody can tell when that is; never
        when the connection ends before.
        """
        async with self._lock:
            self._since_heavy += 1
            if self._weight and self._send_heavy is not None and self._since_heavy >= _HEAVY_EVERY:
                self._since_heavy = 0
                await self._send_heavy(frame, self._weight)
            else:
                await self._send(frame)
            if self._wire.stalled:
                raise ConnectionGone("the client takes nothing any more")
            self._written_ns = time.monotonic_ns()
            if receipt is not None:
                self._await_receipt(receipt)

    async def beat(self, silence_s: float, pulse: Callable[[], Any]) -> None:
        """Send a pulse whenever nothing was sent for so long; never returns."""
        while True:
            silent_s = (time.monotonic_ns() - self._written_ns) / 1e9
            if silent_s >= silence_s:
                await self.write(pulse())
            else:
                await asyncio.sleep(silence_s - silent_s)

    def cut_if_dead(self) -> bool:
        """See Wire."""
        return self._wire.cut_if_dead()

    async def abort_if_slow(self, reply: Reply) -> None:
        """Wait for the reply's end; if its reader was too slow and sleeps on, end the connection.

        To be run beside the writing, which may be blocked, and once more behind it: what is still to be
        said may fit into buffers from which nobody takes anything any more. One that takes all and owes
        acknowledgements only keeps its connection, over which others may be read.
        """
        await reply.over.wait()
        if isinstance(reply.failure, SlowConsumer):
            owed = self._wire.carried()
            await asyncio.sleep(_LAST_WORDS_S)
            if not self._has_taken(owed):
                self._wire.abort()

    # Private

    def _has_taken(self, owed: Carried | None) -> bool:
        """Whether the client has by now taken all that had been written at the time of ``owed``."""
        carried = self._wire.carried()
        if owed is None or carried is None:
            return self._wire.buffered_bytes == 0
        return carried.taken >= owed.handed

    def _await_receipt(self, receipt: Callable[[], None]) -> None:
        carried = self._wire.carried()
        if carried is None:
            receipt()
            return
        self._untaken.append((carried.handed, receipt))
        self._tell(carried)

    def _look(self) -> None:
        """Between two writes: a client that catches up late would else never be heard of."""
        self._look_later = None
        carried = self._wire.carried()
        if carried is None:
            self._untaken.clear()
        else:
            self._tell(carried)

    def _tell(self, carried: Carried) -> None:
        self._weight = carried.weight
        while self._untaken and self._untaken[0][0] <= carried.taken:
            self._untaken.popleft()[1]()
        if self._untaken and self._look_later is None:
            self._look_later = asyncio.get_running_loop().call_later(_LOOK_S, self._look)


@asynccontextmanager
async def beside(*watches: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run watches of an outlet for as long as the block takes; how they end is nobody's business."""
    tasks = [asyncio.create_task(watch) for watch in watches]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def unless_gone(work: Awaitable[T], gone: Awaitable[object]) -> T:
    """The result of ``work``; raises ConnectionGone, with the work cancelled, when ``gone`` is first."""
    worker = asyncio.ensure_future(work)
    watcher = asyncio.ensure_future(gone)
    try:
        await asyncio.wait({worker, watcher}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        worker.cancel()
        watcher.cancel()
        await asyncio.wait({worker, watcher})
        if not watcher.cancelled():
            # However it ended, by a message or by an error: there is nobody there.
            watcher.exception()
    if worker.cancelled():
        raise ConnectionGone("the client went away")
    return worker.result()
