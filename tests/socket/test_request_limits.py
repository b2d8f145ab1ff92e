"""Requests that never come to an end, or are too long: each is dropped, nobody else notices."""

import asyncio

import pytest

from app.transports.http_protocol import MAX_HEAD_BYTES
from tests.server import run_server, until
from tests.socket.clients import http_request, raw


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        (b"", b""),
        (b"G", b"HTTP/1.1 408 "),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"HTTP/1.1 408 "),
        (b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{", b""),
        (b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n", b"HTTP/1.1 408 "),
    ],
    ids=["nothing", "one byte", "half a head", "half a body", "half an upgrade"],
)
async def test_a_request_that_does_not_come_to_its_end_is_dropped(start, answer):
    async with run_server(header_s=0.2, body_s=0.2) as s, raw(s.port) as slow, raw(s.port) as other:
        if start:
            await slow.send(start)
        await other.send(http_request("GET", "/healthz"))
        await other.read_until(b"alive")
        data = await slow.read_all()
        assert data.startswith(answer) and (answer or not data)
        await until(lambda: len(s.server.server_state.connections) <= 1)


async def test_a_head_that_comes_drop_by_drop_is_dropped_all_the_same():
    async with run_server(header_s=0.3) as s, raw(s.port) as slow:
        await slow.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n")

        async def drip() -> None:
            while True:
                await slow.send(b"X-A: b\r\n")
                await asyncio.sleep(0.02)

        dripping = asyncio.ensure_future(drip())
        assert (await slow.read_all()).startswith(b"HTTP/1.1 408 ")
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_the_next_request_on_a_connection_has_the_same_deadline():
    async with run_server(header_s=0.3) as s, raw(s.port) as c:
        await c.send(http_request("GET", "/healthz"))
        await c.read_until(b"alive")
        await c.send(b"GET / HTTP/1.1\r\n")
        assert (await c.read_all()).startswith(b"HTTP/1.1 408 ")
    async with run_server(header_s=0.3) as s, raw(s.port) as c:
        await c.send(http_request("GET", "/healthz"))
        await c.read_until(b"alive")
        await c.send(b"\r\n")
        assert await c.read_all() == b""


async def test_an_endless_head_is_refused():
    async with run_server() as s, raw(s.port) as c:
        await c.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: b\r\n" * (MAX_HEAD_BYTES // 8 + 1))
        assert (await c.read_all()).startswith(b"HTTP/1.1 431 ")


async def test_a_long_but_honest_answer_is_no_late_request():
    async with run_server(header_s=0.2, body_s=0.2) as s, raw(s.port) as c:
        await c.send(http_request("GET", "/api/probe?ticks=6&every_ms=100"))
        await c.read_until(b"\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "junk", [b"\x16\x03\x01\x02\x00\x01", b"HELLO\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 100]
)
async def test_what_is_not_http_is_answered_with_400(junk):
    async with run_server() as s, raw(s.port) as c:
        await c.send(junk)
        assert b" 400 " in await c.read_all()
