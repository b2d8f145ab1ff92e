"""Clients for the socket tests: a WebSocket that speaks events, and raw HTTP for what no library does."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

HELLO = [{"role": "user", "content": "hello"}]


class Talk:
    """A WebSocket to ``/ws``."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def say(self, type: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": type, **fields}))

    async def start(self, id: str = "a", **fields: Any) -> None:
        await self.say("start", **{"id": id, "messages": HELLO, **fields})

    async def hear(self) -> dict[str, Any]:
        """The next event; fails when there is none for ten seconds."""
        async with asyncio.timeout(10):
            event = json.loads(await self.connection.recv())
        assert isinstance(event, dict)
        return event

    async def hear_until(self, type: str, **fields: Any) -> list[dict[str, Any]]:
        """All events up to the first that is of this type and has these fields."""
        events = [await self.hear()]
        while not (events[-1]["type"] == type and fields.items() <= events[-1].items()):
            events.append(await self.hear())
        return events


@asynccontextmanager
async def talk(url: str, **options: Any) -> AsyncIterator[Talk]:
    async with connect(url, **options) as connection:
        yield Talk(connection)


class Raw:
    """A TCP connection without manners: it reads when it is told to, and leaves without a word."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._sock, data)

    async def read(self, size: int = 65536) -> bytes:
        """Some bytes; none when the server has ended the connection, in whatever way."""
        async with asyncio.timeout(10):
            try:
                return await self._loop.sock_recv(self._sock, size)
            except ConnectionError:
                return b""

    async def read_all(self) -> bytes:
        data = b""
        while chunk := await self.read():
            data += chunk
        return data

    async def read_until(self, mark: bytes) -> bytes:
        data = b""
        while mark not in data:
            chunk = await self.read()
            assert chunk, f"the connection ended after {data!r}"
            data += chunk
        return data

    def close(self) -> None:
        self._sock.close()


@asynccontextmanager
async def raw(port: int, *, receive_buffer: int | None = None) -> AsyncIterator[Raw]:
    sock = socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        yield Raw(sock)
    finally:
        sock.close()


def http_request(method: str, path: str, body: Any = None, **headers: str) -> bytes:
    """The bytes of one request."""
    data = json.dumps(body).encode() if body is not None else b""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


#: The handshake of a WebSocket by hand, for clients that then do what no library does.
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


def text_frame(message: Any) -> bytes:
    """One masked text frame of JSON, longer than 125 bytes or not."""
    data = json.dumps(message).encode()
    return b"\x81\xfe" + len(data).to_bytes(2, "big") + b"\0\0\0\0" + data


def sse_events(stream: str) -> list[dict[str, Any]]:
    """The events of a whole SSE stream; fails when its last frame is not complete."""
    assert stream.endswith("\n\n")
    return [json.loads(block.split("data: ", 1)[1]) for block in stream.split("\n\n")[:-1]]
