"""What the lab's experiments stream: NDJSON for as long as it comes or somebody reads it.

Each response lets go of what it reads from when its reader goes. It refuses to know routes and what
an experiment is asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope, Send

from app.engine.kv_blocks import BLOCK_TOKENS
from app.events import AnyEvent
from app.lab.compression import Flush, Squeeze
from app.lab.crowd import Crowd
from app.lab.steps import Listener
from app.settings import Settings
from app.transports import framing
from app.transports.answer import STREAM_HEADERS, body_message, disconnected, start_message
from app.transports.outlet import ConnectionGone, Outlet, unless_gone
from app.transports.wire import wire_of


@dataclass(frozen=True, slots=True)
class Lines:
    """Values as NDJSON, for as long as they come or somebody reads them. A response."""

    values: AsyncIterator[Any]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outlet = Outlet(send, wire_of(scope))
        try:
            await unless_gone(self._write(outlet), disconnected(receive))
        except ConnectionGone:
            return

    # Private

    async def _write(self, outlet: Outlet) -> None:
        await outlet.write(start_message(200, {"content-type": framing.NDJSON, **STREAM_HEADERS}))
        async for value in self.values:
            await outlet.write(body_message(framing.json_bytes(value) + b"\n"))
        await outlet.write(body_message(b"", more=False))


@dataclass(frozen=True, slots=True)
class StepLines:
    """The steps that one listener hears, as a response; it listens no longer than somebody reads."""

    listener: Listener
    settings: Settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await Lines(self._lines())(scope, receive, send)
        finally:
            self.listener.close()

    # Private

    async def _lines(self) -> AsyncIterator[Any]:
        yield {
            "type": "limits",
            "high_tokens": self.settings.high_tokens,
            "low_tokens": self.settings.low_tokens,
            "stall_s": self.settings.stall_s,
            "block_tokens": BLOCK_TOKENS,
        }
        while True:
            for step in await self.listener.next():
                yield step


@dataclass(frozen=True, slots=True)
class CrowdLines:
    """What becomes of a crowd, as a response; the crowd ends with its reader."""

    crowd: Crowd

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await Lines(self.crowd.news())(scope, receive, send)
        finally:
            self.crowd.close()


@dataclass(frozen=True, slots=True)
class GrpcLines:
    """A reply over gRPC as our own client hears it, as a response; the call ends with its reader."""

    news: AsyncIterator[Any]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with contextlib.aclosing(self.news) as news:  # type: ignore[type-var]
            await Lines(news)(scope, receive, send)


class GzipFrames(framing.NdjsonFrames):
    """Lines of NDJSON, compressed as one stream."""

    def __init__(self, flush: Flush) -> None:
        super().__init__()
        self._squeeze = Squeeze(flush)

    def on(self, event: AnyEvent) -> bytes:
        return self._squeeze.on(event, super().on(event))
