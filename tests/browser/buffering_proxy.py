"""A proxy as some networks have it: it collects a whole response before it passes anything on.

Connections that are upgraded (WebSockets) pass through. For tests only: one request a connection,
nothing is limited.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def buffering_proxy(port: int) -> AsyncIterator[str]:
    """Stand in front of the server on ``port``; gives the proxy's URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await _pass_on(reader, writer, up_reader, up_writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            up_writer.close()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


# Private


async def _pass_on(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    up_reader: asyncio.StreamReader,
    up_writer: asyncio.StreamWriter,
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if re.search(rb"(?i)\r\nupgrade: websocket", head):
        up_writer.write(head)
        await asyncio.gather(_pump(reader, up_writer), _pump(up_reader, writer))
        return
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    body = await reader.readexactly(int(length[1])) if length else b""
    alone = re.sub(rb"(?i)\r\nconnection: [^\r]*", b"", head)
    up_writer.write(alone[:-2] + b"connection: close\r\n\r\n" + body)
    writer.write(await up_reader.read())
    await writer.drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
