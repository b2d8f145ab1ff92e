import asyncio

import pytest

from app.events import AnyEvent, Delta, Done, Paused, Queued, Started
from app.generation import Failed, Resumed, Waiting
from app.generation import Paused as EnginePaused
from app.prompt import Prompt
from app.reply.flow import Delivery
from app.reply.log import Reply
from app.reply.reader import Reader
from tests.reply.fake_engine import FakeEngine
from tests.reply.hand_clock import take_one, take_ready

TEXT = "The first word comes soon."


def running(engine: FakeEngine, text: str = "") -> Reply:
    reply = Reply(Prompt("r", text="Hi"), engine, Delivery(), engine.clock)
    reply.submit()
    engine.begin("r")
    engine.say("r", *text)
    return reply


def text_of(seen: list[AnyEvent]) -> str:
    return "".join(e.text for e in seen if isinstance(e, Delta))


def started_of(seen: list[AnyEvent]) -> Started:
    (started,) = (e for e in seen if isinstance(e, Started))
    return started


async def read_all(reader: Reader) -> list[AnyEvent]:
    return [event async for event in reader]


async def test_a_reader_waits_for_what_is_written_and_ends_with_the_log():
    engine = FakeEngine()
    reply = running(engine)
    reading = asyncio.ensure_future(read_all(reply.attach("token")))
    for character in TEXT:
        engine.say("r", character)
        await asyncio.sleep(0)
    engine.finish("r")
    seen = await reading
    assert text_of(seen) == TEXT
    assert isinstance(seen[0], Started) and isinstance(seen[-1], Done)
    assert len(seen) == len(TEXT) + 2


@pytest.mark.parametrize("late", [False, True], ids=["while it runs", "after the end"])
@pytest.mark.parametrize("pace", ["token", "word", "sentence", "whole"])
async def test_it_resumes_behind_every_position(pace, late):
    for after in range(len(TEXT) + 1):
        engine = FakeEngine()
        reply = running(engine, TEXT if late else TEXT[:13])
        if late:
            engine.finish("r")
        # A position that is not in the log yet cannot have been seen.
        after = min(after, len(reply.deltas))
        reader = reply.attach(pace, after=after)
        seen = await take_ready(reader)
        if not late:
            engine.say("r", *TEXT[13:])
            engine.finish("r")
            seen += await take_ready(reader)
        assert text_of(seen) == TEXT[after:]
        assert started_of(seen).recovered is (True if after else None)
        assert reader.read_tokens == len(TEXT)


async def test_an_unknown_position_gets_the_whole_text_and_is_told():
    engine = FakeEngine()
    reply = running(engine, TEXT)
    engine.finish("r")
    for after in (len(TEXT) + 1, -1):
        seen = await take_ready(reply.attach("token", after=after))
        assert text_of(seen) == TEXT
        assert started_of(seen).recovered is False


async def test_a_position_in_a_reply_that_has_not_begun_is_unknown_too():
    engine = FakeEngine()
    reply = Reply(Prompt("r", text="Hi"), engine, Delivery(), engine.clock)
    reply.submit()
    engine.tell(Waiting("r", 0, 0))
    reader = reply.attach("token", after=3)
    assert await take_ready(reader) == [Queued("r", 0, 0.0)]
    engine.begin("r")
    engine.say("r", *TEXT)
    seen = await take_ready(reader)
    assert text_of(seen) == TEXT
    assert started_of(seen).recovered is False


async def test_after_the_window_the_whole_text_comes_unless_the_end_was_reached():
    engine = FakeEngine()
    reply = running(engine, TEXT)
    engine.finish("r")
    reply.compact()
    seen = await take_ready(reply.attach("token", after=7))
    assert (text_of(seen), started_of(seen).recovered) == (TEXT, False)
    seen = await take_ready(reply.attach("token"))
    assert (text_of(seen), started_of(seen).recovered) == (TEXT, None)
    seen = await take_ready(reply.attach("token", after=len(TEXT)))
    assert (text_of(seen), started_of(seen).recovered) == ("", True)


async def test_a_newcomer_in_line_hears_its_place_only_once():
    engine = FakeEngine()
    reply = Reply(Prompt("r", text="Hi"), engine, Delivery(), engine.clock)
    reply.submit()
    for position in (4, 3, 2):
        engine.tell(Waiting("r", position, 0))
    seen = await take_ready(reply.attach("token"))
    assert seen == [Queued("r", 2, 0.0)]


