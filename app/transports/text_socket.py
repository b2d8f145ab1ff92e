"""Text socket: one accepted WebSocket that carries text, with one way of being over.

A socket can be closed by the client, by us, or by the server below us, which says so a moment later:
whatever finds it closed raises ConnectionGone, and nobody's log gets a traceback for it. A close waits
for a client that takes nothing no longer than a frame does. It refuses to know what messages mean.
"""

from __future__ import annotations

import asyncio
from typing import NoReturn

from starlette.websockets import WebSocket, WebSocketDisconnect

from app.transports.outlet import ConnectionGone
from app.transports.wire import wire_of


class TextSocket:
    """One client's socket; ``send_s`` is how long its close may take."""

    def __init__(self, websocket: WebSocket, send_s: float) -> None:
        self.wire = wire_of(websocket.scope)
        self._websocket = websocket
        self._send_s = send_s

    async def accept(self) -> None:
        """Let the client in; before this nothing else."""
        await self._websocket.accept()

    async def receive(self) -> str | None:
        """The next message; None when it was no text. Raises ConnectionGone."""
        message = await self._websocket.receive()
        if message["type"] != "websocket.receive":
            raise ConnectionGone("the client closed the socket")
        text: str | None = message.get("text")
        return text

    async def send(self, text: str) -> None:
        """One message. Raises ConnectionGone."""
        try:
            await self._websocket.send_text(text)
        except (RuntimeError, WebSocketDisconnect):
            # It was closed, by us or by uvicorn (the peer did, or gave no pong), before we have heard of it.
            raise ConnectionGone("the socket is closed") from None

    async def close(self, code: int, reason: str) -> NoReturn:
        """Say goodbye, and raise ConnectionGone: who reads and writes here has no more to do."""
        try:
            async with asyncio.timeout(self._send_s):
                await self._websocket.close(code, reason)
        except TimeoutError:
            self.wire.abort()
        except (RuntimeError, WebSocketDisconnect):
            pass  # It is closed already.
        raise ConnectionGone(reason)
