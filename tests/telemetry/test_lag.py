"""The event loop's lag by a clock in our hand, and on a real loop that is held up."""

from __future__ import annotations

import asyncio
import re
import time

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from app.telemetry.lag import watch_lag
from tests.server import Running


class Clock:
    """Each sleep comes late by the next of these."""

    def __init__(self, *late_s: float) -> None:
        self.now = 0
        self._late_s = list(late_s)

    async def sleep(self, seconds: float) -> None:
        if not self._late_s:
            raise asyncio.CancelledError
        self.now += round((seconds + self._late_s.pop(0)) * 1e9)


async def test_each_wake_up_tells_by_how_much_it_was_late() -> None:
    seen: list[float] = []
    clock = Clock(0.0, 0.25, -0.001, 2.0)
    with pytest.raises(asyncio.CancelledError):
        await watch_lag(seen.append, clock.sleep, lambda: clock.now)
    # A timer that is early is not late.
    assert seen == pytest.approx([0.0, 0.25, 0.0, 2.0])


async def test_a_handler_that_blocks_the_loop_shows_in_the_metrics(serve) -> None:
    server: Running = await serve(ScriptedEngine())
    async with httpx.AsyncClient(base_url=server.url) as client:

        async def later_than_200_ms() -> float:
            text = (await client.get("/metrics")).text
            bucket = re.search(r'^firstword_event_loop_lag_seconds_bucket\{le="0.2"\} (\S+)$', text, re.M)
            count = re.search(r"^firstword_event_loop_lag_seconds_count (\S+)$", text, re.M)
            assert bucket and count
            return float(count[1]) - float(bucket[1])

        before = await later_than_200_ms()
        time.sleep(0.4)  # noqa: ASYNC251 - this is the fault
        async with asyncio.timeout(10):
            while await later_than_200_ms() == before:
                pass
        text = (await client.get("/metrics")).text
    assert re.search(r"^firstword_tasks [1-9]", text, re.M)
