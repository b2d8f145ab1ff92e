"""Clients that know less of HTTP than most do, and such that ask for more before they were answered."""

import asyncio
import json

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, http_request, raw

WORDS = [(b"one ", 0.0), (b"two ", 0.0), (b"three", 0.0)]
CHAT = {"model": "default", "messages": HELLO, "stream": True}
STREAMED = {
    "plain": http_request("GET", "/generate-stream?prompt=x"),
    "sse": http_request("POST", "/api/replies", {"messages": HELLO}, accept="text/event-stream"),
    "ndjson": http_request("POST", "/api/replies", {"messages": HELLO}, accept="application/x-ndjson"),
    "openai": http_request("POST", "/v1/chat/completions", CHAT),
    "anthropic": http_request("POST", "/v1/messages", CHAT | {"max_tokens": 10}),
}
ENDLESS = "prompt=x&ignore_eos=true&max_tokens=500"
STREAM = http_request("GET", f"/generate-stream?{ENDLESS}")
WHOLE = http_request("GET", f"/generate-full?{ENDLESS}")
HEALTH = http_request("GET", "/healthz")


def old(request: bytes) -> bytes:
    return request.replace(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", 1)


@pytest.mark.parametrize("request_bytes", STREAMED.values(), ids=STREAMED)
async def test_to_http_1_0_a_stream_is_its_bytes_until_the_end_of_the_connection(request_bytes):
    async with run_server(ScriptedEngine(WORDS)) as s, raw(s.port) as c:
        await c.send(old(request_bytes))
        head, _, body = (await c.read_all()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"connection: close" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    if request_bytes == STREAMED["plain"]:
        assert body == b"one two three"
    elif request_bytes == STREAMED["ndjson"]:
        assert [json.loads(line)["type"] for line in body.splitlines()][-1] == "done"
    else:
        assert body.startswith((b"data: {", b"event: ")) and body.endswith(b"\n\n")


async def test_to_http_1_0_each_word_is_there_before_the_next_is_made():
    async with run_server(ScriptedEngine(WORDS, manual=True)) as s, raw(s.port) as c:
        await c.send(old(STREAMED["plain"]))
        await until(lambda: s.replies.running())
        for word in (b"one ", b"two ", b"three"):
            s.engine.step()
            await c.read_until(word)


async def test_to_http_1_0_what_has_a_length_keeps_it():
    async with run_server(ScriptedEngine(WORDS)) as s, raw(s.port) as c:
        await c.send(old(http_request("GET", "/generate-full?prompt=x")))
        head, _, body = (await c.read_all()).partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head.lower()
    assert json.loads(body)["text"] == "one two three"


async def test_a_sleeper_of_http_1_0_gets_no_chunk_however_it_is_probed():
    # Small buffers and pauses in reading make other clients' frames heavy, by what only chunks can have.
    engine = ScriptedEngine([(b"0123456789abcdef", 1.0)])
    async with run_server(engine) as s, raw(s.port, receive_buffer=4096) as c:
        await c.send(old(STREAM))
        data = b""
        while chunk := await c.read(300):
            data += chunk
            await asyncio.sleep(0.02)
    assert data.partition(b"\r\n\r\n")[2] == b"0123456789abcdef" * 500


async def test_requests_sent_ahead_are_answered_in_their_order():
    async with run_server(ScriptedEngine(WORDS)) as s, raw(s.port) as c:
        await c.send(STREAMED["plain"] * 3 + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        answers = (await c.read_all()).split(b"HTTP/1.1 ")[1:]
    assert [b"three" in answer for answer in answers] == [True, True, True, False]
    assert answers[3].endswith(b'{"state":"alive"}')


@pytest.mark.parametrize("first", [STREAM, WHOLE], ids=["stream", "whole"])
@pytest.mark.parametrize("number", [1, 3])
async def test_who_asked_for_more_is_noticed_leaving_all_the_same(first, number):
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s:
        async with raw(s.port) as c:
            await c.send(first + HEALTH * number)
            await until(lambda: s.replies.running())
            engine.step()
        await until(lambda: len(s.replies) == 0)
        made = sum(engine.made.values())
        engine.step()
        assert sum(engine.made.values()) == made


@pytest.mark.parametrize(
    "after",
    [
        b"\0\1 this is no request\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 300_000,
        HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    ],
    ids=["garbage", "an endless head", "another protocol"],
)
async def test_nothing_is_written_into_an_answer_that_is_under_way(after):
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s, raw(s.port) as c:
        await c.send(STREAM)
        await until(lambda: s.replies.running())
        engine.step()
        await c.read_until(b"one ")
        await c.send(after)
        assert b"HTTP/1.1" not in await c.read_all()
        await until(lambda: len(s.replies) == 0)


async def test_a_body_that_breaks_off_its_own_form_is_answered_with_400():
    head = b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with run_server(ScriptedEngine(WORDS)) as s, raw(s.port) as c:
        await c.send(head + b"3\r\nabc\r\n")
        await until(lambda: s.server.server_state.tasks)
        await c.send(b"no number\r\n")
        assert (await c.read_all()).startswith(b"HTTP/1.1 400")