async def test_who_is_there_from_the_beginning_hears_all_of_the_line():
    engine = FakeEngine()
    reply = Reply(Prompt("r", text="Hi"), engine, Delivery(), engine.clock)
    reader = reply.attach("token")
    reply.submit()
    engine.tell(Waiting("r", 1, 0))
    engine.begin("r")
    assert [type(e) for e in await take_ready(reader)] == [Queued, Queued, Started]


async def test_a_newcomer_hears_of_a_pause_that_goes_on_and_not_of_those_long_over():
    engine = FakeEngine()
    reply = running(engine, "ab")
    engine.tell(EnginePaused("r", 0, 2))
    engine.tell(Resumed("r", 0))
    engine.say("r", "c")
    assert [type(e) for e in await take_ready(reply.attach("whole"))] == [Started]
    engine.tell(EnginePaused("r", 0, 3))
    seen = await take_ready(reply.attach("token"))
    assert [type(e) for e in seen] == [Started, Delta, Delta, Delta, Paused]
    engine.finish("r")
    seen = await take_ready(reply.attach("token"))
    assert [type(e) for e in seen] == [Started, Delta, Delta, Delta, Done]


async def test_all_at_once_is_one_delta_just_before_the_end():
    engine = FakeEngine()
    reply = running(engine, TEXT)
    reader = reply.attach("whole")
    assert [type(e) for e in await take_ready(reader)] == [Started]
    engine.finish("r")
    first, last = await take_ready(reader)
    assert isinstance(first, Delta) and isinstance(last, Done)
    assert (first.text, first.seq, first.tokens) == (TEXT, len(TEXT), len(TEXT))


@pytest.mark.parametrize("reason", ["stop", "cancelled"])
async def test_all_at_once_is_one_delta_also_where_there_is_no_text(reason):
    engine = FakeEngine()
    reply = running(engine)
    reader = reply.attach("whole")
    engine.finish("r", reason)
    _, delta, done = await take_ready(reader)
    assert isinstance(delta, Delta) and isinstance(done, Done)
    assert (delta.text, delta.seq, delta.tokens, delta.t) == ("", 0, 0, done.t)
    assert [type(e) for e in await take_ready(reply.attach("token"))] == [Started, Done]


async def test_what_waits_on_its_way_for_more_text_counts_as_read():
    engine = FakeEngine()
    reply = running(engine, "abc")
    reader = reply.attach("token", acks=True)
    await take_ready(reader)
    reader.hold_back(2)
    assert reader.read_tokens == reply.credit.read == 2
    reader.hold_back(0)
    assert reader.read_tokens == 0
    reader.acknowledge(3)
    assert reader.read_tokens == reply.credit.read == 3


async def test_text_held_back_comes_before_an_error():
    engine = FakeEngine()
    reply = running(engine, "half a wo")
    reader = reply.attach("word")
    engine.tell(Failed("r", "engine_lost", "gone", 0))
    assert text_of(await take_ready(reader)) == "half a wo"


async def test_a_delta_counts_as_read_when_the_next_event_is_asked_for():
    engine = FakeEngine()
    reply = running(engine, "abc")
    reader = reply.attach("token")
    assert isinstance(await anext(reader), Started)
    assert reader.read_tokens == 0
    assert isinstance(await anext(reader), Delta)
    assert reader.read_tokens == 0
    await anext(reader)
    assert reader.read_tokens == 1


async def test_what_the_pace_holds_back_counts_as_read():
    engine = FakeEngine()
    reply = running(engine, "never end")
    reader = reply.attach("sentence")
    await take_ready(reader)
    assert reader.read_tokens == len("never end")


async def test_a_cancelled_wait_loses_nothing():
    engine = FakeEngine()
    reply = running(engine)
    reader = reply.attach("token")
    seen = []
    for character in TEXT:
        assert not isinstance(await take_one(reader), Delta)
        engine.say("r", character)
        seen.append(await take_one(reader))
    assert text_of([e for e in seen if e is not None]) == TEXT


async def test_a_closed_reader_gives_nothing_more_and_is_not_waited_for():
    engine = FakeEngine()
    reply = running(engine, TEXT)
    reader = reply.attach("token", acks=True)
    for _ in range(4):
        await anext(reader)
    reader.close()
    reader.close()
    assert reply.readers == []
    reader.acknowledge(3)
    assert reply.credit.read == 0
    with pytest.raises(StopAsyncIteration):
        await anext(reader)
