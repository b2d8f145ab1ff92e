"""Talks: one question over HTTP or over a WebSocket, as a connection holds them. No I/O.

Either way the body's bytes go through a dialect's framing into a Hearing, at the stamp of the read
that brought them. It refuses to know sockets and clocks.
"""

from __future__ import annotations

from collections.abc import Callable

from websockets.client import ClientProtocol
from websockets.frames import Frame as SocketFrame
from websockets.frames import Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import WebSocketURI

from app.client.connection import Address
from app.client.dialects.dialect import Dialect, error_message, json_object
from app.client.exchange import End, Head, Read
from app.client.hearing import Framing, Hearing, LineFraming, WholeFraming
from app.client.http_answer import BrokenAnswer, HttpAnswer, Request

#: Asked after every read: have we heard enough?
Enough = Callable[[Hearing], bool]


class HttpTalk:
    """One HTTP request and its answer; a status other than 200 is an error."""

    def __init__(
        self, request: Request, host: str, dialect: Dialect, *, streamed: bool, enough: Enough | None = None
    ) -> None:
        self.hearing = Hearing()
        self.reads: list[Read] = []
        self.end: End | None = None
        self._answer = HttpAnswer(request, host)
        self._dialect = dialect
        self._streamed = streamed
        self._enough = enough
        self._framing: Framing | None = None

    @property
    def head(self) -> Head | None:
        return self._answer.head

    @property
    def heard_last(self) -> bool:
        return self.hearing.over

    def opening(self) -> bytes:
        return self._answer.opening

    def hear(self, at_ns: int, data: bytes) -> bytes:
        try:
            read = self._answer.feed(at_ns, data)
        except BrokenAnswer as broken:
            # An end in the middle is broken HTTP, too: h11 says so when the connection closes.
            self._close(at_ns, "cut" if not data else "failed")
            self.hearing.fail(f"{'the answer was cut off' if not data else 'broken HTTP'}: {broken}")
            return b""
        if read is not None:
            self.reads.append(read)
            self._framed().feed(at_ns, read.data)
        if self._answer.complete:
            self._close(at_ns, "closed" if self._answer.ends_by_closing else "complete")
        elif not data:
            self._close(at_ns, "cut")
            self.hearing.fail("the connection closed without an answer")
        elif self._enough is not None and self._enough(self.hearing):
            self.end = "stopped"
        return b""

    # Private

    def _framed(self) -> Framing:
        if self._framing is None:
            if self.head is not None and self.head.status != 200:
                self._framing = WholeFraming(self.hearing, lambda hearing, frame: None)
            elif self._streamed:
                self._framing = self._dialect.framing(self.hearing, self._dialect.hear)
            else:
                self._framing = WholeFraming(self.hearing, self._dialect.hear_whole)
        return self._framing

    def _close(self, at_ns: int, end: End) -> None:
        self.end = end
        self._framed().close(at_ns)
        if self.head is not None and self.head.status != 200:
            said = self.hearing.frames[0].data if self.hearing.frames else ""
            location = self.head.get("location")
            hint = f" (redirects to {location}; ask there)" if location else ""
            message = error_message(json_object(said)) or " ".join(said.split())[:200]
            self.hearing.fail(f"HTTP {self.head.status}: {message}{hint}")


class SocketTalk:
    """One question over a WebSocket: the handshake, one message, and events until the last."""

    def __init__(
        self, request: Request, address: Address, dialect: Dialect, enough: Enough | None = None
    ) -> None:
        self.hearing = Hearing()
        self.reads: list[Read] = []
        self.head: Head | None = None
        self.end: End | None = None
        path, _, query = request.target.partition("?")
        self._protocol = ClientProtocol(
            WebSocketURI(address.tls, address.host, address.port, path, query, None, None)
        )
        self._handshake = self._protocol.connect()
        for name, value in request.headers.items():
            self._handshake.headers[name] = value
        self._message = request.body
        self._text = bytearray()
        self._framing = LineFraming(self.hearing, dialect.hear)
        self._enough = enough

    @property
    def heard_last(self) -> bool:
        return self.hearing.over

    def opening(self) -> bytes:
        self._protocol.send_request(self._handshake)
        return self._sent()

    def hear(self, at_ns: int, data: bytes) -> bytes:
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self._shake(at_ns, event)
            elif isinstance(event, SocketFrame):
                self._take(at_ns, event)
        if self.hearing.over:
            self.end = "complete"
        elif self._protocol.handshake_exc is not None and self.head is not None:
            self._fail(f"HTTP {self.head.status} instead of a WebSocket", "failed")
        elif self._protocol.state is State.CLOSED or not data:
            self._fail("the socket closed in the middle", "cut")
        elif self._enough is not None and self._enough(self.hearing):
            self.end = "stopped"
        return self._sent()

    # Private

    def _shake(self, at_ns: int, response: Response) -> None:
        headers = tuple((name.lower(), value) for name, value in response.headers.raw_items())
        self.head = Head(response.status_code, "1.1", headers, at_ns)
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(self._message)

    def _take(self, at_ns: int, frame: SocketFrame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return
        self._text += frame.data
        if frame.fin:
            message = bytes(self._text) + b"\n"
            self._text.clear()
            self.reads.append(Read(at_ns, message, len(message) - 1, 1))
            self._framing.feed(at_ns, message)

    def _fail(self, message: str, end: End) -> None:
        self.hearing.fail(message)
        self.end = end

    def _sent(self) -> bytes:
        return b"".join(self._protocol.data_to_send())
