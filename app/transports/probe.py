"""Probe: timed ticks, for the doctor: does a stream arrive the way it was sent?

``GET /api/probe?ticks=20&every_ms=100`` sends so many events at that pace, over SSE or NDJSON, each
with its number and time. Whatever changes their rhythm stands between us and the client. Ticks are
small and without padding, as tokens are. It refuses to know replies and engines.
"""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from app.intake.fields import from_query, typed
from app.transports import framing
from app.transports.answer import STREAM_HEADERS, body_message, disconnected, start_message
from app.transports.outlet import ConnectionGone, Outlet, unless_gone
from app.transports.routing import route
from app.transports.wire import wire_of

_KINDS = {"ticks": typed, "every_ms": typed}


class Ticks:
    """One run of the probe, as a response."""

    def __init__(self, ticks: int, every_ms: int, media_type: str) -> None:
        self._ticks = ticks
        self._every_ms = every_ms
        self._media_type = media_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outlet = Outlet(send, wire_of(scope))
        try:
            await unless_gone(self._tick(outlet), disconnected(receive))
        except ConnectionGone:
            return

    # Private

    async def _tick(self, outlet: Outlet) -> None:
        began_ns = time.monotonic_ns()
        await outlet.write(start_message(200, {"content-type": self._media_type, **STREAM_HEADERS}))
        for number in range(1, self._ticks + 1):
            due_ns = began_ns + number * self._every_ms * 1_000_000
            await asyncio.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
            t_ms = round((time.monotonic_ns() - began_ns) / 1e6, 3)
            tick = framing.json_bytes({"type": "tick", "n": number, "of": self._ticks, "t": t_ms})
            await outlet.write(body_message(self._frame(tick)))
        await outlet.write(body_message(b"", more=False))

    def _frame(self, tick: bytes) -> bytes:
        return b"data: " + tick + b"\n\n" if self._media_type == framing.SSE else tick + b"\n"


def routes() -> list[BaseRoute]:
    """The probe's route."""

    async def probe(request: Request) -> ASGIApp:
        fields = from_query(request.query_params.multi_items(), _KINDS)
        ticks = fields.integer("ticks", 1, 600, 20)
        every_ms = fields.integer("every_ms", 0, 2000, 100)
        fields.refuse_others()
        accept = request.headers.get("accept", "")
        media_type = framing.choose(accept, (framing.SSE, framing.NDJSON))
        return Ticks(ticks, every_ms, media_type)

    return [route("/api/probe", probe, "GET")]
