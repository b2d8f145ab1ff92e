"""Echo: says back every message, on the server's own port, protocol class, limits and doors.

Autobahn|Testsuite judges a WebSocket by its echo, and `/ws` answers with events. This is the one
module here that knows the product's: everything below a route is what `firstword serve` runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.engine.scripted import ScriptedEngine
from app.main import create_app
from app.server import listen, make_server
from app.settings import Settings


@asynccontextmanager
async def echo_server(**settings: object) -> AsyncIterator[int]:
    """The port of a server whose ``/echo`` says everything back; ended with the block."""
    chosen = Settings(port=0, drain_s=0.0, **settings)  # type: ignore[arg-type]
    app = create_app(chosen, ScriptedEngine())
    app.router.routes.insert(0, WebSocketRoute("/echo", _echo))
    server = make_server(app, chosen)
    with listen(chosen) as sock:
        serving = asyncio.ensure_future(server._serve(sockets=[sock]))
        try:
            yield int(sock.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


# Private


async def _echo(websocket: WebSocket) -> None:
    await websocket.accept()
    try:
        while (message := await websocket.receive())["type"] == "websocket.receive":
            await websocket.send({**message, "type": "websocket.send"})
    except WebSocketDisconnect:
        pass
