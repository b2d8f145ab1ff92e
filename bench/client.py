"""Client: one HTTP request over a raw socket, every line of the answer stamped as it is read.

The stamp is taken in the protocol's callback, before anything else happens, on the machine's
monotonic clock, which all processes share. One connection for each request: connecting is part of
what a user waits for. It refuses to know what is asked and what the answer means.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.answer_parser import AnswerParser, BrokenAnswer

#: A small receive buffer for readers that stall, so that the server meets the stall soon.
_STALLED_RCVBUF_BYTES = 4096


@dataclass(slots=True)
class Exchange:
    """One request and what came back."""

    #: When it was to be sent, which in a closed loop is when it was sent.
    began_ns: int
    #: When the request left us, the connection being there.
    written_ns: int = 0
    ended_ns: int = 0
    status: int = 0
    lines: list[tuple[int, bytes]] = field(default_factory=list)
    error: str | None = None


def post(path: str, body: object, accept: str) -> bytes:
    """The bytes of a POST request with a JSON body."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: {accept}\r\n"
        f"Connection: close\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


def get(path: str) -> bytes:
    """The bytes of a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nConnection: close\r\n\r\n".encode()


async def exchange(
    port: int,
    request: bytes,
    *,
    limit_s: float,
    on_line: Callable[[int], None] | None = None,
    stall_after_lines: int | None = None,
) -> Exchange:
    """Send ``request`` and read its answer to the end; what goes wrong is in ``error``.

    ``on_line`` is told the number of lines whenever it grows. After ``stall_after_lines`` the
    client reads no more: such an exchange ends by its limit, by cancelling it or by the server.
    """
    answer = Exchange(time.monotonic_ns())
    loop = asyncio.get_running_loop()
    reading = _Reading(loop.create_future(), on_line, stall_after_lines)
    transport: asyncio.BaseTransport | None = None
    try:
        async with asyncio.timeout(limit_s):
            sock = await _connected(loop, port, small=stall_after_lines is not None)
            transport, _ = await loop.create_connection(lambda: reading, sock=sock)
            answer.written_ns = time.monotonic_ns()
            transport.write(request)
            await reading.ended
    except TimeoutError:
        answer.error = f"no whole answer within {limit_s:g} s"
    except (OSError, BrokenAnswer, ValueError) as error:
        answer.error = f"{type(error).__name__}: {error}"
    finally:
        if isinstance(transport, asyncio.Transport):
            transport.abort()
    answer.ended_ns = reading.last_ns or time.monotonic_ns()
    answer.status, answer.lines = reading.parser.status, reading.parser.lines
    if answer.error is None and answer.status != 200:
        said = b" ".join(line for _, line in answer.lines)[:300].decode(errors="replace")
        answer.error = f"HTTP {answer.status} {said}"
    return answer


# Private


class _Reading(asyncio.Protocol):
    """The receiving end of one connection."""

    def __init__(
        self, ended: asyncio.Future[None], on_line: Callable[[int], None] | None, stall_after: int | None
    ) -> None:
        self.ended = ended
        self.parser = AnswerParser()
        self.last_ns = 0
        self._on_line = on_line
        self._stall_after = stall_after
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.last_ns = time.monotonic_ns()
        before = len(self.parser.lines)
        try:
            self.parser.feed(data, self.last_ns)
        except (BrokenAnswer, ValueError) as error:
            self._end(error)
            return
        count = len(self.parser.lines)
        if self._on_line is not None and count > before:
            self._on_line(count)
        if self._stall_after is not None and count >= self._stall_after and self._transport is not None:
            self._transport.pause_reading()
        if self.parser.done:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        try:
            self.parser.end(time.monotonic_ns())
        except BrokenAnswer as broken:
            self._end(error or broken)
        else:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(error)


async def _connected(loop: asyncio.AbstractEventLoop, port: int, small: bool) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _STALLED_RCVBUF_BYTES)
        await loop.sock_connect(sock, ("127.0.0.1", port))
    except BaseException:
        sock.close()
        raise
    return sock
