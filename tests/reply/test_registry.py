import asyncio
from typing import Any

import pytest

from app.errors import BadRequest, EngineLoading, NotFound, Overloaded, ServerShutdown
from app.events import Done, Error
from app.generation import Waiting
from app.prompt import Prompt
from app.reply.registry import Replies
from app.settings import Settings
from tests.reply.fake_engine import FakeEngine
from tests.reply.hand_clock import breathe, pass_time, take_ready, tell_story

LIMITS: dict[str, Any] = {
    "max_waiting": 3,
    "max_replies": 4,
    "resume_s": 60.0,
    "await_readers_s": 10.0,
    "high_tokens": 4,
    "low_tokens": 1,
}


def registry(**changes: Any) -> tuple[FakeEngine, Replies]:
    engine = FakeEngine()
    return engine, Replies(engine, Settings(**(LIMITS | changes)), engine.clock)


def asked(id: str, text: str = "Hi") -> Prompt:
    return Prompt(id, text=text)


async def test_a_prompt_goes_to_the_engine_with_the_grant_of_its_policy():
    engine, replies = registry()
    replies.start(asked("a"))
    replies.start(asked("b"), slow_policy="buffer")
    replies.start(asked("c"), slow_policy="abort")
    assert [p.granted_tokens for p in engine.prompts.values()] == [4, None, 4]


async def test_start_is_idempotent_by_the_client_s_id():
    engine, replies = registry()
    first = replies.start(asked("a"), client_id="mine")
    assert replies.start(asked("b"), client_id="mine") is first
    assert list(engine.prompts) == ["a"]
    engine.finish("a")
    assert replies.start(asked("c"), client_id="mine") is first


async def test_another_prompt_under_the_same_id_is_another_reply():
    engine, replies = registry()
    first = replies.start(asked("a", "Tell me a secret"), client_id="1")
    second = replies.start(asked("b", "Hi"), client_id="1")
    assert second is not first
    assert replies.start(asked("c", "Hi"), client_id="1") is second and replies.get("a") is first


async def test_a_short_id_of_a_client_lets_nobody_in_and_a_long_one_does():
    _, replies = registry()
    long = replies.start(asked("a"), client_id="5f0e7c3a91b24d68")
    replies.start(asked("b"), client_id="5f0e7c3a91b24d6")
    assert replies.get("5f0e7c3a91b24d68") is long
    with pytest.raises(NotFound, match="from 16 characters on"):
        replies.get("5f0e7c3a91b24d6")


async def test_unknown_replies_are_not_found():
    _, replies = registry()
    with pytest.raises(NotFound, match="no reply 'nix'"):
        replies.get("nix")


async def test_the_line_at_the_door_is_bounded():
    engine, replies = registry()
    for id in "abc":
        replies.start(asked(id))
    with pytest.raises(Overloaded, match="3 requests are waiting"):
        replies.start(asked("d"))
    assert "d" not in engine.prompts
    engine.begin("a")
    replies.start(asked("d"))


async def test_the_oldest_finished_reply_that_nobody_reads_makes_room():
    engine, replies = registry()
    for id in "abcd":
        replies.start(asked(id), client_id=f"a client called {id}")
        engine.begin(id)
    with pytest.raises(Overloaded, match="4 replies are running"):
        replies.start(asked("e"))
    for id in "bcd":
        engine.finish(id)
    replies.get("b").attach("token")
    replies.start(asked("e"))
    assert len(replies) == 4
    for forgotten in ("c", "a client called c"):
        with pytest.raises(NotFound):
            replies.get(forgotten)
    assert replies.get("a client called b").id == "b"


async def test_what_the_engine_refuses_was_never_started():
    engine, replies = registry()
    engine.ready = False
    with pytest.raises(EngineLoading):
        replies.start(asked("a"), client_id="mine and nobody's")
    assert len(replies) == 0
    with pytest.raises(NotFound):
        replies.get("mine and nobody's")


async def test_a_fair_race_is_held_until_all_readers_are_there():
    engine, replies = registry()
    reply = replies.start(asked("a"), await_readers=2)
    reply.attach("token")
    assert engine.prompts == {}
    reply.attach("whole")
    assert list(engine.prompts) == ["a"]


def test_a_held_reply_fails_when_its_readers_do_not_come():
    async def story():
        engine, replies = registry()
        reply = replies.start(asked("a"), await_readers=3)
        reply.attach("token")
        await pass_time(10)
        assert isinstance(reply.failure, BadRequest)
        assert reply.failure.message == "await_readers: 1 of 3 readers came within 10 s"
        reply.attach("token")
        reply.attach("token")
        assert engine.prompts == {}

    tell_story(story)


