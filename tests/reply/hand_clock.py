"""An event loop whose clock the test moves by hand: what waits for seconds costs none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from app.events import AnyEvent
from app.reply.reader import Reader

T = TypeVar("T")


class HandLoop(asyncio.SelectorEventLoop):
    """``time`` stands still until ``now_s`` is changed."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1000.0

    def time(self) -> float:
        return self.now_s


def tell_story(story: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run one test's coroutine on a loop with a clock moved by hand."""
    with asyncio.Runner(loop_factory=HandLoop) as runner:
        return runner.run(story())


async def breathe() -> None:
    """Let everything that is ready run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def pass_time(seconds: float) -> None:
    """Move the clock and let what became due run."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, HandLoop)
    # A hair more: the loop's sums of floats may fall short of the exact moment.
    loop.now_s += seconds + 1e-6
    await breathe()


async def take_ready(reader: Reader) -> list[AnyEvent]:
    """All events that the reader has now, without waiting; the last one is asked past."""
    events: list[AnyEvent] = []
    while (event := await take_one(reader)) is not None:
        events.append(event)
    return events


async def take_one(reader: Reader) -> AnyEvent | None:
    """The reader's next event; None when it would have to wait, or when there is none any more."""
    task = asyncio.ensure_future(anext(reader, None))
    await breathe()
    if task.done():
        return task.result()
    task.cancel()
    await breathe()
    return None
