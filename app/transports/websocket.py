"""WebSocket ``/ws``: many replies over one socket, both ways at once (design, section 5.2).

One task always reads, whatever the others wait for: a stop must be heard while a send is blocked,
and uvicorn pauses reading, pongs included, as long as one message waits. Bad input gets one
``error`` event; the connection stays. A disconnect is not a stop. It refuses to know what fields
mean (reading, intake), how replies are written (shelf) and generation.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from app.errors import BadRequest, FirstwordError, ServerShutdown
from app.events import AnyEvent, Error, Pong
from app.intake.fields import Fields, parse_json
from app.reply.registry import Replies
from app.settings import Settings
from app.transports import framing, reading
from app.transports.allowance import Allowance
from app.transports.outlet import ConnectionGone, Outlet
from app.transports.shelf import Shelf
from app.transports.text_socket import TextSocket

#: Answers to the client's own messages that may wait while its socket takes nothing; then it is
#: not read from any more either.
_MAX_ANSWERS = 32
#: What costs nothing: it keeps a reply moving, or asks for nothing.
_FREE = ("ack", "ping")


class Session:
    """One client's socket. ``run`` is its life."""

    def __init__(
        self,
        websocket: WebSocket,
        replies: Replies,
        settings: Settings,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._socket = TextSocket(websocket, settings.send_s)
        self._replies = replies
        self._settings = settings
        self._now_ns = now_ns
        self._opened_ns = now_ns()
        self._outlet = Outlet(self._socket.send, self._socket.wire, self._send_heavy)
        self._answers: asyncio.Queue[AnyEvent] = asyncio.Queue(_MAX_ANSWERS)
        self._allowance = Allowance(settings.ws_messages_per_minute)
        self._shelf = Shelf(self._frame, self._outlet, settings.ws_replies)

    async def run(self) -> None:
        """Serve the socket until the client is gone."""
        await self._socket.accept()
        try:
            async with asyncio.TaskGroup() as tasks:
                self._shelf.tasks = tasks
                tasks.create_task(self._read())
                tasks.create_task(self._answer())
                tasks.create_task(self._say_goodbye())
                tasks.create_task(self._outlet.beat(self._settings.heartbeat_s, self._ping))
        except* ConnectionGone:
            pass
        finally:
            self._shelf.clear()

    # Private: what the client says

    async def _read(self) -> None:
        while True:
            await self._hear(await self._socket.receive())

    async def _hear(self, text: str | None) -> None:
        fields: Fields | None = None
        failure: FirstwordError | None = None
        try:
            fields = _parse(text)
        except BadRequest as error:
            failure = error
        try:
            if fields is None or fields.raw("type") not in _FREE:
                self._allowance.spend(self._now_ns())
            if failure is not None:
                raise failure
            if fields is not None:
                await self._act(fields)
        except FirstwordError as error:
            await self._answers.put(_error_event(error, fields))
            if self._allowance.ignored:
                # Shown out with the reason: all that is still to be said goes first.
                await self._answers.join()
                await self._socket.close(error.close_code, error.code)

    async def _act(self, fields: Fields) -> None:
        match fields.raw("type"):
            case "ack":
                self._shelf.acknowledge(*reading.read_ack(fields))
            case "ping":
                await self._answers.put(self._pong(fields))
            case "start":
                self._start(fields)
            case "attach":
                self._attach_to(fields)
            case "stop":
                id = fields.string("reply", reading.MAX_ID_CHARS)
                fields.refuse_others()
                self._replies.get(id).stop()
            case None:
                raise fields.wrong("type", "is missing")
            case _:
                raise fields.wrong("type", "must be start, attach, stop, ack or ping")

    def _pong(self, fields: Fields) -> Pong:
        echo = fields.number("t", -1e15, 1e15, None)
        id = fields.text("reply", None, reading.MAX_ID_CHARS)
        fields.refuse_others()
        return Pong(self._t() if id is None else self._replies.get(id).now_t(), echo, id)

    def _start(self, fields: Fields) -> None:
        fields.require("id")
        start = reading.read_start(fields, self._settings)
        self._shelf.check_room()
        reply = self._replies.start(
            start.prompt,
            client_id=start.id,
            await_readers=start.await_readers,
            slow_policy=start.slow_policy,
            engine=start.engine,
        )
        self._shelf.attach(reply, start.reading)

    def _attach_to(self, fields: Fields) -> None:
        id, how = reading.read_attach(fields)
        reply = self._replies.get(id)
        if not self._shelf.has(reply):
            self._shelf.check_room()
        self._shelf.attach(reply, how)

    # Private: what the client is told

    async def _send_heavy(self, frame: str, least_bytes: int) -> None:
        # Blanks after JSON mean nothing.
        await self._socket.send(frame.ljust(least_bytes))

    async def _answer(self) -> None:
        while True:
            await self._outlet.write(self._frame(await self._answers.get()))
            self._answers.task_done()

    async def _say_goodbye(self) -> None:
        """After a drain and the last frame: close with our own code; the server's own says less."""
        await self._replies.drained.wait()
        await self._shelf.emptied()
        await self._socket.close(ServerShutdown.close_code, ServerShutdown.code)

    def _frame(self, event: AnyEvent) -> str:
        return framing.filled(framing.json_bytes(event), self._settings.frame_bytes).decode()

    def _ping(self) -> str:
        return self._frame(framing.ping(self._t()))

    def _t(self) -> float:
        """Milliseconds since this socket was opened."""
        return round((self._now_ns() - self._opened_ns) / 1e6, 3)


def routes(replies: Replies, settings: Settings) -> list[BaseRoute]:
    """The socket's route."""

    async def serve(websocket: WebSocket) -> None:
        await Session(websocket, replies, settings).run()

    return [WebSocketRoute("/ws", serve)]


# Private


def _parse(text: str | None) -> Fields:
    if text is None:
        raise BadRequest("messages must be text frames holding JSON")
    return Fields(parse_json(text))


def _error_event(error: FirstwordError, fields: Fields | None) -> Error:
    """The event for a refused message, with whatever names of the client's it had."""
    return Error(
        error.code,
        error.message,
        error.retryable,
        reply=_name(fields, "reply"),
        id=_name(fields, "id"),
        param=error.param,
    )


def _name(fields: Fields | None, name: str) -> str | None:
    try:
        return fields.text(name, None, reading.MAX_ID_CHARS) if fields is not None else None
    except BadRequest:
        return None
