"""AnswerParser: the bytes of one HTTP/1.1 answer become a status and lines with time stamps.

Made for measuring: it cuts lines and stamps them, and leaves their JSON for later, since the
client shares its cores with the server that it measures. Chunked, counted and close-delimited
bodies are understood. Pure: bytes and times come from outside; it refuses to know sockets, and
what the lines mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: An answer of a benchmark is small; more than this is a server gone wrong.
MAX_BYTES = 64 * 1024 * 1024


class BrokenAnswer(Exception):
    """The bytes are no HTTP answer, or too many."""


@dataclass(slots=True)
class AnswerParser:
    """Feed it with ``feed`` and, at the connection's end, ``end``; ``done`` says when it is whole."""

    status: int = 0
    #: (nanoseconds of the read that completed the line, the line without its end); no empty ones.
    lines: list[tuple[int, bytes]] = field(default_factory=list)
    done: bool = False
    _raw: bytearray = field(default_factory=bytearray)
    _line: bytearray = field(default_factory=bytearray)
    _chunked: bool = False
    #: Bytes of the body or of the chunk still to come; None: until the connection ends.
    _left: int | None = None
    _seen: int = 0

    def feed(self, data: bytes, at_ns: int) -> None:
        """Take the bytes of one read. Raises BrokenAnswer."""
        self._seen += len(data)
        if self._seen > MAX_BYTES:
            raise BrokenAnswer(f"more than {MAX_BYTES} bytes")
        self._raw += data
        if not self.status and not self._read_head():
            return
        if self._chunked:
            self._read_chunks(at_ns)
        else:
            self._read_plain(at_ns)

    def end(self, at_ns: int) -> None:
        """The connection is closed. Raises BrokenAnswer when more had to come."""
        if self.done:
            return
        if not self.status or self._chunked or self._left is not None:
            raise BrokenAnswer("the connection was closed in the middle of the answer")
        self._finish(at_ns)

    # Private

    def _read_head(self) -> bool:
        end = self._raw.find(b"\r\n\r\n")
        if end < 0:
            return False
        first, *headers = bytes(self._raw[:end]).split(b"\r\n")
        del self._raw[: end + 4]
        words = first.split(b" ", 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
            raise BrokenAnswer(f"no HTTP answer: {first[:80]!r}")
        self.status = int(words[1])
        for header in headers:
            name, _, value = header.partition(b":")
            match name.strip().lower():
                case b"transfer-encoding":
                    self._chunked = b"chunked" in value.lower()
                case b"content-length":
                    self._left = int(value)
        return True

    def _read_plain(self, at_ns: int) -> None:
        self._take(bytes(self._raw), at_ns)
        if self._left is not None:
            self._left -= len(self._raw)
        self._raw.clear()
        if self._left is not None and self._left <= 0:
            self._finish(at_ns)

    def _read_chunks(self, at_ns: int) -> None:
        while not self.done:
            if self._left is None:
                end = self._raw.find(b"\r\n")
                if end < 0:
                    return
                self._left = int(self._raw[:end].split(b";")[0], 16)
                del self._raw[: end + 2]
            if len(self._raw) < self._left + 2:
                return
            if self._left == 0:
                self._finish(at_ns)
                return
            self._take(bytes(self._raw[: self._left]), at_ns)
            del self._raw[: self._left + 2]
            self._left = None

    def _take(self, data: bytes, at_ns: int) -> None:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._line += piece
            self._keep_line(at_ns)
        self._line += rest

    def _keep_line(self, at_ns: int) -> None:
        line = bytes(self._line).strip()
        self._line.clear()
        if line:
            self.lines.append((at_ns, line))

    def _finish(self, at_ns: int) -> None:
        self._keep_line(at_ns)
        self.done = True
