"""F23: many connections that never finish their request are dropped, and pages are served meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import httpx

from tests.server import run_server, until
from tests.socket.clients import Raw, raw

NUM = 150
HEADER_S = 1.0


async def test_a_crowd_that_sends_a_byte_now_and_then_is_dropped_in_time_and_pages_are_served():
    async with run_server(header_s=HEADER_S) as s, AsyncExitStack() as stack:
        clock = asyncio.get_running_loop().time
        crowd = [await stack.enter_async_context(raw(s.port)) for _ in range(NUM)]
        for client in crowd:
            await client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        began_s = clock()

        async def drip(client: Raw) -> float:
            async def drops() -> None:
                while True:
                    await asyncio.sleep(0.2)
                    await client.send(b"x")

            dripping = asyncio.ensure_future(drops())
            try:
                assert (await client.read_all()).startswith(b"HTTP/1.1 408 ")
                return clock() - began_s
            finally:
                dripping.cancel()
                await asyncio.gather(dripping, return_exceptions=True)

        dropped = asyncio.gather(*(drip(client) for client in crowd))
        async with httpx.AsyncClient(base_url=s.url) as honest:
            while not dropped.done():
                assert (await honest.get("/healthz")).status_code == 200
                await asyncio.sleep(0.05)
        # Much later only by the load of the machine: each drop has not begun a wait of its own.
        assert max(await dropped) < HEADER_S + 5
        await until(lambda: len(s.server.server_state.connections) <= 1)


async def test_a_body_that_comes_drop_by_drop_has_a_deadline_too():
    async with run_server(body_s=0.3) as s, raw(s.port) as client:
        await client.send(b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n")

        async def drip() -> None:
            while True:
                await client.send(b" ")
                await asyncio.sleep(0.02)

        dripping = asyncio.ensure_future(drip())
        assert await client.read_all() == b""
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)
        await until(lambda: not s.server.server_state.connections)
