"""A proxy as bad networks have them: it refuses WebSockets, hangs up on silence, or makes clumps.

Bytes pass as they are otherwise. For tests only: nothing is limited.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_UPGRADE = re.compile(rb"(?i)\r\nupgrade: websocket")
_FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@asynccontextmanager
async def rough_proxy(
    port: int, *, refuses_sockets: bool = False, idle_s: float | None = None, clump_s: float = 0.0
) -> AsyncIterator[str]:
    """Stand in front of the server on ``port``; gives the proxy's URL.

    ``idle_s``: a connection on which the server says nothing for so long is closed. ``clump_s``: what
    the server says is passed on only so often, as small packets are where Nagle's algorithm waits
    for acknowledgements.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if refuses_sockets and _UPGRADE.search(head):
                writer.write(_FORBIDDEN)
                await writer.drain()
                return
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
            up_writer.write(head)
            pumps = [
                asyncio.ensure_future(_pump(reader, up_writer, None, 0.0)),
                asyncio.ensure_future(_pump(up_reader, writer, idle_s, clump_s)),
            ]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                up_writer.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


# Private


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle_s: float | None, clump_s: float
) -> None:
    """Pass bytes on until their sender ends, or is silent for too long."""
    try:
        while data := await asyncio.wait_for(reader.read(65536), idle_s):
            writer.write(data)
            await writer.drain()
            if clump_s:
                await asyncio.sleep(clump_s)
    except TimeoutError:
        return