async def test_a_held_reply_can_be_stopped():
    engine, replies = registry()
    reply = replies.start(asked("a"), await_readers=2)
    reply.stop()
    assert isinstance(reply.end, Done) and reply.end.finish_reason == "cancelled"
    reply.attach("token")
    reply.attach("token")
    assert engine.prompts == {}


async def test_a_held_reply_whose_engine_went_away_fails():
    engine, replies = registry()
    reply = replies.start(asked("a"), await_readers=2)
    engine.ready = False
    reply.attach("token")
    reply.attach("token")
    assert isinstance(reply.end, Error) and reply.end.code == "engine_loading"


def test_a_reply_that_nobody_returns_to_is_stopped_and_compacted():
    async def story():
        engine, replies = registry()
        reply = replies.start(asked("a"))
        reader = reply.attach("token")
        engine.begin("a")
        engine.say("a", *"abc")
        reader.close()
        await pass_time(59)
        assert engine.cancelled == []
        await pass_time(2)
        assert engine.cancelled == ["a"]
        engine.finish("a", "cancelled")
        assert len(reply.deltas) == 1
        assert replies.get("a").text == "abc"

    tell_story(story)


def test_a_reader_that_returns_in_time_keeps_it():
    async def story():
        engine, replies = registry()
        reply = replies.start(asked("a"))
        engine.begin("a")
        reply.attach("token").close()
        await pass_time(59)
        reader = reply.attach("token")
        await pass_time(100)
        assert engine.cancelled == []
        # The window begins anew with the next disconnect.
        reader.close()
        await pass_time(59)
        assert engine.cancelled == []
        await pass_time(2)
        assert engine.cancelled == ["a"]

    tell_story(story)


def test_a_reply_that_never_had_a_reader_does_not_stay_for_ever():
    async def story():
        engine, replies = registry()
        replies.start(asked("a"))
        replies.start(asked("b"), resumable=False)
        await pass_time(10)
        assert engine.cancelled == ["b"]
        await pass_time(50)
        assert engine.cancelled == ["b", "a"]
        assert len(replies) == 1

    tell_story(story)


async def test_without_resume_a_disconnect_stops_and_forgets_it():
    engine, replies = registry()
    reply = replies.start(asked("a"), resumable=False)
    reply.attach("token").close()
    assert engine.cancelled == ["a"]
    assert len(replies) == 0


async def test_meters_hear_every_event():
    engine, replies = registry()
    heard: list[str] = []
    replies.on_event = lambda reply, event: heard.append(f"{reply.id} {type(event).__name__}")
    replies.start(asked("a"))
    engine.begin("a")
    engine.finish("a")
    assert heard == ["a Queued", "a Started", "a Done"]


async def test_waiting_counts_those_whose_prefill_has_not_begun():
    engine, replies = registry()
    for id in "abc":
        replies.start(asked(id))
    engine.tell(Waiting("a", 0, 0))
    engine.begin("b")
    engine.begin("c")
    engine.finish("c")
    assert (replies.waiting(), len(replies.running())) == (1, 2)


def test_draining_lets_running_replies_finish_and_refuses_new_ones():
    async def story():
        engine, replies = registry()
        reply = replies.start(asked("a"))
        engine.begin("a")
        draining = asyncio.ensure_future(replies.drain(10))
        await breathe()
        with pytest.raises(ServerShutdown):
            replies.start(asked("b"))
        engine.say("a", "end")
        await breathe()
        assert not draining.done()
        engine.finish("a")
        await draining
        assert isinstance(reply.end, Done)

    tell_story(story)


def test_draining_ends_what_takes_too_long_with_an_error():
    async def story():
        engine, replies = registry()
        slow = replies.start(asked("a"))
        held = replies.start(asked("b"), await_readers=2)
        reader = slow.attach("token")
        engine.begin("a")
        engine.say("a", "half")
        draining = asyncio.ensure_future(replies.drain(5))
        await breathe()
        await pass_time(5)
        await draining
        assert engine.cancelled == ["a"]
        for reply in (slow, held):
            assert isinstance(reply.end, Error) and reply.end.code == "server_shutdown"
        assert (await take_ready(reader))[-1] == slow.end
        assert slow.text == "half"

    tell_story(story)
