"""The pipe between the web process and the engine's process: messages, framing, both ends.

A frame is a length of four bytes, big-endian, and so many bytes of msgpack: one message of a
tagged union. ``FrameDecoder`` is pure: bytes in, messages out, whatever way they were split.
``AsyncEnd`` lives on the parent's event loop, ``ThreadEnd`` blocks and lives in the child's
threads. This module refuses to know what the messages make anybody do. It is longer than most:
the whole contract of the two processes belongs on one page.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import msgspec

from app.generation import ModelInfo, Output, StepRecord
from app.prompt import Prompt
from app.settings import Settings

#: The largest message we make on purpose is a prompt (200,000 characters of up to 4 bytes); ten
#: times that is a mistake, and a length read from the middle of a frame is nearly always larger.
MAX_FRAME_BYTES = 8 * 1024 * 1024
_PREFIX_BYTES = 4
_READ_BYTES = 256 * 1024


class PipeBroken(Exception):
    """The other end sent what cannot be a frame, or a frame that cannot be a message."""


class FrameTooLarge(ValueError):
    """A message is larger than ``MAX_FRAME_BYTES`` and was not sent."""


# Parent to child


class Configure(msgspec.Struct, tag="configure", frozen=True):
    """Always the first message. ``factory`` is a dotted name, ``module:function``."""

    settings: Settings
    factory: str


class Submit(msgspec.Struct, tag="submit", frozen=True):
    prompt: Prompt


class CancelSequence(msgspec.Struct, tag="cancel", frozen=True):
    id: str


class GrantTokens(msgspec.Struct, tag="grant", frozen=True):
    id: str
    tokens: int


class CountTokens(msgspec.Struct, tag="count", frozen=True):
    number: int
    prompt: Prompt


class WatchSteps(msgspec.Struct, tag="watch", frozen=True):
    on: bool


class StopEngine(msgspec.Struct, tag="stop", frozen=True):
    """End politely: the step in progress is the last one."""


Command = Configure | Submit | CancelSequence | GrantTokens | CountTokens | WatchSteps | StopEngine


# Child to parent


class Loading(msgspec.Struct, tag="loading", frozen=True):
    """How far the model is; ``progress`` 0..1 or None where it is not known."""

    detail: str
    progress: float | None


class Ready(msgspec.Struct, tag="ready", frozen=True):
    model: ModelInfo


class LoadFailed(msgspec.Struct, tag="load_failed", frozen=True):
    """The model cannot be loaded and trying again will not help; ``message`` is one line."""

    message: str


class Outputs(msgspec.Struct, tag="outputs", frozen=True):
    """All outputs of one step, in their order."""

    outputs: list[Output]


class Counted(msgspec.Struct, tag="counted", frozen=True):
    """The answer to CountTokens: ``tokens``, or why there is none."""

    number: int
    tokens: int | None = None
    code: str = ""
    message: str = ""
    param: str | None = None


class StepDone(msgspec.Struct, tag="step", frozen=True):
    record: StepRecord


class Beat(msgspec.Struct, tag="beat", frozen=True):
    """Told every second by a thread of its own, so that a hanging step cannot hide.

    ``in_step_ms`` is how long the present step has run; 0 between steps.
    """

    in_step_ms: int


Report = Loading | Ready | LoadFailed | Outputs | Counted | StepDone | Beat

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


class ThreadEnd(Generic[Message]):
    """A blocking end: one thread receives, any thread sends.

    ``send`` blocks while the other side does not read and the socket's buffer is full. That is
    the bound on what can pile up: the engine stops making tokens instead of hoarding them.
    """

    def __init__(self, sock: socket.socket, kind: Any) -> None:
        self._socket = sock
        self._decoder: FrameDecoder[Message] = FrameDecoder(kind)
        self._arrived: deque[Message] = deque()
        self._sending = threading.Lock()

    def send(self, message: Command | Report) -> None:
        """Raises OSError when the other side is gone, FrameTooLarge before sending anything."""
        frame = encode(message)
        with self._sending:
            self._socket.sendall(frame)

    def receive(self) -> Message | None:
        """Wait for the next message; None when the other side is gone. Raises PipeBroken."""
        while not self._arrived:
            try:
                data = self._socket.recv(_READ_BYTES)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self._arrived.extend(self._decoder.feed(data))
        return self._arrived.popleft()


class AsyncEnd(asyncio.Protocol, Generic[Message]):
    """An end on the event loop: messages are handed over as they arrive, nothing is queued.

    ``on_lost`` is called once, after the last message, when the other side is gone or broke the
    framing; the reason is None for a plain end.
    """

    def __init__(
        self,
        kind: Any,
        on_message: Callable[[Message], object],
        on_lost: Callable[[Exception | None], None],
    ) -> None:
        self._decoder: FrameDecoder[Message] = FrameDecoder(kind)
        self._on_message = on_message
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._broken: Exception | None = None

    @property
    def unsent_bytes(self) -> int:
        """What was sent and waits in this process because the other side does not read."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def send(self, message: Command | Report) -> None:
        """Never blocks; the caller bounds ``unsent_bytes``. Silently lost when the pipe is closed."""
        frame = encode(message)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame)

    def close(self) -> None:
        """Close at once; what was not sent is dropped."""
        if self._transport is not None:
            self._transport.abort()

    # asyncio calls these

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, because uvloop's transports do not inherit from asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            messages = self._decoder.feed(data)
        except PipeBroken as error:
            self._broken = error
            self.close()
            return
        for message in messages:
            self._on_message(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost(self._broken or exc)
