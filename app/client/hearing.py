"""Hearing: what one answer has told so far, in whatever dialect.

Framings cut bytes into frames and a dialect's ears turn frames into this. It refuses to know both.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass, field

from app.client.exchange import Delta, Frame, Usage
from app.upstream.sse_parser import EventTooLarge, SseParser

#: Frames and deltas kept of one answer: a hundred times the longest reply.
_MAX_FRAMES = 200_000
_MAX_LINE_BYTES = 1024 * 1024


@dataclass(slots=True)
class Hearing:
    """Grows while an answer is read."""

    frames: list[Frame] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    #: The dialect's last frame was heard: nothing more is to come.
    over: bool = False

    def say(self, at_ns: int, text: str, tokens: int | None = None, t_ms: float | None = None) -> None:
        """Add text; empty text is none."""
        if text:
            self.deltas.append(Delta(at_ns, text, tokens, t_ms))

    def fail(self, message: str) -> None:
        """Note the first error."""
        if self.error is None:
            self.error = message[:500]


#: Understands one frame: Ears(hearing, frame).
Ears = Callable[[Hearing, Frame], None]


class SseFraming:
    """Server-sent events."""

    def __init__(self, hearing: Hearing, ears: Ears) -> None:
        self._hearing, self._ears = hearing, ears
        self._parser = SseParser()

    def feed(self, at_ns: int, data: bytes) -> None:
        try:
            for event in self._parser.feed(data):
                name = event.type if event.type != "message" else ""
                _hand_on(self._hearing, self._ears, Frame(at_ns, name, event.data))
        except EventTooLarge as error:
            self._hearing.fail(str(error))
            # Nothing behind it can be understood.
            self._parser = SseParser()

    def close(self, at_ns: int) -> None:
        """An event that no blank line ended is not an event."""


class LineFraming:
    """One JSON value a line."""

    def __init__(self, hearing: Hearing, ears: Ears) -> None:
        self._hearing, self._ears = hearing, ears
        self._line = bytearray()

    def feed(self, at_ns: int, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line
            self._end_line(at_ns)
        self._line += rest
        if len(self._line) > _MAX_LINE_BYTES:
            self._hearing.fail(f"one line is longer than {_MAX_LINE_BYTES} bytes")
            self._line.clear()

    def close(self, at_ns: int) -> None:
        self._end_line(at_ns)

    def _end_line(self, at_ns: int) -> None:
        line = self._line.decode("utf-8", "replace").strip()
        self._line.clear()
        if line:
            _hand_on(self._hearing, self._ears, Frame(at_ns, "", line))


class TextFraming:
    """Nothing but text: each read is a frame, less the first bytes of a character cut in two."""

    def __init__(self, hearing: Hearing, ears: Ears) -> None:
        self._hearing, self._ears = hearing, ears
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, at_ns: int, data: bytes) -> None:
        self._hand_on(at_ns, self._decoder.decode(data))

    def close(self, at_ns: int) -> None:
        self._hand_on(at_ns, self._decoder.decode(b"", final=True))

    def _hand_on(self, at_ns: int, text: str) -> None:
        if text:
            _hand_on(self._hearing, self._ears, Frame(at_ns, "", text))


class WholeFraming:
    """The body is one frame, however it came."""

    def __init__(self, hearing: Hearing, ears: Ears) -> None:
        self._hearing, self._ears = hearing, ears
        self._body = bytearray()

    def feed(self, at_ns: int, data: bytes) -> None:
        self._body += data

    def close(self, at_ns: int) -> None:
        if self._body:
            frame = Frame(at_ns, "", self._body.decode("utf-8", "replace"))
            _hand_on(self._hearing, self._ears, frame)


Framing = SseFraming | LineFraming | TextFraming | WholeFraming


# Private


def _hand_on(hearing: Hearing, ears: Ears, frame: Frame) -> None:
    if len(hearing.frames) < _MAX_FRAMES:
        hearing.frames.append(frame)
        ears(hearing, frame)
