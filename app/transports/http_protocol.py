"""uvicorn's HTTP/1.1 with what a public server needs: deadlines, a limit to the head, a wire.

uvicorn waits for ever for a request's head and body (Slowloris), holds a head of any size, writes
chunks to clients of HTTP/1.0, which know none, and behind a request that came ahead of its turn it
hears of no disconnect. This leans on its inner surface; the tests on real sockets fail when that
changes. It refuses to know the application.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.transports.sockets import SocketLimits, tune
from app.transports.wire import Wire, put_wire

#: A request's line and headers; browsers' are a few kilobytes.
MAX_HEAD_BYTES = 65_536
#: Requests that may be here before their turn (pipelining); then the client is not read from any more.
_MAX_AHEAD = 8
_TIMEOUT_ANSWER = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_LARGE_ANSWER = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)


class HttpProtocol(HttpToolsProtocol):
    """HTTP/1.1 with deadlines and a wire."""

    limits: ClassVar[SocketLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        tune(transport, self.limits)
        self._wire = Wire(transport, self.limits.send_s)
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True
        #: What is written at the moment; ``cycle`` is the newest one, and may have to wait for its turn.
        self._answering: RequestResponseCycle | None = None
        self._expect(self.limits.header_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        self._wire.lose()
        if self._answering is not None and not self._answering.response_complete:
            # uvicorn tells the newest only.
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._wire.block()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._wire.flow()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
        elif self._deadline is None and self.cycle.response_complete:
            # The next request, or a blank line that will never become one.
            self._expect(self.limits.header_s)
        super().data_received(data)
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(_TOO_LARGE_ANSWER)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        put_wire(cast("dict[str, Any]", self.scope), self._wire)
        self._in_head = True
        self._expect(self.limits.header_s)

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        self._expect(self.limits.body_s)
        super().on_headers_complete()
        if 0 < len(self.pipeline) <= _MAX_AHEAD:
            # uvicorn stops reading here, and who does not read never hears that the client has left.
            self.flow.resume_reading()

    def on_message_complete(self) -> None:
        self._expect(None)
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._expect(None)
        if self._is_answering:
            self._wire.abort()
        else:
            super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        if self._answering is not None and self._answering.response_started and self._is_answering:
            self._wire.abort()
        else:
            super().send_400_response(msg)

    # Private

    @property
    def _is_answering(self) -> bool:
        """Whether an answer is under way or to come: anything else written now would garble it."""
        return self._answering is not None and not self._answering.response_complete

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        is_old = cycle.scope["http_version"] != "1.1"
        super()._start_asgi_task(cycle, cast(Any, _unchunked(cycle, app)) if is_old else app)

    def _expect(self, seconds: float | None) -> None:
        """Wait so long for the request to go on; None: there is nothing to wait for."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._be_late) if seconds is not None else None

    def _be_late(self) -> None:
        self._deadline = None
        if self.cycle is None and self._head_bytes == 0:
            # A browser's spare connection.
            self.transport.close()
        elif self._in_head:
            self._refuse(_TIMEOUT_ANSWER)
        else:
            # Somebody reads this body, and will answer it.
            self._wire.abort()

    def _refuse(self, answer: bytes) -> None:
        if self._is_answering:
            self._wire.abort()
            return
        self.transport.write(answer)
        self.transport.close()


# Private


def _unchunked(cycle: RequestResponseCycle, app: ASGIApp) -> ASGIApp:
    """``app`` for a client of HTTP/1.0: a body whose length is not told ends with the connection."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_told = True

        async def send_plainly(message: Message) -> None:
            nonlocal is_told
            if message["type"] == "http.response.start":
                is_told = any(name.lower() == b"content-length" for name, _ in message["headers"])
                if not is_told:
                    cycle.chunked_encoding = False
            elif not is_told:
                cycle.expected_content_length = len(message["body"])
            await send(message)

        await app(scope, receive, send_plainly)

    return answer
