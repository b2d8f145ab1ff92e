"""uvicorn's WebSocket with what a public server needs: an end to endless messages, and a wire.

This leans on uvicorn's inner surface; the tests on real sockets fail when that changes. It refuses
to know the application.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from app.transports.sockets import SocketLimits
from app.transports.wire import Wire, put_wire

#: A message may come in so many parts as if each had so many bytes. Clients send one or a few; empty ones
#: cost memory all the same.
_PART_BYTES = 64


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket with small buffers and a wire."""

    limits: ClassVar[SocketLimits]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # The HTTP protocol has tuned this socket already.
        self._wire = Wire(cast(asyncio.Transport, transport), self.limits.send_s)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(False)
        self._wire.lose()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._wire.block()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._wire.flow()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # A message that never ends, drop by drop, or in fragments without end.
        self._expect(bool(self.frames) or bool(self.conn.reader.buffer))
        if len(self.frames) > self.config.ws_max_size // _PART_BYTES:
            self._fail(1009, "too many fragments")

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        scope = getattr(self, "scope", None)
        if scope is not None:
            put_wire(scope, self._wire)

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            # uvicorn would write a traceback into the log for each such message of any stranger.
            self.frames = []
            self._fail(1007, "text that is not UTF-8")
        else:
            super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            # A refusal is a whole answer; uvicorn would log that no handshake was completed.
            self.handshake_complete = True

    def keepalive_timeout(self) -> None:
        """No pong: the client is gone, and closing would wait for it to take what it never will."""
        super().keepalive_timeout()
        self._wire.abort()

    # Private

    def _expect(self, unfinished: bool) -> None:
        if unfinished and self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.body_s, self._be_late)
        elif not unfinished and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _be_late(self) -> None:
        self._fail(1008, "a message was not finished in time")

    def _fail(self, code: int, reason: str) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.conn.fail(code, reason)
            self.handle_parser_exception()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
