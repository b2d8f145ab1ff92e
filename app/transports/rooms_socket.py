"""The rooms' socket ``/ws/rooms/{code}``: the teacher's console, the wall and every phone.

The first message is a ``hello`` that says which of the three this is; then come commands one way and
frames the other. One task reads, one writes what its member has still to be told, one beats. A
socket that takes nothing in time is cut off; nobody waits for it. It refuses to know what commands
do (rooms), how codes are found (door) and how messages look (messages).
"""

from __future__ import annotations

import asyncio
import time

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from app.errors import FirstwordError, RateLimited, Unauthorized
from app.rooms.commands import read_command
from app.rooms.member import Member
from app.rooms.permission import HOST, WALL, Actor
from app.rooms.stage import Stage
from app.settings import Settings
from app.transports import rooms_messages as messages
from app.transports.allowance import Allowance
from app.transports.outlet import ConnectionGone, Outlet
from app.transports.rooms_door import Door
from app.transports.text_socket import TextSocket

_HELLO_S = 10.0
#: What the kernel may hold unsent for a phone: four tokens' frames. The rest waits here and is merged, so
#: that a slow phone shows what is new, not what was new ten seconds ago.
_UNSENT_BYTES = 512


class RoomSession:
    """One socket. ``run`` is its life."""

    def __init__(self, websocket: WebSocket, door: Door, settings: Settings) -> None:
        self._websocket = websocket
        self._door = door
        self._settings = settings
        self._socket = TextSocket(websocket, settings.send_s)
        self._wire = self._socket.wire
        self._outlet = Outlet(self._socket.send, self._wire)
        self._allowance = Allowance(settings.room_messages_per_minute)
        self._stage: Stage
        self._member: Member

    async def run(self) -> None:
        """Serve the socket until the client is gone or shown out."""
        await self._socket.accept()
        self._wire.keep_short(_UNSENT_BYTES)
        try:
            await self._serve()
        except FirstwordError as error:
            await self._refuse(error)
        except ConnectionGone:
            pass

    # Private

    async def _serve(self) -> None:
        self._stage = self._door.find(self._websocket, self._websocket.path_params["code"])
        # In at once: whoever is shown out from here on is told so.
        self._member = self._stage.enter(self._known(await self._hello()))
        try:
            await self._outlet.write(self._welcome())
            self._member.push = self._push
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read())
                tasks.create_task(self._write())
                tasks.create_task(self._outlet.beat(self._settings.heartbeat_s, self._pulse))
        except* ConnectionGone:
            pass
        finally:
            self._stage.exit(self._member)

    async def _hello(self) -> messages.Hello:
        try:
            async with asyncio.timeout(_HELLO_S):
                return messages.read_hello(await self._socket.receive())
        except TimeoutError:
            raise Unauthorized(f"no hello came within {_HELLO_S:g} s") from None

    def _known(self, hello: messages.Hello) -> Actor:
        """Raises Unauthorized or Forbidden for who cannot prove to be what they say."""
        match hello.role:
            case "host":
                if not self._stage.is_host(self._door.host_key(self._websocket, self._stage)):
                    raise Unauthorized("this browser has not the teacher's key")
                return HOST
            case "wall":
                if not self._stage.is_wall(hello.token):
                    raise self._door.refuse_key(self._websocket)
                return WALL
            case "participant":
                for key in (self._door.phone_key(self._websocket, self._stage), hello.id):
                    if (number := self._stage.number_of(key)) is not None:
                        return Actor("participant", number)
                raise Unauthorized("this phone is not in the room; join it first")

    def _welcome(self) -> str:
        actor = self._member.actor
        welcome = {"type": "welcome", "role": actor.role, "number": actor.number,
                   "epoch": self._stage.epoch, "t": self._stage.clock_ms()}  # fmt: skip
        return msgspec.json.encode(welcome).decode()

    async def _read(self) -> None:
        while True:
            self._hear(await self._socket.receive())
            if self._allowance.ignored:
                # Whoever floods is shown out, with the reason; what they said before stays.
                self._member.dismiss(RateLimited.close_code, RateLimited.code)
                return

    def _hear(self, text: str | None) -> None:
        said = ""
        try:
            try:
                said = messages.type_of(text)
            finally:
                # What cannot be read costs like anything else; only pings are free.
                if said != "ping":
                    self._allowance.spend(time.monotonic_ns())
            assert text is not None
            if said == "ping":
                self._pong(text)
            else:
                self._stage.apply(read_command(text), self._member.actor)
        except FirstwordError as error:
            self._member.answer(messages.error_frame(error, said))

    def _pong(self, text: str) -> None:
        pong = {"type": "pong", "t": self._stage.clock_ms(), "echo": messages.read_ping(text)}
        self._member.tell("pong", msgspec.json.encode(pong).decode())

    async def _write(self) -> None:
        """Everything the member is to be told, for as long as somebody takes it."""
        while (frame := await self._member.next()) is not None:
            if self._wire.buffered_bytes == 0:
                # Nothing waits, so this cannot: no deadline is needed, which is half of a frame's cost.
                await self._socket.send(frame)
            else:
                await self._outlet.write(frame)
        assert self._member.dismissed is not None
        await self._socket.close(*self._member.dismissed)

    def _push(self, frame: str) -> bool:
        """The short way out for text: the same bytes for everybody, when nothing waits here."""
        return self._wire.buffered_bytes == 0 and self._wire.write(messages.packet(frame))

    def _pulse(self) -> str:
        return msgspec.json.encode({"type": "ping", "t": self._stage.clock_ms()}).decode()

    async def _refuse(self, error: FirstwordError) -> None:
        try:
            await self._outlet.write(messages.error_frame(error, "hello"))
            await self._socket.close(messages.close_code(error), error.code)
        except ConnectionGone:
            pass


def routes(door: Door, settings: Settings) -> list[BaseRoute]:
    """The socket's route."""

    async def serve(websocket: WebSocket) -> None:
        await RoomSession(websocket, door, settings).run()

    return [WebSocketRoute("/ws/rooms/{code}", serve)]
