"""A raw-socket HTTP server for tests that answers exactly the bytes a test scripts.

It knows just enough HTTP to read a request; what it writes, when, and how it ends is the test's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

HEAD_SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n"


@dataclass
class Request:
    """One request as it came, and the socket to answer on."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *parts: bytes) -> None:
        """Write each part on its own; without a length the answer ends when the socket closes."""
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self, status: int, body: Any, headers: str = "") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
        await self.send((head + headers + "\r\n").encode() + data)

    async def gone(self) -> None:
        """Wait until the client has closed its side."""
        while await self.reader.read(1024):
            pass


Handler = Callable[[Request], Awaitable[None]]


@dataclass
class MisbehavingServer:
    """``handlers`` by path; a path without one is answered 404. ``requests`` are kept in order."""

    url: str = ""
    handlers: dict[str, Handler] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]


@asynccontextmanager
async def misbehaving_server(
    chat: Handler | None = None, models: list[dict[str, Any]] | None = None
) -> AsyncIterator[MisbehavingServer]:
    server = MisbehavingServer()
    listed = models if models is not None else [{"id": "tiny", "object": "model", "owned_by": "test"}]

    async def list_models(request: Request) -> None:
        await request.answer(200, {"object": "list", "data": listed})

    server.handlers["/v1/models"] = list_models
    if chat is not None:
        server.handlers["/v1/chat/completions"] = chat

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader, writer)
            if request is None:
                return
            server.requests.append(request)
            handler = server.handlers.get(request.path)
            if handler is None:
                await request.answer(404, {"detail": "Not Found"})
            else:
                await handler(request)
        except ConnectionError:
            pass  # The client left while we wrote: that is what many tests want.
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, json.loads(raw) if raw else None, reader, writer)


def frame(content: str | None = None, *, finish: str | None = None, **more: Any) -> bytes:
    """One chat chunk as an SSE event."""
    delta = {} if content is None else {"content": content}
    chunk = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def usage_frame(prompt: int, completion: int, cached: int = 0) -> bytes:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
#: What nearly every server sends first; it is no token.
ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
