"""F02, F04 and F23: crowds of connections that do nothing, or nearly nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from contextlib import AsyncExitStack

import httpx
from websockets.asyncio.client import ClientConnection, connect

from drill.case import Finding, Scale
from drill.served import Served, served, within
from drill.streams import QUESTION, others, p95, unharmed

#: Server and drill share few cores, so an honest gap varies by itself.
_CALM_S = 20.0
#: Looks at a page before an attack, and again after it: ten seconds each.
_NUM_CALM = 100


async def zombie(scale: Scale) -> Finding:
    """F02: a reader that keeps its connection alive, takes nothing and never leaves."""
    # Large tokens, or the kernel's buffers would swallow the whole answer.
    async with served(script_tokens=[["x" * 1000, 5.0]]) as server:
        before = server.cost()
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", server.port))
            body = json.dumps({"messages": QUESTION, "ignore_eos": True, "max_tokens": 1000})
            sock.sendall(
                b"POST /api/replies HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            await asyncio.sleep(1)
            began_s = time.monotonic()
            gone = await within(60, lambda: not server.holds(sock.getsockname()[1]))
            took_s = time.monotonic() - began_s
        slow = await server.meter("firstword_aborted_total")
        clean = await server.clean(before)
    return Finding(
        f"connection gone after {took_s:.0f} s, {slow:.0f} aborted, clean: {clean}",
        gone and clean and slow == 1,
    )


async def idle(scale: Scale) -> Finding:
    """F04: many sockets that say nothing, for long."""
    num, minutes = 300 if scale.quick else 1000, scale.lasting(0.5, 10.0)
    async with served() as server, AsyncExitStack() as stack:
        before = server.cost()
        sockets = await _silent(server, stack, num)
        await asyncio.sleep(minutes * 60)
        kib_each = (server.cost().rss - before.rss) / num / 1024
        dropped = sum(each.close_code is not None for each in sockets)
    return Finding(
        f"{num} sockets for {minutes:g} min: {kib_each:.1f} KiB each, {dropped} dropped",
        kib_each <= 40 and dropped == 0,
    )


async def stream_beside_idle(scale: Scale) -> Finding:
    """F04's other half: one stream, alone, beside as many sockets, and alone again."""
    num = 300 if scale.quick else 1000
    async with served() as server, others(server.ws, 1) as gaps:
        await asyncio.sleep(_CALM_S)
        calm = gaps.mark()
        async with AsyncExitStack() as stack:
            await _silent(server, stack, num)
            gaps.mark()
            await asyncio.sleep(2 * _CALM_S)
            during = gaps.mark()
        gaps.mark()
        # Before and after: what else the machine does must not be taken for the fault.
        await asyncio.sleep(_CALM_S)
        calm += gaps.mark()
    return Finding(
        f"beside {num} sockets: p95 gap {p95(calm):.1f} ms before and after, {p95(during):.1f} ms meanwhile",
        unharmed(calm, during, 1.05),
    )


async def slowloris(scale: Scale) -> Finding:
    """F23: many connections whose request never comes to its end; a page is asked for meanwhile.

    The attackers are a process of their own, or their work would delay who measures the page.
    """
    num = 200 if scale.quick else 1000
    async with served() as server, httpx.AsyncClient(base_url=server.url) as http:
        calm = [await _first_byte_ms(http) for _ in range(_NUM_CALM)]
        before = server.cost()
        attack = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "drill.slowloris",
            str(server.port),
            str(num),
            stdout=asyncio.subprocess.PIPE,
        )
        assert attack.stdout is not None
        await attack.stdout.readline()  # All are connected.
        during = []
        ended = asyncio.ensure_future(attack.stdout.readline())
        while not ended.done():
            during.append(await _first_byte_ms(http))
        slowest_s = float(await ended)
        await attack.wait()
        clean = await server.clean(before)
        # Before and after, as above.
        calm += [await _first_byte_ms(http) for _ in range(_NUM_CALM)]
    return Finding(
        f"{num} slow requests: all dropped after {slowest_s:.1f} s, clean: {clean}, "
        f"page p95 {p95(calm):.1f} to {p95(during):.1f} ms",
        slowest_s <= 20 and clean and unharmed(calm, during, 1.20),
    )


# Private


async def _silent(server: Served, stack: AsyncExitStack, num: int) -> list[ClientConnection]:
    return [
        await stack.enter_async_context(connect(server.ws, ping_interval=None, compression=None))
        for _ in range(num)
    ]


async def _first_byte_ms(http: httpx.AsyncClient) -> float:
    """One look at a page, after a pause."""
    await asyncio.sleep(0.1)
    began_ns = time.monotonic_ns()
    (await http.get("/")).raise_for_status()
    return (time.monotonic_ns() - began_ns) / 1e6
