"""Frames: messages as bytes. Pure: bytes in, messages out, whatever way they were split.

A frame is a length of four bytes, big-endian, and so many bytes of msgpack: one message. It refuses to
know sockets, and what the messages say.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from app.engine.messages import Command, Report

#: The largest message we make on purpose is a prompt (200,000 characters of up to 4 bytes); ten
#: times that is a mistake, and a length read from the middle of a frame is nearly always larger.
MAX_FRAME_BYTES = 8 * 1024 * 1024
_PREFIX_BYTES = 4


class PipeBroken(Exception):
    """The other end sent what cannot be a frame, or a frame that cannot be a message."""


class FrameTooLarge(ValueError):
    """A message is larger than ``MAX_FRAME_BYTES`` and was not sent."""


Message = TypeVar("Message")

_encoder = msgspec.msgpack.Encoder()


def encode(message: Command | Report, max_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """One frame. Raises FrameTooLarge naming both sizes."""
    body = _encoder.encode(message)
    if len(body) > max_bytes:
        raise FrameTooLarge(f"a message of {len(body)} bytes is larger than a frame may be ({max_bytes})")
    return len(body).to_bytes(_PREFIX_BYTES, "big") + body


class FrameDecoder(Generic[Message]):
    """Bytes in, messages out; keeps at most one unfinished frame."""

    def __init__(self, kind: Any, max_bytes: int = MAX_FRAME_BYTES) -> None:
        """``kind`` is the union of the messages that may come: Command or Report."""
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(kind)
        self._max_bytes = max_bytes
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that ``data`` completes. Raises PipeBroken; nothing can be read after it."""
        self._buffer += data
        messages: list[Message] = []
        start = 0
        while (end := self._frame_end(start)) is not None:
            messages.append(self._decode(self._buffer[start + _PREFIX_BYTES : end]))
            start = end
        del self._buffer[:start]
        return messages

    # Private

    def _frame_end(self, start: int) -> int | None:
        if len(self._buffer) < start + _PREFIX_BYTES:
            return None
        length = int.from_bytes(self._buffer[start : start + _PREFIX_BYTES], "big")
        if length > self._max_bytes:
            raise PipeBroken(f"a frame claims {length} bytes; at most {self._max_bytes} are allowed")
        end = start + _PREFIX_BYTES + length
        return end if len(self._buffer) >= end else None

    def _decode(self, body: bytearray) -> Message:
        try:
            return self._decoder.decode(body)
        except msgspec.DecodeError as error:
            raise PipeBroken(f"a frame holds no message: {error}") from None
