"""A socket that is over says so in one way, whoever has closed it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocket

from app.transports.outlet import ConnectionGone
from app.transports.text_socket import TextSocket
from app.transports.wire import Wire, put_wire


class Server:
    """The ASGI server below; ``failure`` is what a send meets, ``blocked`` that it never returns."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.sent: list[Any] = []
        self.failure: Exception | None = None
        self.blocked = False
        self._messages = [{"type": "websocket.connect"}, *messages]

    async def receive(self) -> dict[str, Any]:
        return self._messages.pop(0)

    async def send(self, message: Any) -> None:
        if self.blocked:
            await asyncio.Event().wait()
        if self.failure is not None:
            raise self.failure
        self.sent.append(message)


class Aborted(Wire):
    aborted = False

    def abort(self) -> None:
        self.aborted = True


async def socket_on(server: Server, wire: Wire | None = None) -> TextSocket:
    scope: dict[str, Any] = {"type": "websocket", "headers": []}
    put_wire(scope, wire or Wire())
    socket = TextSocket(WebSocket(scope, server.receive, server.send), send_s=0.01)
    await socket.accept()
    return socket


async def test_texts_come_and_what_is_none_is_told_apart():
    server = Server({"type": "websocket.receive", "text": "a"}, {"type": "websocket.receive", "bytes": b"b"})
    socket = await socket_on(server)
    assert [await socket.receive(), await socket.receive()] == ["a", None]
    await socket.send("c")
    assert server.sent[-1] == {"type": "websocket.send", "text": "c"}


async def test_a_client_that_leaves_is_gone():
    socket = await socket_on(Server({"type": "websocket.disconnect", "code": 1000}))
    with pytest.raises(ConnectionGone):
        await socket.receive()


@pytest.mark.parametrize("failure", [RuntimeError("after sending 'websocket.close'"), OSError("gone")])
async def test_what_the_server_below_has_closed_is_gone(failure: Exception):
    server = Server()
    socket = await socket_on(server)
    server.failure = failure
    with pytest.raises(ConnectionGone):
        await socket.send("a")
    with pytest.raises(ConnectionGone):
        await socket.close(1000, "bye")


async def test_after_our_own_close_everything_is_gone_for_whoever_still_writes():
    server = Server()
    socket = await socket_on(server)
    with pytest.raises(ConnectionGone, match="bye"):
        await socket.close(4429, "bye")
    assert (server.sent[-1]["code"], server.sent[-1]["reason"]) == (4429, "bye")
    with pytest.raises(ConnectionGone):
        await socket.send("a")


async def test_a_close_that_nobody_takes_ends_the_connection():
    server, wire = Server(), Aborted()
    socket = await socket_on(server, wire)
    server.blocked = True
    with pytest.raises(ConnectionGone):
        await socket.close(1000, "bye")
    assert wire.aborted
