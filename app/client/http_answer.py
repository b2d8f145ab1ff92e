"""HTTP: one request as bytes, and its answer out of stamped reads. No I/O.

h11 parses; what it tells and a convenient client library hides is kept: which version the server
speaks, where chunks begin, whether the end was told or the connection merely closed. Compressed
bodies are decompressed as far as each read allows. It refuses to know sockets and dialects.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import h11

from app.client.exchange import Head, Read

_MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``target`` is path and query. Host and Content-Length are added."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


class BrokenAnswer(Exception):
    """Not HTTP, or HTTP that breaks its own rules; the message says which."""


class HttpAnswer:
    """One request and its answer. ``head`` is None until it is there."""

    def __init__(self, request: Request, host: str) -> None:
        self.head: Head | None = None
        #: The answer's own end was told.
        self.complete = False
        #: Only the end of the connection can end this answer: no length, no chunks.
        self.ends_by_closing = False
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._unzip: zlib._Decompress | None = None
        length = {"Content-Length": str(len(request.body))} if request.method != "GET" else {}
        headers = {"Host": host, **request.headers, **length}
        head = h11.Request(method=request.method, target=request.target, headers=list(headers.items()))
        self.opening = self._bytes(head) + self._bytes(h11.Data(data=request.body))
        self.opening += self._bytes(h11.EndOfMessage())

    def feed(self, at_ns: int, data: bytes) -> Read | None:
        """Take one read, b"" for the end of the connection; what it brought of the body.

        Raises BrokenAnswer; for an end in the middle as well.
        """
        body, wire_bytes, chunks = [], 0, 0
        try:
            self._connection.receive_data(data)
            while True:
                event = self._connection.next_event()
                if isinstance(event, h11.Response):
                    self._begin(event, at_ns)
                elif isinstance(event, h11.Data):
                    wire_bytes += len(event.data)
                    # Not chunk_start: h11 forgets it when a read ends right behind a chunk's size.
                    chunks += event.chunk_end
                    body.append(self._decoded(bytes(event.data)))
                elif isinstance(event, h11.EndOfMessage):
                    self.complete = True
                    body.append(self._unzip.flush() if self._unzip is not None else b"")
                    break
                elif not isinstance(event, h11.InformationalResponse):
                    break  # NEED_DATA, PAUSED, ConnectionClosed
        except (h11.RemoteProtocolError, zlib.error) as error:
            raise BrokenAnswer(str(error)) from None
        return Read(at_ns, b"".join(body), wire_bytes, chunks) if wire_bytes else None

    # Private

    def _bytes(self, event: h11.Request | h11.Data | h11.EndOfMessage) -> bytes:
        return self._connection.send(event) or b""

    def _begin(self, response: h11.Response, at_ns: int) -> None:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        head = Head(response.status_code, response.http_version.decode(), headers, at_ns)
        self.head = head
        chunked = "chunked" in (head.get("transfer-encoding") or "").lower()
        bodyless = response.status_code in (204, 304)
        self.ends_by_closing = not bodyless and not chunked and head.get("content-length") is None
        if (head.get("content-encoding") or "").lower() in ("gzip", "deflate", "x-gzip"):
            # 32: gzip and zlib headers are told apart by the library.
            self._unzip = zlib.decompressobj(32 + zlib.MAX_WBITS)

    def _decoded(self, data: bytes) -> bytes:
        return data if self._unzip is None else self._unzip.decompress(data)
