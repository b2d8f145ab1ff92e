"""Outlet: the way out to one client: one send at a time, each with a deadline and a receipt.

A client that does not take a frame in time is cut off by its wire, because nothing else would ever
end it. A frame's receipt is called when the client's kernel has confirmed the frame: that a send has
returned says only that our own buffers had room. Every transport writes through one of these. It
refuses to know what the bytes mean.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from app.errors import SlowConsumer
from app.reply.log import Reply
from app.transports.wire import Wire

T = TypeVar("T")

#: How long the error of a too slow reader may take to be told, before its connection is cut.
_LAST_WORDS_S = 1.0
#: How often the wire is asked for receipts while nothing is written.
_LOOK_S = 0.05


class ConnectionGone(Exception):
    """Nobody is there any more; whatever was done for this client can end."""


class Stalled(ConnectionGone):
    """Somebody is there, but takes nothing any more; the connection was cut."""


class Outlet:
    """``send`` hands one frame, whatever that is there, to the transport, in at most ``send_s``."""

    def __init__(self, send: Callable[[Any], Awaitable[None]], wire: Wire, send_s: float) -> None:
        self._send = send
        self._wire = wire
        self._send_s = send_s
        self._lock = asyncio.Lock()
        self._written_ns = time.monotonic_ns()
        #: (bytes that the client has to have confirmed, whom to tell), oldest first.
        self._unconfirmed: deque[tuple[int, Callable[[], None]]] = deque()
        self._look_later: asyncio.TimerHandle | None = None
        #: Whether a frame was not taken in time; told to whom else writes here, in its ``finally``.
        self.stalled = False

    async def write(self, frame: Any, receipt: Callable[[], None] | None = None) -> None:
        """Send one frame. Raises Stalled, with the connection cut, when it was not taken in time.

        ``receipt`` is called once it has been confirmed, at once where nobody can tell when that is;
        never when the connection ends before.
        """
        async with self._lock:
            try:
                async with asyncio.timeout(self._send_s):
                    await self._send(frame)
            except TimeoutError:
                self.stalled = True
                self._wire.abort()
                raise Stalled(f"a frame was not taken for {self._send_s:g} s") from None
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

    async def abort_if_slow(self, reply: Reply) -> None:
        """Wait for the reply's end; if its reader was too slow, the connection is of no more use."""
        while reply.running:
            await reply.changed()
        if isinstance(reply.failure, SlowConsumer):
            await asyncio.sleep(_LAST_WORDS_S)
            self._wire.abort()

    # Private

    def _await_receipt(self, receipt: Callable[[], None]) -> None:
        carried = self._wire.carried()
        if carried is None:
            receipt()
            return
        self._unconfirmed.append((carried.handed, receipt))
        self._tell(carried.taken)
        if self._unconfirmed and self._look_later is None:
            self._look_later = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        """Between two writes: a client that catches up late would else never be heard of."""
        self._look_later = None
        carried = self._wire.carried()
        if carried is None:
            self._unconfirmed.clear()
            return
        self._tell(carried.taken)
        if self._unconfirmed:
            self._look_later = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def _tell(self, taken: int) -> None:
        while self._unconfirmed and self._unconfirmed[0][0] <= taken:
            self._unconfirmed.popleft()[1]()


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
