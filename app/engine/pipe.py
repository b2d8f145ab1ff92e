"""The pipe between the web process and the engine's process: its two ends.

``AsyncEnd`` lives on the parent's event loop, ``ThreadEnd`` blocks and lives in the child's threads. Both
send whole messages and give out whole messages; frames does the cutting. This module refuses to know
what the messages make anybody do.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, cast

from app.engine.frames import FrameDecoder, Message, PipeBroken, encode
from app.engine.messages import Command, Report

_READ_BYTES = 256 * 1024


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
