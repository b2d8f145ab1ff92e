"""The replies of one request, read as one stream."""

import asyncio
from typing import Any

import pytest

from app.events import Delta
from app.transports.chorus import Chorus


class ScriptedReader:
    """Gives the events it is fed; ``asked`` counts how often the next one was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.closed = False
        self.events: asyncio.Queue[Delta | None] = asyncio.Queue()

    def feed(self, *texts: str) -> None:
        for text in texts:
            self.events.put_nowait(Delta("r", 1, text, 1, 0.0))

    def end(self) -> None:
        self.events.put_nowait(None)

    def __aiter__(self) -> "ScriptedReader":
        return self

    async def __anext__(self) -> Delta:
        self.asked += 1
        event = await self.events.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        self.closed = True


def chorus_of(*readers: Any) -> Chorus:
    return Chorus(readers)


async def test_it_gives_the_events_of_all_until_the_last_is_over() -> None:
    first, second = ScriptedReader(), ScriptedReader()
    chorus = chorus_of(first, second)
    first.feed("a", "b")
    first.end()
    second.feed("x", "y", "z")
    second.end()
    heard: dict[int, str] = {0: "", 1: ""}
    for _ in range(5):
        told = await chorus.next()
        assert told is not None and isinstance(told[1], Delta)
        heard[told[0]] += told[1].text
    assert heard == {0: "ab", 1: "xyz"}
    with pytest.raises(StopAsyncIteration):
        await chorus.next()


async def test_a_reader_is_asked_for_more_only_when_its_last_event_was_taken() -> None:
    first, second = ScriptedReader(), ScriptedReader()
    chorus = chorus_of(first, second)
    first.feed("a", "b")
    second.feed("x")
    await chorus.next()
    assert (first.asked, second.asked) == (1, 1)
    await chorus.next()
    # The second's event was handed out just now; nobody has said that it was written.
    assert second.asked == 1
    chorus.close()


async def test_silence_is_told_and_loses_nothing() -> None:
    reader = ScriptedReader()
    chorus = chorus_of(reader)
    assert await chorus.next(0.001) is None
    reader.feed("late")
    told = await chorus.next()
    assert told is not None and isinstance(told[1], Delta) and told[1].text == "late"
    assert reader.asked == 1
    chorus.close()


async def test_close_gives_every_cursor_up_and_stops_listening() -> None:
    readers = [ScriptedReader(), ScriptedReader()]
    chorus = chorus_of(*readers)
    assert await chorus.next(0.001) is None
    chorus.close()
    chorus.close()
    assert all(reader.closed for reader in readers)
    with pytest.raises(StopAsyncIteration):
        await chorus.next()
