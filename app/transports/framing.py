"""Framing: events as the bytes of our own wires. Pure.

SSE, NDJSON and WebSocket carry the same JSON. Plain text carries the text alone and cannot say
how it ended. It refuses to know sockets, readers and clocks.

SSE frames have no ``event:`` line: EventSource gives such frames to ``onmessage``, which is all
that a short page listens to, and the JSON names its type anyway. A delta's ``id:`` is its ``seq``,
so that EventSource resumes behind it; the end's id is ``<seq>.end``, so that a client that comes
back after the end is told to stop (204) instead of hearing it again for ever.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from app.events import AnyEvent, Delta, Done, Error, Ping

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
PLAIN = "text/plain"
JSON = "application/json"

_LAST_EVENT_ID = re.compile(r"(\d{1,12})(\.end)?\Z")


def json_bytes(value: Any) -> bytes:
    """``value`` as JSON in UTF-8, on one line whoever counts lines.

    U+2028, U+2029 and U+0085 are line ends for many hand-made parsers; they are escaped. In valid
    UTF-8 these byte sequences are those characters and nothing else.
    """
    data = msgspec.json.encode(value)
    return (
        data.replace(b"\xe2\x80\xa8", b"\\u2028")
        .replace(b"\xe2\x80\xa9", b"\\u2029")
        .replace(b"\xc2\x85", b"\\u0085")
    )


def filled(frame: bytes, multiple_bytes: int) -> bytes:
    """``frame`` with blanks before its line ends, up to a multiple; 0: as it is.

    Behind TLS the lengths of frames are seen, and those of tokens tell much of a text. Blanks after
    JSON mean nothing.
    """
    if not multiple_bytes:
        return frame
    content = frame.rstrip(b"\n")
    return content + b" " * (-len(frame) % multiple_bytes) + frame[len(content) :]


class SseFrames:
    """Server-sent events; remembers the last ``seq`` for the end's id."""

    media_type = SSE

    def __init__(self, after: int = 0, multiple_bytes: int = 0) -> None:
        self._seq = after
        self._multiple_bytes = multiple_bytes

    def on(self, event: AnyEvent) -> bytes:
        """The frame of one event, blank line included: without it the last one would be lost."""
        id = b""
        if isinstance(event, Delta):
            self._seq = event.seq
            id = b"id: %d\n" % self._seq
        elif isinstance(event, Done | Error):
            id = b"id: %d.end\n" % self._seq
        return filled(id + b"data: " + json_bytes(event) + b"\n\n", self._multiple_bytes)


class NdjsonFrames:
    """One event a line."""

    media_type = NDJSON

    def __init__(self, multiple_bytes: int = 0) -> None:
        self._multiple_bytes = multiple_bytes

    def on(self, event: AnyEvent) -> bytes:
        return filled(json_bytes(event) + b"\n", self._multiple_bytes)


class PlainFrames:
    """Nothing but the text: pings and ends are silent, an error is an unclean end (see answer)."""

    media_type = PLAIN

    def on(self, event: AnyEvent) -> bytes:
        return event.text.encode() if isinstance(event, Delta) else b""


Frames = SseFrames | NdjsonFrames | PlainFrames


def frames(media_type: str, after: int = 0, multiple_bytes: int = 0) -> Frames:
    """Fresh frames for a streamed media type, filled to a multiple where they are JSON."""
    match media_type:
        case "text/event-stream":
            return SseFrames(after, multiple_bytes)
        case "application/x-ndjson":
            return NdjsonFrames(multiple_bytes)
        case "text/plain":
            return PlainFrames()
    raise ValueError(f"{media_type} is not streamed")


def heavy_chunk(body: bytes, least_bytes: int) -> bytes:
    """A part of a chunked HTTP body, made heavy by an extension that means nothing (RFC 9112, 7.1.1)."""
    return b"%x;weight=%s\r\n%s\r\n" % (len(body), b"0" * max(1, least_bytes - len(body)), body)


def ping(t_ms: float) -> Ping:
    """A sign of life, as an event: comments would never reach a client's own idle timer."""
    return Ping(round(t_ms, 3))


def whole(text: str, done: Done) -> dict[str, Any]:
    """The JSON form of a reply that is over (design, section 5.3)."""
    return {
        "reply": done.reply,
        "text": text,
        "finish_reason": done.finish_reason,
        "usage": done.usage,
        "timings": done.timings,
    }


def parse_last_event_id(value: str) -> tuple[int, bool] | None:
    """(the last delta's seq, whether the end was heard) of an SSE id of ours; None for others."""
    match = _LAST_EVENT_ID.match(value)
    return (int(match[1]), match[2] is not None) if match else None


def choose(accept: str, offers: tuple[str, ...]) -> str:
    """The offer that an Accept header wants most; the first offer when it has no clear wish."""
    best, best_quality = offers[0], 0.0
    for wish in accept.split(","):
        kind, _, parameters = wish.strip().partition(";")
        found = re.search(r"(?:^|;)\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)", parameters)
        quality = float(found[1]) if found else 1.0
        if kind.strip().lower() in offers and quality > best_quality:
            best, best_quality = kind.strip().lower(), quality
    return best
