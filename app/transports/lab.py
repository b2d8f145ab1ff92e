"""Routes of the lab's experiments, beside the ordinary wires that they use.

    GET  /api/lab/steps               NDJSON: first the limits that pictures are drawn with, then the
                                      engine's steps
    POST /api/lab/replies             202 {"reply"}: a staged one, {"kind", "await_readers"}
    GET  /api/lab/replies/{id}/gzip   a reply's NDJSON through gzip: ?flush=each or ?flush=end
    GET  /api/lab/wires               {"grpc": whether this server speaks it}
    GET  /api/lab/replies/{id}/grpc   NDJSON: a reply over gRPC, read by our own client, frame by frame
    POST /api/lab/users               NDJSON: virtual users who ask through a gate, and what became of them

It refuses to know what an experiment shows (static/js/lab) and how steps are merged (app.lab).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import EngineLoading, NotFound, Overloaded
from app.events import AnyEvent
from app.intake.fields import Fields, from_query
from app.lab.compression import FLUSHES, Flush, Squeeze
from app.lab.crowd import Crowd, Order
from app.lab.gate import BATCHINGS
from app.lab.staged import STAGINGS, stage
from app.lab.steps import Listener, StepFeed
from app.lab.users import Habits, users
from app.reply.registry import Replies
from app.settings import Settings
from app.transports import framing
from app.transports.answer import STREAM_HEADERS, StreamedAnswer, body_message, disconnected, start_message
from app.transports.http import read_json
from app.transports.outlet import ConnectionGone, Outlet, unless_gone
from app.transports.reading import Reading, new_reply_id
from app.transports.routing import route
from app.transports.wire import wire_of

#: Tokens in one block of the KV memory, ours and most others'.
BLOCK_TOKENS = 16
#: One of each wire, and some to spare.
_MAX_READERS = 16
#: Less than the line at the door holds: other people's questions still get in.
_MAX_USERS = 24
_MAX_ANSWER_TOKENS = 128
_MAX_PROMPT_WORDS = 400
PREFILLS = ("pieces", "at_once")


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


def routes(replies: Replies, settings: Settings) -> list[BaseRoute]:
    """All routes of this module."""
    feed = StepFeed(replies.engine.watch_steps, time.monotonic_ns)

    async def steps(request: Request) -> ASGIApp:
        return StepLines(feed.listen(), settings)

    async def compressed(request: Request) -> ASGIApp:
        reply = replies.get(request.path_params["id"])
        fields = from_query(request.query_params.multi_items(), {})
        flush = fields.choice("flush", FLUSHES, FLUSHES[0])
        fields.refuse_others()
        headers = {"content-encoding": "gzip", "x-reply-id": reply.id}
        return StreamedAnswer(reply.attach("token"), Reading(), GzipFrames(flush), settings, headers)

    async def wires(request: Request) -> Response:
        body = framing.json_bytes({"grpc": bool(settings.grpc_port)})
        return Response(body, 200, {"cache-control": "no-store"}, framing.JSON)

    async def over_grpc(request: Request) -> ASGIApp:
        reply = replies.get(request.path_params["id"])
        if not settings.grpc_port:
            raise NotFound("This server does not speak gRPC: start it with --grpc-port.")
        # Here, because its packages are an extra that a server without gRPC need not have.
        from app.transports.lab_grpc import grpc_news

        return GrpcLines(grpc_news(reply.id, settings))

    async def staged(request: Request) -> Response:
        fields = Fields(await read_json(request, settings.max_body_bytes))
        kind = fields.choice("kind", STAGINGS, STAGINGS[0])
        readers = fields.integer("await_readers", 1, _MAX_READERS, 1)
        fields.refuse_others()
        reply = await stage(replies, kind, readers, new_reply_id)
        body = framing.json_bytes({"reply": reply.id})
        return Response(body, 202, {"cache-control": "no-store"}, framing.JSON)

    crowds: list[Crowd] = []

    async def crowd(request: Request) -> ASGIApp:
        fields = Fields(await read_json(request, settings.max_body_bytes))
        habits = _read_habits(fields)
        order = Order(
            batching=fields.choice("batching", BATCHINGS, BATCHINGS[0]),
            group=fields.integer("group", 2, 16, 4),
            prefill_at_once=fields.choice("prefill", PREFILLS, PREFILLS[0]) == "at_once",
        )
        fields.refuse_others()
        if replies.engine.status.state != "ready":
            raise EngineLoading("The model is not ready yet; this experiment draws its steps and needs it.")
        if any(not other.closed for other in crowds):
            raise Overloaded(
                "another page has its users here just now, and two crowds would measure each other"
            )
        crowds[:] = [Crowd(users(habits), order, replies, feed.listen(), new_reply_id)]
        return CrowdLines(crowds[0])

    return [
        route("/api/lab/steps", steps, "GET"),
        route("/api/lab/users", crowd, "POST"),
        route("/api/lab/replies/{id}/gzip", compressed, "GET"),
        route("/api/lab/replies/{id}/grpc", over_grpc, "GET"),
        route("/api/lab/wires", wires, "GET"),
        route("/api/lab/replies", staged, "POST"),
    ]


# Private


def _read_habits(fields: Fields) -> Habits:
    least = fields.integer("least_tokens", 1, _MAX_ANSWER_TOKENS, 8)
    words = fields.integer("prompt_words", 1, _MAX_PROMPT_WORDS, 20)
    return Habits(
        users=fields.integer("users", 1, _MAX_USERS, 8),
        per_second=fields.number("per_second", 0.1, 20, 2.0),
        prompt_words=words,
        long_words=fields.integer("long_words", 1, _MAX_PROMPT_WORDS, words),
        least=least,
        most=fields.integer("most_tokens", least, _MAX_ANSWER_TOKENS, max(least, 48)),
        seed=fields.integer("seed", 0, 2**31, 1),
    )
