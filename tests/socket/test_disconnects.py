"""A client that leaves is noticed wherever its reply is, and the work for it ends."""

import asyncio

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import Running, run_server, until
from tests.socket.clients import HELLO, UPGRADE, http_request, raw, text_frame

WORDS = [(b"word ", 0.0)] * 10
STREAM = http_request("GET", "/generate-stream?prompt=x&ignore_eos=true&max_tokens=500")
RESUMED = {"messages": HELLO, "ignore_eos": True, "max_tokens": 500}
WHOLE = http_request("GET", "/generate-full?prompt=x&ignore_eos=true&max_tokens=500")
MESSAGE = {"model": "default", "messages": HELLO, "max_tokens": 500}
CHAT = MESSAGE | {"ignore_eos": True}
TEXT = {"model": "default", "prompt": "hello", "ignore_eos": True, "max_tokens": 500}
STREAMED = {
    "stream": STREAM,
    "openai chat": http_request("POST", "/v1/chat/completions", CHAT | {"stream": True}),
    "openai text": http_request("POST", "/v1/completions", TEXT | {"stream": True}),
    "anthropic": http_request("POST", "/v1/messages", MESSAGE | {"stream": True}),
}
REQUESTS = STREAMED | {
    "whole": WHOLE,
    "openai chat whole": http_request("POST", "/v1/chat/completions", CHAT),
    "openai text whole": http_request("POST", "/v1/completions", TEXT),
    "anthropic whole": http_request("POST", "/v1/messages", MESSAGE),
}
#: A disconnect is no stop on these: somebody may come back.
RESUMABLE = {
    accept: http_request("POST", "/api/replies", RESUMED, accept=accept)
    for accept in ("application/json", "text/event-stream", "application/x-ndjson", "text/plain")
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


async def block(s: Running) -> None:
    """Make text until the client's one reply is paused, because a send is blocked."""
    await until(lambda: s.replies.running())
    reply = s.replies.running()[0]
    for _ in range(80):
        s.engine.step()
        await asyncio.sleep(0)
    await until(lambda: reply.pause)
    assert reply.credit.read < reply.credit.made
    await until(lambda: [t for t in _transports(s) if t.get_write_buffer_size() > 0])


def _transports(s: Running) -> list[asyncio.Transport]:
    return [connection.transport for connection in s.server.server_state.connections]


@pytest.mark.parametrize("request_bytes", STREAMED.values(), ids=STREAMED)
async def test_while_a_send_is_blocked(request_bytes):
    engine = ScriptedEngine([(b"x" * 5000, 0.0)] * 200, manual=True)
    async with run_server(engine, send_buffer_bytes=4096) as s:
        async with raw(s.port, receive_buffer=4096) as c:
            await c.send(request_bytes)
            await block(s)
        await ended(s)


@pytest.mark.parametrize("wire", [*RESUMABLE, "websocket"])
async def test_a_reader_that_leaves_while_a_send_is_blocked_is_waited_for_no_longer(wire):
    engine = ScriptedEngine([(b"x" * 5000, 0.0)] * 200, manual=True)
    async with run_server(engine, send_buffer_bytes=4096) as s:
        async with raw(s.port, receive_buffer=4096) as c:
            if wire == "websocket":
                await c.send(UPGRADE)
                await c.read_until(b"\r\n\r\n")
                await c.send(text_frame({"type": "start", "id": "a", **RESUMED}))
            else:
                await c.send(RESUMABLE[wire])
            if wire != "application/json":
                await block(s)
            await until(lambda: s.replies.has_readers())
        await until(lambda: not s.replies.has_readers())
        (reply,) = s.replies.running()
        made = engine.made[reply.id]
        engine.step()
        assert engine.made[reply.id] == made + 1, "it goes on for who may come back"


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
        for request_bytes in RESUMABLE.values():
            async with raw(s.port) as c:
                await c.send(request_bytes)
                await until(lambda: s.replies.has_readers())
            await until(lambda: not s.replies.has_readers())
        assert len(s.replies.running()) == len(RESUMABLE)


async def test_a_thousand_leavers_leave_nothing_behind():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, max_waiting=2000, max_replies=2000) as s:
        before = len(asyncio.all_tasks())

        async def come_and_go(request_bytes: bytes) -> None:
            async with raw(s.port) as c:
                await c.send(request_bytes)

        for _ in range(25):
            await asyncio.gather(*(come_and_go(r) for r in list(REQUESTS.values()) * 5))
        await until(lambda: len(s.replies) == 0 and len(asyncio.all_tasks()) <= before)
