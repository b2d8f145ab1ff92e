"""Clients for the room tests: a teacher with a cookie, a wall with a token, phones with ids."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.server import Running

Frame = dict[str, Any]


class RoomSocket:
    """One socket of a room; it remembers the newest state and all text, as a page does."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.room: Frame = {}
        self.me: Frame = {}
        self.frames: list[Frame] = []
        self.text: dict[str, str] = {"a": "", "b": ""}
        self.seq: dict[str, int] = {"a": 0, "b": 0}
        self.ends: dict[str, str] = {}
        self._stimulus = ""

    async def say(self, type: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": type, **fields}))

    async def hear(self) -> Frame:
        """The next frame, pings left out; fails when there is none for ten seconds."""
        async with asyncio.timeout(10):
            frame: Frame = {"type": "ping"}
            while frame["type"] == "ping":
                frame = json.loads(await self.connection.recv())
        self.frames.append(frame)
        if frame["type"] == "room":
            self.room = frame
        elif frame["type"] == "me":
            self.me = frame
        elif frame["type"] == "text":
            self._take(frame)
        return frame

    async def until(self, holds: Callable[[RoomSocket], object]) -> Frame:
        """Listen until something holds; the frame that made it so."""
        frame: Frame = self.frames[-1] if self.frames else {}
        while not self._does(holds):
            frame = await self.hear()
        return frame

    async def hear_type(self, type: str) -> Frame:
        frame = await self.hear()
        while frame["type"] != type:
            frame = await self.hear()
        return frame

    async def phase(self, phase: str) -> None:
        await self.until(lambda s: s.room.get("phase") == phase)

    async def go(self, to: str) -> None:
        """Say ``advance`` and wait until it is so."""
        await self.say("advance", to=to, since=self.room["phase"])
        await self.phase(to)

    async def closed(self) -> int:
        """Listen until the server closes; its code."""
        try:
            async with asyncio.timeout(10):
                while True:
                    await self.hear()
        except ConnectionClosed:
            assert self.connection.close_code is not None
            return self.connection.close_code

    def _does(self, holds: Callable[[RoomSocket], object]) -> object:
        try:
            return holds(self)
        except (KeyError, TypeError):
            # What it asks about is not there yet.
            return False

    def _take(self, frame: Frame) -> None:
        lane = frame["lane"]
        if frame["stimulus"] != self._stimulus:
            self._stimulus = frame["stimulus"]
            self.text, self.seq, self.ends = {"a": "", "b": ""}, {"a": 0, "b": 0}, {}
        # Nothing lost, nothing twice: what a merged frame holds begins right behind what we have.
        assert frame["seq"] - frame["pieces"] == self.seq[lane]
        self.seq[lane] = frame["seq"]
        self.text[lane] += frame["text"]
        if "end" in frame:
            self.ends[lane] = frame["end"]


class Class:
    """A room on a running server, and ways into it."""

    def __init__(self, server: Running, http: httpx.AsyncClient, opened: Frame) -> None:
        self.server = server
        self.teacher_http = http
        self.code: str = opened["code"]
        self.wall_token: str = opened["wall_token"]
        self.cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())

    @property
    def url(self) -> str:
        return f"{self.server.url.replace('http', 'ws', 1)}/ws/rooms/{self.code}"

    @asynccontextmanager
    async def socket(self, hello: Frame, cookie: str = "") -> AsyncIterator[RoomSocket]:
        headers = {"Cookie": cookie} if cookie else {}
        async with connect(self.url, additional_headers=headers, compression=None) as connection:
            socket = RoomSocket(connection)
            await socket.say("hello", **hello)
            yield socket

    @asynccontextmanager
    async def teacher(self) -> AsyncIterator[RoomSocket]:
        async with self.socket({"role": "host"}, self.cookie) as socket:
            await socket.until(lambda s: s.room)
            yield socket

    @asynccontextmanager
    async def wall(self) -> AsyncIterator[RoomSocket]:
        async with self.socket({"role": "wall", "token": self.wall_token}) as socket:
            await socket.until(lambda s: s.room)
            yield socket

    async def join(self, id: str | None = None) -> Frame:
        """What the page does after the QR code: an id, kept by the phone."""
        async with httpx.AsyncClient(base_url=self.server.url) as http:
            body = {"id": id} if id is not None else {}
            response = await http.post(f"/api/rooms/{self.code}/participants", json=body)
            assert response.status_code == 200, response.text
            joined: Frame = response.json()
            return joined

    @asynccontextmanager
    async def phone(self, id: str | None = None) -> AsyncIterator[RoomSocket]:
        id = id or (await self.join())["id"]
        async with self.socket({"role": "participant", "id": id}) as socket:
            await socket.until(lambda s: s.room and s.me)
            yield socket


@asynccontextmanager
async def classroom(server: Running, title: str = "") -> AsyncIterator[Class]:
    """A fresh room."""
    async with httpx.AsyncClient(base_url=server.url) as http:
        response = await http.post("/api/rooms", json={"title": title})
        assert response.status_code == 201, response.text
        yield Class(server, http, response.json())
