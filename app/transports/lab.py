"""Routes of the lab's experiments, beside the ordinary wires that they use.

    GET  /api/lab/steps               NDJSON: first the limits that pictures are drawn with, then the
                                      engine's steps
    POST /api/lab/replies             202 {"reply"}: a staged one, {"kind", "await_readers"}
    GET  /api/lab/replies/{id}/gzip   a reply's NDJSON through gzip: ?flush=each or ?flush=end
    GET  /api/lab/wires               {"grpc": whether this server speaks it}
    GET  /api/lab/replies/{id}/grpc   NDJSON: a reply over gRPC, read by our own client, frame by frame
    POST /api/lab/users               NDJSON: virtual users who ask through a gate, and what became of them

It refuses to know what an experiment shows (static/js/lab) and how steps are merged (app.lab);
what streams back is lab_lines'.
"""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from app.errors import EngineLoading, NotFound, Overloaded
from app.intake.fields import Fields, from_query
from app.lab.compression import FLUSHES
from app.lab.crowd import Crowd, Order
from app.lab.gate import BATCHINGS
from app.lab.staged import STAGINGS, stage
from app.lab.steps import StepFeed
from app.lab.users import Habits, users
from app.reply.registry import Replies
from app.settings import Settings
from app.transports import framing
from app.transports.answer import StreamedAnswer
from app.transports.http import read_json
from app.transports.lab_lines import CrowdLines, GrpcLines, GzipFrames, StepLines
from app.transports.reading import Reading, new_reply_id
from app.transports.routing import route

#: One of each wire, and some to spare.
_MAX_READERS = 16
#: Less than the line at the door holds: other people's questions still get in.
_MAX_USERS = 24
_MAX_ANSWER_TOKENS = 128
_MAX_PROMPT_WORDS = 400
PREFILLS = ("pieces", "at_once")


class LabRoutes:
    """The endpoints."""

    def __init__(self, replies: Replies, settings: Settings) -> None:
        self._replies = replies
        self._settings = settings
        self._feed = StepFeed(replies.engine.watch_steps, time.monotonic_ns)
        #: The last one, which may be over.
        self._crowd: Crowd | None = None

    async def steps(self, request: Request) -> ASGIApp:
        """GET /api/lab/steps."""
        return StepLines(self._feed.listen(), self._settings)

    async def compressed(self, request: Request) -> ASGIApp:
        """GET /api/lab/replies/{id}/gzip."""
        reply = self._replies.get(request.path_params["id"])
        fields = from_query(request.query_params.multi_items(), {})
        flush = fields.choice("flush", FLUSHES, FLUSHES[0])
        fields.refuse_others()
        headers = {"content-encoding": "gzip", "x-reply-id": reply.id}
        return StreamedAnswer(reply.attach("token"), Reading(), GzipFrames(flush), self._settings, headers)

    async def wires(self, request: Request) -> Response:
        """GET /api/lab/wires."""
        return _json({"grpc": bool(self._settings.grpc_port)}, 200)

    async def over_grpc(self, request: Request) -> ASGIApp:
        """GET /api/lab/replies/{id}/grpc."""
        reply = self._replies.get(request.path_params["id"])
        if not self._settings.grpc_port:
            raise NotFound("This server does not speak gRPC: start it with --grpc-port.")
        # Here, because its packages are an extra that a server without gRPC need not have.
        from app.transports.lab_grpc import grpc_news

        return GrpcLines(grpc_news(reply.id, self._settings))

    async def staged(self, request: Request) -> Response:
        """POST /api/lab/replies."""
        fields = Fields(await read_json(request, self._settings.max_body_bytes))
        kind = fields.choice("kind", STAGINGS, STAGINGS[0])
        readers = fields.integer("await_readers", 1, _MAX_READERS, 1)
        fields.refuse_others()
        reply = await stage(self._replies, kind, readers, new_reply_id)
        return _json({"reply": reply.id}, 202)

    async def crowd(self, request: Request) -> ASGIApp:
        """POST /api/lab/users."""
        fields = Fields(await read_json(request, self._settings.max_body_bytes))
        habits = _read_habits(fields)
        order = Order(
            batching=fields.choice("batching", BATCHINGS, BATCHINGS[0]),
            group=fields.integer("group", 2, 16, 4),
            prefill_at_once=fields.choice("prefill", PREFILLS, PREFILLS[0]) == "at_once",
        )
        fields.refuse_others()
        if self._replies.engine.status.state != "ready":
            raise EngineLoading("The model is not ready yet; this experiment draws its steps and needs it.")
        if self._crowd is not None and not self._crowd.closed:
            raise Overloaded(
                "another page has its users here just now, and two crowds would measure each other"
            )
        self._crowd = Crowd(users(habits), order, self._replies, self._feed.listen(), new_reply_id)
        return CrowdLines(self._crowd)


def routes(replies: Replies, settings: Settings) -> list[BaseRoute]:
    """All routes of this module."""
    found = LabRoutes(replies, settings)
    return [
        route("/api/lab/steps", found.steps, "GET"),
        route("/api/lab/users", found.crowd, "POST"),
        route("/api/lab/replies/{id}/gzip", found.compressed, "GET"),
        route("/api/lab/replies/{id}/grpc", found.over_grpc, "GET"),
        route("/api/lab/wires", found.wires, "GET"),
        route("/api/lab/replies", found.staged, "POST"),
    ]


# Private


def _json(value: object, status: int) -> Response:
    return Response(framing.json_bytes(value), status, {"cache-control": "no-store"}, framing.JSON)


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
