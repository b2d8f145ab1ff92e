"""The replies of one request, read as one stream."""

import asyncio
from collections import deque
from typing import Any

import pytest

from app.events import Delta
from app.transports.chorus import Chorus


class ScriptedReader:
    """Gives the events it is fed; ``asked`` counts how often the next one was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.over = False
        self.closed = False
        self.news = asyncio.Event()
        self.events: deque[Delta] = deque()

    def feed(self, *texts: str) -> None:
        self.events += [Delta("r", 1, text, 1, 0.0) for text in texts]
        self.news.set()

    def end(self) -> None:
        self.over = True
        self.news.set()

    def poll(self) -> Delta | None:
        self.asked += 1
        return self.events.popleft() if self.events else None

    def close(self) -> None:
        self.closed = self.over = True
        self.news.set()


def chorus_of(*readers: Any) -> Chorus:
    return Chorus(readers)


async def heard(chorus: Chorus, num: int) -> list[tuple[int, str]]:
    events = [await anext(chorus) for _ in range(num)]
    return [(index, event.text) for index, event in events if isinstance(event, Delta)]


async def test_it_gives_the_events_of_all_in_turns_until_the_last_is_over() -> None:
    first, second = ScriptedReader(), ScriptedReader()
    chorus = chorus_of(first, second)
    first.feed("a", "b")
    first.end()
    second.feed("x", "y", "z")
    second.end()
    assert await heard(chorus, 5) == [(0, "a"), (1, "x"), (0, "b"), (1, "y"), (1, "z")]
    with pytest.raises(StopAsyncIteration):
        await anext(chorus)


async def test_a_reader_is_asked_for_more_only_when_its_last_event_was_taken() -> None:
    reader = ScriptedReader()
    chorus = chorus_of(reader)
    reader.feed("a", "b")
    await anext(chorus)
    await asyncio.sleep(0)
    assert reader.asked == 1


async def test_it_waits_for_any_of_them() -> None:
    readers = [ScriptedReader() for _ in range(3)]
    chorus = chorus_of(*readers)
    for index in (2, 0, 1, 1):
        waiting = asyncio.ensure_future(heard(chorus, 1))
        await asyncio.sleep(0)
        assert not waiting.done()
        readers[index].feed("late")
        assert await waiting == [(index, "late")]


async def test_close_gives_every_cursor_up_and_ends_the_waiting() -> None:
    readers = [ScriptedReader(), ScriptedReader()]
    chorus = chorus_of(*readers)
    waiting = asyncio.ensure_future(heard(chorus, 1))
    await asyncio.sleep(0)
    chorus.close()
    chorus.close()
    assert all(reader.closed for reader in readers)
    with pytest.raises((StopAsyncIteration, RuntimeError)):
        await waiting
