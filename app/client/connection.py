"""Connection: one TCP (or TLS) connection, every read stamped in the protocol's own callback.

Own asyncio transport instead of an HTTP library: those hand a body on after several hops of the
event loop, merged or split as their buffers like it, so that neither the stamps nor the borders of
what arrived can be trusted. Proxies of the environment are not used, for one that buffers would
falsify what is measured. It refuses to know HTTP, WebSocket and dialects: a talk speaks them.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.client.exchange import CannotConnect, End

#: More than any reply of text has; then we stop reading.
_MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is waited for, in seconds."""

    connect_s: float = 10.0
    #: No byte at all. A long prefill is silent, a dead server too.
    silence_s: float = 60.0
    #: For the answer's end, once the dialect's last frame was heard.
    tail_s: float = 2.0
    total_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where to connect."""

    host: str
    port: int
    tls: bool = False


class Talk(Protocol):
    """What is said over a connection, without I/O."""

    def opening(self) -> bytes:
        """The first bytes to send."""

    def hear(self, at_ns: int, data: bytes) -> bytes:
        """Take one read, b"" for the end of the connection; bytes to send at once."""

    @property
    def end(self) -> End | None:
        """How it ended; None: it goes on."""

    @property
    def heard_last(self) -> bool:
        """The dialect's last frame was heard; only the answer's own end is missing."""


@dataclass(frozen=True, slots=True)
class Course:
    """When a talk was sent and when and how it ended."""

    sent_ns: int
    ended_ns: int
    end: End


async def converse(
    address: Address, talk: Talk, patience: Patience, now_ns: Callable[[], int] = time.monotonic_ns
) -> Course:
    """Connect, hold the talk to its end and close. Raises CannotConnect."""
    loop = asyncio.get_running_loop()
    line = _Line(talk, now_ns)
    context = ssl.create_default_context() if address.tls else None
    try:
        async with asyncio.timeout(patience.connect_s):
            transport, _ = await loop.create_connection(lambda: line, address.host, address.port, ssl=context)
    except (OSError, TimeoutError, ValueError) as error:
        why = f"no answer within {patience.connect_s:g} s" if isinstance(error, TimeoutError) else error
        raise CannotConnect(f"cannot connect to {address.host}:{address.port}: {why}") from None
    try:
        sent_ns = now_ns()
        transport.write(talk.opening())
        end = await _listen(line, talk, patience, sent_ns, now_ns)
        return Course(sent_ns, line.last_ns or now_ns(), end)
    finally:
        transport.close()


# Private


class _Line(asyncio.Protocol):
    """The receiving end: stamps, then lets the talk hear."""

    def __init__(self, talk: Talk, now_ns: Callable[[], int]) -> None:
        self.news = asyncio.Event()
        self.last_ns = 0
        self.num_bytes = 0
        self._talk = talk
        self._now_ns = now_ns
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        at_ns = self._now_ns()
        self.num_bytes += len(data)
        self._hear(at_ns, data)

    def connection_lost(self, error: Exception | None) -> None:
        self._hear(self._now_ns(), b"")

    def _hear(self, at_ns: int, data: bytes) -> None:
        if self._talk.end is not None:
            return
        self.last_ns = at_ns
        answer = self._talk.hear(at_ns, data)
        if answer and self._transport is not None:
            self._transport.write(answer)
        self.news.set()


async def _listen(
    line: _Line, talk: Talk, patience: Patience, sent_ns: int, now_ns: Callable[[], int]
) -> End:
    while (end := talk.end) is None:
        left_s = patience.total_s - (now_ns() - sent_ns) / 1e9
        wait_s = patience.tail_s if talk.heard_last else patience.silence_s
        if left_s <= 0 or line.num_bytes > _MAX_BYTES:
            return "overlong"
        try:
            async with asyncio.timeout(min(left_s, wait_s)):
                await line.news.wait()
        except TimeoutError:
            if left_s <= wait_s:
                continue
            return "lingering" if talk.heard_last else "silent"
        line.news.clear()
    return end
