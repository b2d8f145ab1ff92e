"""A client that leaves is noticed wherever its reply is, and the work for it ends."""

import asyncio

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import Running, run_server, until
from tests.socket.clients import HELLO, http_request, raw

WORDS = [(b"word ", 0.0)] * 10
STREAM = http_request("GET", "/generate-stream?prompt=x&ignore_eos=true&max_tokens=500")
WHOLE = http_request("GET", "/generate-full?prompt=x&ignore_eos=true&max_tokens=500")
CHAT = {"model": "default", "messages": HELLO, "ignore_eos": True, "max_tokens": 500}
REQUESTS = {
    "stream": STREAM,
    "whole": WHOLE,
    "openai stream": http_request("POST", "/v1/chat/completions", CHAT | {"stream": True}),
    "openai whole": http_request("POST", "/v1/chat/completions", CHAT),
}


async def ended(s: Running) -> None:
    """All traces of the reply are gone, and the engine makes nothing more."""
    await until(lambda: len(s.replies) == 0)
    await asyncio.sleep(0)
    made = sum(s.engine.made.values())
    for _ in range(3):
        s.engine.step()
    assert sum(s.engine.made.values()) == made


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
async def test_while_queued(request_bytes):
    engine = ScriptedEngine(WORDS, slots=1, manual=True)
    async with run_server(engine) as s, raw(s.port) as busy:
        await busy.send(WHOLE)
        await until(lambda: len(s.replies) == 1)
        async with raw(s.port) as c:
            await c.send(request_bytes)
            await until(lambda: len(s.replies) == 2)
        await until(lambda: len(s.replies) == 1)
        busy.close()
        await ended(s)
        assert len(engine.made) <= 1


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
async def test_before_the_first_token(request_bytes):
    async with run_server(ScriptedEngine(WORDS, manual=True)) as s:
        async with raw(s.port) as c:
            await c.send(request_bytes)
            await until(lambda: [r for r in s.replies.running() if r.started])
        await ended(s)
        assert not s.engine.made


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
async def test_in_the_middle(request_bytes):
    async with run_server(ScriptedEngine(WORDS, manual=True)) as s:
        async with raw(s.port) as c:
            await c.send(request_bytes)
            await until(lambda: s.replies.running())
            for _ in range(5):
                s.engine.step()
                await asyncio.sleep(0)
        await ended(s)


async def test_while_a_send_is_blocked():
    engine = ScriptedEngine([(b"x" * 5000, 0.0)], manual=True)
    async with run_server(engine, send_buffer_bytes=4096) as s:
        async with raw(s.port, receive_buffer=4096) as c:
            await c.send(STREAM)
            await until(lambda: s.replies.running())
            reply = s.replies.running()[0]
            for _ in range(80):
                engine.step()
                await asyncio.sleep(0)
            await until(lambda: reply.pause)
            assert reply.credit.read < reply.credit.made
        await ended(s)


@pytest.mark.parametrize("request_bytes", REQUESTS.values(), ids=REQUESTS)
async def test_just_before_the_end(request_bytes):
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s:
        async with raw(s.port) as c:
            await c.send(request_bytes.replace(b"500", b"5  ").replace(b"max_tokens=5  ", b"max_tokens=5"))
            await until(lambda: s.replies.running())
            for _ in range(5):
                engine.step()
        await until(lambda: len(s.replies) == 0)
        assert sum(engine.made.values()) == 5


async def test_a_reply_that_can_be_resumed_lives_on():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s:
        for accept in ("application/json", "text/event-stream"):
            async with raw(s.port) as c:
                await c.send(http_request("POST", "/api/replies", {"messages": HELLO}, accept=accept))
                await until(lambda: s.replies.has_readers())
            await until(lambda: not s.replies.has_readers())
        assert len(s.replies.running()) == 2


async def test_a_thousand_leavers_leave_nothing_behind():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, max_waiting=2000, max_replies=2000) as s:
        before = len(asyncio.all_tasks())

        async def come_and_go(request_bytes: bytes) -> None:
            async with raw(s.port) as c:
                await c.send(request_bytes)

        for _ in range(25):
            await asyncio.gather(*(come_and_go(r) for r in list(REQUESTS.values()) * 10))
        await until(lambda: len(s.replies) == 0 and len(asyncio.all_tasks()) <= before)
