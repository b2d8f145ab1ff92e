"""When a relayed answer may go on: the reader's grant and the teacher's slow motion.

A relay waits here before each piece and before each read. While it waits nothing is read from the
socket, so TCP pushes back on the upstream (which itself computes on: hence ``can_pause`` False).
It refuses to know sockets and text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from app.generation import Output, Paused, Resumed

Sleep = Callable[[float], Awaitable[object]]


class Flow:
    """One answer's valve, counted in tokens given so far."""

    def __init__(
        self,
        id: str,
        granted: int | None,
        tokens_per_second: float | None,
        emit: Callable[[Output], None],
        now_ns: Callable[[], int],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.given = 0
        self._id = id
        self._granted = granted
        self._ns_a_token = 1e9 / tokens_per_second if tokens_per_second else 0.0
        self._due_ns = 0.0
        self._emit = emit
        self._now_ns = now_ns
        self._sleep = sleep
        self._grown = asyncio.Event()
        self._paused_ns = 0
        self._paused_since_ns: int | None = None

    @property
    def paused_ns(self) -> int:
        """Time spent waiting for the reader, a pause that still lasts included."""
        since = self._paused_since_ns
        return self._paused_ns + (self._now_ns() - since if since is not None else 0)

    def grant(self, tokens: int) -> None:
        """``tokens`` in all may be given from now on."""
        self._granted = tokens
        self._grown.set()

    def give(self, tokens: int) -> None:
        """So many more were given."""
        self.given += tokens
        self._due_ns = max(self._due_ns, self._now_ns()) + tokens * self._ns_a_token

    async def opened(self) -> bool:
        """Wait until another piece may be given; True when there was something to wait for."""
        waited = False
        if self._used_up():
            await self._pause()
            waited = True
        ahead_ns = self._due_ns - self._now_ns()
        if self._ns_a_token and ahead_ns > 0:
            await self._sleep(ahead_ns / 1e9)
            waited = True
        return waited

    # Private

    def _used_up(self) -> bool:
        return self._granted is not None and self.given >= self._granted

    async def _pause(self) -> None:
        self._paused_since_ns = self._now_ns()
        self._emit(Paused(self._id, self._paused_since_ns, made=self.given))
        while self._used_up():
            self._grown.clear()
            await self._grown.wait()
        self._paused_ns = self.paused_ns
        self._paused_since_ns = None
        self._emit(Resumed(self._id, self._now_ns()))
