"""The valve of a relayed answer: grants, pauses and slow motion, on a fake clock."""

from __future__ import annotations

import asyncio

from app.generation import Output, Paused, Resumed
from app.upstream.flow import Flow


class Clock:
    """Time moves when somebody sleeps, or when a test says so."""

    def __init__(self) -> None:
        self.now = 0
        self.slept_s: list[float] = []

    def now_ns(self) -> int:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now += round(seconds * 1e9)


def flow(clock: Clock, granted: int | None, told: list[Output], per_second: float | None = None) -> Flow:
    return Flow("a", granted, per_second, told.append, clock.now_ns, clock.sleep)


async def test_without_a_grant_nothing_waits() -> None:
    told: list[Output] = []
    valve = flow(Clock(), None, told)
    valve.give(10_000)
    assert await valve.opened() is False
    assert told == []


async def test_a_used_up_grant_pauses_until_a_larger_one_comes() -> None:
    clock, told = Clock(), list[Output]()
    valve = flow(clock, 2, told)
    valve.give(1)
    assert await valve.opened() is False
    valve.give(1)
    clock.now = 5
    waiting = asyncio.create_task(valve.opened())
    await asyncio.sleep(0)
    assert told == [Paused("a", 5, made=2)]
    clock.now = 7
    assert valve.paused_ns == 2, "a pause that lasts counts already"
    valve.grant(2)  # no more than was given already
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.now = 9
    valve.grant(3)
    assert await waiting is True
    assert told == [Paused("a", 5, made=2), Resumed("a", 9)]
    assert valve.paused_ns == 4


async def test_slow_motion_spaces_tokens_evenly_and_never_catches_up_in_a_burst() -> None:
    clock, told = Clock(), list[Output]()
    valve = flow(clock, None, told, per_second=10)
    assert await valve.opened() is False, "the first token comes at once"
    valve.give(1)
    assert await valve.opened() is True
    valve.give(2)
    clock.now += 50_000_000
    await valve.opened()
    assert clock.slept_s == [0.1, 0.15]
    clock.now += 10_000_000_000
    valve.give(1)
    await valve.opened()
    assert clock.slept_s[-1] == 0.1
