"""A raw HTTP server for broken answers: it reads a request and hands over the socket.

Real sockets and no framework, since frameworks repair what these servers are meant to break. What is
written, when, and how it ends is the answering function's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def max_tokens(self) -> int:
        return int(self.body.get("max_tokens", 60))

    @property
    def wrong(self) -> bool:
        return "messages" in self.body and not isinstance(self.body["messages"], list)

    @property
    def takes_gzip(self) -> bool:
        return "gzip" in self.headers.get("accept-encoding", "")


class Out:
    """The answer's socket, with HTTP/1.1 chunks or without."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._chunked = False

    async def head(
        self,
        content_type: str,
        *,
        status: int = 200,
        version: str = "1.1",
        chunked: bool = True,
        **headers: str,
    ) -> None:
        self._chunked = chunked
        lines = [f"HTTP/{version} {status} X", f"content-type: {content_type}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        lines += ["transfer-encoding: chunked"] if chunked else []
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def write(self, *pieces: bytes) -> None:
        """Each piece as a chunk of its own, all of them at once."""
        await self.raw(b"".join(b"%x\r\n%s\r\n" % (len(p), p) if self._chunked else p for p in pieces))

    async def end(self) -> None:
        if self._chunked:
            await self.raw(b"0\r\n\r\n")

    async def whole(self, body: Any, status: int = 200) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.head("application/json", status=status, chunked=False, content_length=str(len(data)))
        await self.raw(data)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the client has closed."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1024):
                pass


Answer = Callable[[Asked, Out], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """The URL of a server on a free port; each connection gets one answer."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            asked = await _read(reader)
            if asked is not None:
                await answer(asked, Out(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            pass  # the test is over; StreamReaderProtocol would log a cancelled handler as an error
        finally:
            tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# Private


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    line = (await reader.readline()).decode().split()
    if len(line) != 3:
        return None
    headers: dict[str, str] = {}
    while (header := (await reader.readline()).decode().strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(line[1])
    query: dict[str, Any] = {name: values[0] for name, values in parse_qs(url.query).items()}
    return Asked(line[0], url.path, headers, json.loads(data) if data else query)
