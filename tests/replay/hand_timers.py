"""A clock with timers that the test moves by hand: recordings of minutes play in no time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class HandTimer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class HandTimers:
    """``now_ns`` and ``call_later`` as the player takes them; nothing happens but in ``advance``."""

    def __init__(self) -> None:
        self._now_ns = 1_000_000_000
        self._count = itertools.count()
        self._due: list[tuple[int, int, HandTimer]] = []

    def now_ns(self) -> int:
        return self._now_ns

    def call_later(self, delay_s: float, call: Callable[[], None]) -> HandTimer:
        timer = HandTimer(call)
        heapq.heappush(self._due, (self._now_ns + round(delay_s * 1e9), next(self._count), timer))
        return timer

    def advance(self, ms: float) -> None:
        """Move the clock; what becomes due meanwhile happens at its own time, in order."""
        until_ns = self._now_ns + round(ms * 1e6)
        while self._due and self._due[0][0] <= until_ns:
            self._now_ns, _, timer = heapq.heappop(self._due)
            if not timer.cancelled:
                timer.call()
        self._now_ns = until_ns
