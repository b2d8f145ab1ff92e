"""Server-sent events: bytes in, events out, however the network cut them.

Follows the HTML standard: lines end with CR, LF or CRLF; one leading BOM is dropped; several data
lines are joined; comments and unknown fields are skipped; an event that no blank line ended is
not an event. ``id`` and ``retry`` are skipped too: they are for clients that come back, and ours do
not. It refuses to know sockets, JSON and what ``[DONE]`` means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: The largest event kept in memory: a token with all its alternatives is a hundredth of it.
MAX_EVENT_BYTES = 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """One event is larger than the parser keeps; the stream cannot be read on."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event."""

    data: str
    type: str = "message"


class SseParser:
    """One stream's parser; holds at most ``max_event_bytes`` of one unfinished event."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        # The line being read
        self._line = bytearray()
        self._first_line = True
        self._after_cr = False
        # The event being read
        self._data: list[str] = []
        self._data_bytes = 0
        self._type = ""

    def feed(self, data: bytes) -> Iterator[SseEvent]:
        """Events that ``data`` completes, lazily: take them all before feeding more.

        Lazy, so that the events before a faulty one are still delivered. Raises EventTooLarge.
        """
        if not data:
            return
        # A CR has already ended its line; a LF that follows it in the next chunk belongs to it.
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data)
        for line in lines:
            self._extend(line)
            event = self._end_line()
            if event is not None:
                yield event
        self._extend(rest)

    # Private

    def _extend(self, part: bytes) -> None:
        if self._data_bytes + len(self._line) + len(part) > self._max:
            raise EventTooLarge(f"one event is larger than {self._max} bytes")
        self._line += part

    def _end_line(self) -> SseEvent | None:
        raw = bytes(self._line)
        self._line.clear()
        if self._first_line:
            self._first_line = False
            raw = raw.removeprefix(_BOM)
        if not raw:
            return self._dispatch()
        # Whole lines only are decoded, so a character is never cut by a chunk's border.
        name, _, value = raw.decode("utf-8", "replace").partition(":")
        self._field(name, value.removeprefix(" "), len(raw))
        return None

    def _field(self, name: str, value: str, size: int) -> None:
        if name == "data":
            self._data.append(value)
            self._data_bytes += size
        elif name == "event":
            self._type = value

    def _dispatch(self) -> SseEvent | None:
        event = None
        if self._data:
            event = SseEvent("\n".join(self._data), self._type or "message")
        self._data = []
        self._data_bytes = 0
        self._type = ""
        return event
