"""A phone for the room load: as little client as a socket needs, so that five hundred fit into one process.

It joins over HTTP, opens the room's socket, and notes when each frame came. It refuses to know what
is measured with that.
"""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import time
from collections.abc import Callable
from typing import Any, cast

import msgspec

_LIMIT_S = 60.0
#: What the kernel may hold for a slow phone: little, so that slowness reaches the server.
_SLOW_BUFFER_BYTES = 4096


class Head(msgspec.Struct):
    """What is read of a frame; the rest of it costs nothing."""

    type: str
    stimulus: str = ""
    lane: str = ""
    seq: int = 0
    pieces: int = 0
    t: float = 0.0
    epoch: str = ""
    end: str | None = None


_HEAD = msgspec.json.Decoder(Head)


class Phone(asyncio.Protocol):
    """One socket of a room. ``heard`` gets (this phone, frame, its bytes, when it came in ns)."""

    def __init__(
        self,
        port: int,
        code: str,
        heard: Callable[[Phone, Head, bytes, int], None],
        bytes_per_s: float | None = None,
    ) -> None:
        self._port = port
        self._code = code
        self._heard = heard
        self._buffer = bytearray()
        #: A socket takes messages only after its handshake is answered.
        self._upgraded = asyncio.Event()
        self._transport: asyncio.Transport | None = None
        #: As through a poor radio; None: as fast as it comes.
        self._bytes_per_s = bytes_per_s
        self.id = ""
        #: Set by the first frame of state: this phone has joined.
        self.joined = asyncio.Event()
        self.closed = asyncio.Event()

    async def join(self, hello: dict[str, Any] | None = None, cookie: str = "") -> None:
        """Come in as a participant, or with another hello; returns when the state is here."""
        if hello is None:
            self.id = self.id or await join(self._port, self._code)
            hello = {"type": "hello", "role": "participant", "id": self.id}
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_LIMIT_S):
            sock = socket.socket()
            sock.setblocking(False)
            if self._bytes_per_s is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SLOW_BUFFER_BYTES)
            await loop.sock_connect(sock, ("127.0.0.1", self._port))
            await loop.create_connection(lambda: self, sock=sock)
            self._write_upgrade(cookie)
            await self._upgraded.wait()
            self.say(hello)
            await self.joined.wait()

    def say(self, message: dict[str, Any]) -> None:
        """Send one message, masked by nothing: a mask of zeros is a mask."""
        data = msgspec.json.encode(message)
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        self._out.write(b"\x81" + size + bytes(4) + data)

    def freeze(self) -> None:
        """Read nothing any more, as a phone in a pocket does."""
        self._out.pause_reading()

    def thaw(self) -> None:
        """Read again, if anybody is still there."""
        self._go_on()

    def leave(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # Private

    @property
    def _out(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's are none of asyncio's classes, and have all their methods.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        self._buffer += data
        if self._bytes_per_s is not None:
            self._out.pause_reading()
            asyncio.get_running_loop().call_later(len(data) / self._bytes_per_s, self._go_on)
        if not self._upgraded.is_set():
            head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head.split(b"\r\n")[0], head
            self._upgraded.set()
            self._buffer = bytearray(rest)
        while (frame := self._frame()) is not None:
            self._take(frame, now_ns)

    def _go_on(self) -> None:
        if not self.closed.is_set():
            self._out.resume_reading()

    def _take(self, frame: bytes, now_ns: int) -> None:
        head = _HEAD.decode(frame)
        if head.type == "room":
            self.joined.set()
        self._heard(self, head, frame, now_ns)

    def _frame(self) -> bytes | None:
        """The next text frame; the server's own pings and closes are passed over."""
        while len(self._buffer) >= 2:
            size, start = self._buffer[1] & 0x7F, 2
            if size >= 126:
                start = 4 if size == 126 else 10
                if len(self._buffer) < start:
                    return None
                size = int.from_bytes(self._buffer[2:start], "big")
            if len(self._buffer) < start + size:
                return None
            opcode, frame = self._buffer[0] & 0x0F, bytes(self._buffer[start : start + size])
            del self._buffer[: start + size]
            if opcode == 1:
                return frame
            if opcode == 9:
                self._out.write(b"\x8a" + bytes([0x80 | len(frame)]) + bytes(4) + frame)
        return None

    def _write_upgrade(self, cookie: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET /ws/rooms/{self._code} HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            *([f"Cookie: {cookie}"] if cookie else []),
        ]
        self._out.write("\r\n".join(lines).encode() + b"\r\n\r\n")


async def join(port: int, code: str) -> str:
    """What the page does after the QR code: the id of a new participant."""
    answer = await post(port, f"/api/rooms/{code}/participants", {})
    id = answer[1]["id"]
    assert isinstance(id, str)
    return id


async def post(port: int, path: str, body: dict[str, Any]) -> tuple[str, Any]:
    """(the head, the JSON) of an answer."""
    data = msgspec.json.encode(body)
    async with asyncio.timeout(_LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = [
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Connection: close",
            f"Content-Length: {len(data)}",
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        answer = await reader.read()
        writer.close()
    answer_head, _, answer_body = answer.partition(b"\r\n\r\n")
    return answer_head.decode("latin-1"), msgspec.json.decode(answer_body)
