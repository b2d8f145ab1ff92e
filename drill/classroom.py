"""Classroom: a room on a served Firstword, its teacher, and phones that only listen.

It speaks docs/rooms-protocol.md and refuses to know what is played against whom.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from drill.served import Served

#: Of Linux's ``struct tcp_info``: milliseconds since the kernel got the last data.
_SINCE = struct.Struct("=52xI")

Frame = dict[str, Any]
LANES = ("a", "b")


class Member:
    """One socket's view of the room; ``run`` listens until the socket ends."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.room: Frame = {}
        self.epoch = self.stimulus = ""
        self.text = dict.fromkeys(LANES, "")
        self.ends: dict[str, str] = {}
        #: Of each frame of text: when our kernel had it, less when it was made after the stimulus began.
        self.heard_ms: list[float] = []
        self._changed = asyncio.Event()

    async def say(self, type: str, **fields: object) -> None:
        """One command."""
        await self.connection.send(json.dumps({"type": type, **fields}))

    async def run(self) -> None:
        """Take every frame."""
        async for message in self.connection:
            self._take(json.loads(message), time.monotonic_ns() / 1e6 - self._waited_ms())
            self._changed.set()

    async def until(self, holds: Callable[[], object], seconds: float = 60.0) -> None:
        """Wait until something holds. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def go(self, to: str) -> None:
        """Have the teacher go on, and wait until it is so."""
        await self.say("advance", to=to, since=self.room["phase"])
        await self.until(lambda: self.room["phase"] == to)

    # Private

    def _waited_ms(self) -> int:
        """How long the last data waited for this program: that it comes late is not the server's fault."""
        if sys.platform != "linux":
            return 0
        sock = self.connection.transport.get_extra_info("socket")
        return int(_SINCE.unpack(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SINCE.size))[0])

    def _take(self, frame: Frame, now_ms: float) -> None:
        match frame["type"]:
            case "welcome":
                self.epoch = frame["epoch"]
            case "room":
                self.room = frame
            case "text":
                self._take_text(frame, now_ms)

    def _take_text(self, frame: Frame, now_ms: float) -> None:
        lane = frame["lane"]
        if frame["stimulus"] != self.stimulus:
            self.stimulus = frame["stimulus"]
            self.text, self.ends = dict.fromkeys(LANES, ""), {}
        self.text[lane] += frame["text"]
        self.heard_ms.append(now_ms - frame["t"])
        if "end" in frame:
            self.ends[lane] = frame["end"]


class Classroom:
    """A room that was opened; ``cookie`` is the teacher's."""

    def __init__(self, server: Served, code: str, cookie: str) -> None:
        self.server = server
        self.code = code
        self._cookie = cookie

    async def join(self) -> str:
        """A new phone's id, at the price of a socket: hundreds do this at once, beside the server."""
        reader, writer = await asyncio.open_connection(self.server.host, self.server.port)
        host = self.server.url.partition("//")[2]
        writer.write(
            f"POST /api/rooms/{self.code}/participants HTTP/1.1\r\nHost: {host}\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".encode()
        )
        async with asyncio.timeout(60):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        if not head.startswith(b"HTTP/1.1 20"):
            raise RuntimeError(f"a phone was not let in: {head.splitlines()[0].decode()}")
        return str(json.loads(body)["id"])

    def teacher(self) -> Any:
        """The teacher's socket, as a context."""
        return self._member({"role": "host"}, {"Cookie": self._cookie})

    def phone(self, id: str, sock: socket.socket | None = None) -> Any:
        """A phone's socket, as a context; on ``sock`` when it is connected already."""
        return self._member({"role": "participant", "id": id}, {}, sock)

    # Private

    @asynccontextmanager
    async def _member(
        self, hello: Frame, headers: dict[str, str], sock: socket.socket | None = None
    ) -> AsyncIterator[Member]:
        url = f"{self.server.url.replace('http', 'ws', 1)}/ws/rooms/{self.code}"
        options = {"compression": None, "open_timeout": 60, "ping_interval": None, "sock": sock}
        async with connect(url, additional_headers=headers, **options) as connection:  # type: ignore[arg-type]
            member = Member(connection)
            await member.say("hello", **hello)
            listening = asyncio.ensure_future(member.run())
            try:
                await member.until(lambda: member.room)
                yield member
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)


@asynccontextmanager
async def classroom(server: Served) -> AsyncIterator[Classroom]:
    """A fresh room."""
    async with httpx.AsyncClient(base_url=server.url) as http:
        response = await http.post("/api/rooms", json={"title": "drill"})
        response.raise_for_status()
        cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
    yield Classroom(server, response.json()["code"], cookie)
