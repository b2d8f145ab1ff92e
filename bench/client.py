"""Client: one HTTP request over a raw socket, every line of the answer stamped as it is read.

The stamp is taken in the protocol's callback, before anything else happens, on the machine's
monotonic clock, which all processes share. Lines are cut when the answer is over, but for who counts
them: until then each microsecond of ours is taken from the server that is measured. One connection for
each request: connecting is part of what a user waits for. It refuses to know what is asked and what the
answer means.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from bench.answer_parser import AnswerParser, BrokenAnswer

#: A small receive buffer for readers that stall, so that the server meets the stall soon.
_STALLED_RCVBUF_BYTES = 4096
#: Who only wants to know when all is there is woken when so much is, or the end.
_TOTAL_WAKE_BYTES = 65_536
#: How a chunked answer ends. One of another kind is over when the server closes: it was asked to.
_END = b"0\r\n\r\n"
#: So many reads at most are kept unparsed.
_MAX_READS = 4096


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
    on_line: Callable[[int], bool] | None = None,
    stall_after_lines: int | None = None,
    only_total: bool = False,
    connected_s: float = 0.0,
) -> Exchange:
    """Send ``request`` and read its answer to the end; what goes wrong is in ``error``.

    ``on_line`` is told the number of lines whenever it grows, until it returns False. After
    ``stall_after_lines`` the client reads no more: such an exchange ends by its limit, by cancelling it
    or by the server. With ``only_total`` the client sleeps until the answer is over (or 64 KiB are there),
    so that what its waking costs is not taken for the server's: then only ``ended_ns`` means anything. The
    request is written ``connected_s`` after the connection is there: a server that has long taken it has the
    request soon.
    """
    answer = Exchange(time.monotonic_ns())
    loop = asyncio.get_running_loop()
    reading = _Reading(loop.create_future(), on_line, stall_after_lines)
    transport: asyncio.BaseTransport | None = None
    try:
        async with asyncio.timeout(limit_s):
            sock = await _connected(loop, port, small=stall_after_lines is not None)
            if only_total:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, _TOTAL_WAKE_BYTES)
            transport, _ = await loop.create_connection(lambda: reading, sock=sock)
            if connected_s:
                await asyncio.sleep(connected_s)
            answer.written_ns = time.monotonic_ns()
            transport.write(request)
            await reading.ended
    except TimeoutError:
        answer.error = f"no whole answer within {limit_s:g} s"
    except (OSError, BrokenAnswer, ValueError) as error:
        answer.error = f"{type(error).__name__}: {error}"
    finally:
        if transport is not None:
            cast(asyncio.Transport, transport).abort()
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
        self, ended: asyncio.Future[None], on_line: Callable[[int], bool] | None, stall_after: int | None
    ) -> None:
        self.ended = ended
        self.parser = AnswerParser()
        self.last_ns = 0
        self._on_line = on_line
        self._stall_after = stall_after
        self._transport: asyncio.Transport | None = None
        #: Reads that are not parsed yet.
        self._arrived: list[tuple[int, bytes]] = []
        self._counted = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, because uvloop's transports do not inherit from asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.last_ns = time.monotonic_ns()
        self._arrived.append((self.last_ns, data))
        counts = self._on_line is not None or self._stall_after is not None
        if counts or data.endswith(_END) or len(self._arrived) >= _MAX_READS:
            self._parse()

    def connection_lost(self, error: Exception | None) -> None:
        try:
            self._parse()
            self.parser.end(time.monotonic_ns())
        except BrokenAnswer as broken:
            self._end(error or broken)
        else:
            self._end(None)

    def _parse(self) -> None:
        arrived, self._arrived = self._arrived, []
        try:
            for at_ns, data in arrived:
                self.parser.feed(data, at_ns)
        except (BrokenAnswer, ValueError) as error:
            self._end(error)
            return
        count = len(self.parser.lines)
        if self._on_line is not None and count > self._counted and not self._on_line(count):
            self._on_line = None
        self._counted = count
        if self._stall_after is not None and count >= self._stall_after and self._transport is not None:
            self._transport.pause_reading()
        if self.parser.done:
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
