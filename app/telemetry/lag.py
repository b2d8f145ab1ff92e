"""Lag: how late the event loop comes to a timer, which is how late it comes to everybody.

Whatever computes on the loop for long delays every stream at once and shows in no reply's own
numbers. It refuses to know who is to blame.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

#: Twenty looks a second: a stretch of 50 ms cannot slip between two, and they cost nothing to speak of.
_PERIOD_S = 0.05


async def watch_lag(
    observe: Callable[[float], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> None:
    """Tell ``observe`` the seconds by which each wake-up was late, until cancelled."""
    while True:
        due_ns = now_ns() + round(_PERIOD_S * 1e9)
        await sleep(_PERIOD_S)
        observe(max(now_ns() - due_ns, 0) / 1e9)
