"""Our own HTTP routes: replies over SSE, NDJSON, plain text and JSON; the lesson's two endpoints.

    POST   /api/replies         start (or find) a reply; Accept chooses the wire, JSON by default;
                                with "poll": true it only says which reply that is
    GET    /api/replies/{id}/poll  what is new behind ?after=, at once
    GET    /api/replies/{id}    read one from the beginning, or behind Last-Event-ID or ?after=,
                                which JSON cannot do: it is the whole text, whatever the pace
    DELETE /api/replies/{id}    stop it, from wherever
    GET|POST /generate-stream   chunked plain text      } a disconnect stops these:
    GET|POST /generate-full     JSON {"text", …}        } nobody could come back for them

It refuses to know how answers are written (answer, framing) and what a prompt may hold (intake).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from app.errors import BadRequest, TooLarge
from app.events import Done
from app.intake.fields import Fields, from_query, nested, parse_json, typed
from app.reply.log import Reply
from app.reply.registry import Replies
from app.settings import Settings
from app.transports import framing, reading
from app.transports.answer import StreamedAnswer, WholeAnswer
from app.transports.crossing import attach
from app.transports.polling import Pollers
from app.transports.reading import Reading, Start
from app.transports.routing import route

_OFFERS = (framing.JSON, framing.SSE, framing.NDJSON, framing.PLAIN)
_LESSON_KINDS = {**dict.fromkeys(("max_tokens", "temperature", "seed", "ignore_eos"), typed), "link": nested}
_READ_KINDS = {"after": typed, "link": nested}


class HttpWires:
    """The endpoints; the registry and the limits are all they share."""

    def __init__(self, replies: Replies, settings: Settings) -> None:
        self._replies = replies
        self._settings = settings
        self._pollers = Pollers(settings.stall_s, settings.max_replies)

    async def start(self, request: Request) -> ASGIApp:
        """POST /api/replies."""
        fields = Fields(await read_json(request, self._settings.max_body_bytes))
        polls = fields.boolean("poll", False)
        start = reading.read_start(fields, self._settings)
        reply = self._begin(start, resumable=True)
        if polls:
            name = self._pollers.open(reply, start.reading)
            return _json({"reply": reply.id, "poller": name}, {"x-reply-id": reply.id}, status=202)
        return self._answer(reply, _wanted(request), start.reading)

    async def read(self, request: Request) -> ASGIApp:
        """GET /api/replies/{id}."""
        reply = self._replies.get(request.path_params["id"])
        fields = from_query(request.query_params.multi_items(), _READ_KINDS)
        how = reading.read_place(fields)
        fields.refuse_others()
        last_id = request.headers.get("last-event-id")
        if last_id:
            place = framing.parse_last_event_id(last_id)
            if place is None:
                raise BadRequest("Last-Event-ID is none of ours", param="Last-Event-ID")
            how = replace(how, after=place[0])
            if place[1]:
                # The one answer that keeps an EventSource from coming back again and again.
                return Response(status_code=204)
        return self._answer(reply, _wanted(request), how)

    async def poll(self, request: Request) -> Response:
        """GET /api/replies/{id}/poll."""
        reply = self._replies.get(request.path_params["id"])
        fields = from_query(request.query_params.multi_items(), _READ_KINDS)
        how, name = reading.read_place(fields), fields.text("poller", None, reading.MAX_ID_CHARS)
        fields.refuse_others()
        return _json({"events": await self._pollers.poll(reply, how, name)}, {})

    async def stop(self, request: Request) -> Response:
        """DELETE /api/replies/{id}."""
        self._replies.get(request.path_params["id"]).stop()
        return Response(status_code=204)

    async def generate_stream(self, request: Request) -> ASGIApp:
        """GET or POST /generate-stream."""
        start = await self._read_lesson(request)
        return self._answer(self._begin(start, resumable=False), framing.PLAIN, start.reading)

    async def generate_full(self, request: Request) -> ASGIApp:
        """GET or POST /generate-full."""
        start = await self._read_lesson(request)
        return self._answer(self._begin(start, resumable=False), framing.JSON, start.reading)

    # Private

    async def _read_lesson(self, request: Request) -> Start:
        if request.method == "POST":
            fields = Fields(await read_json(request, self._settings.max_body_bytes))
        else:
            fields = from_query(request.query_params.multi_items(), _LESSON_KINDS)
        return reading.read_lesson(fields, self._settings)

    def _begin(self, start: Start, *, resumable: bool) -> Reply:
        return self._replies.start(
            start.prompt,
            client_id=start.id,
            resumable=resumable,
            await_readers=start.await_readers,
            slow_policy=start.slow_policy,
            engine=start.engine,
        )

    def _answer(self, reply: Reply, media_type: str, how: Reading) -> ASGIApp:
        headers = {"x-reply-id": reply.id}
        if media_type == framing.JSON:
            if how.after:
                raise BadRequest(
                    f"JSON holds the whole text; to go on behind a delta, accept {framing.SSE}, "
                    f"{framing.NDJSON} or {framing.PLAIN}",
                    param="after",
                )
            return WholeAnswer(reply.attach("whole"), how, lambda text, done: _whole(text, done, headers))
        frames = framing.frames(media_type, how.after, self._settings.frame_bytes)
        return StreamedAnswer(attach(reply, how), how, frames, self._settings, headers)


def routes(replies: Replies, settings: Settings) -> list[BaseRoute]:
    """All routes of this module."""
    wires = HttpWires(replies, settings)
    return [
        route("/api/replies", wires.start, "POST"),
        route("/api/replies/{id}", wires.read, "GET"),
        route("/api/replies/{id}", wires.stop, "DELETE"),
        route("/api/replies/{id}/poll", wires.poll, "GET"),
        route("/generate-stream", wires.generate_stream, "GET", "POST"),
        route("/generate-full", wires.generate_full, "GET", "POST"),
    ]


async def read_json(request: Request, limit_bytes: int) -> object:
    """The request's body as JSON. Raises TooLarge before more than the limit is held, BadRequest."""
    declared = request.headers.get("content-length", "")
    body = bytearray()
    if not (declared.isdigit() and int(declared) > limit_bytes):
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit_bytes:
                    break
        except ClientDisconnect:
            raise BadRequest("the client went away before its request was complete") from None
        if len(body) <= limit_bytes:
            return parse_json(bytes(body))
    raise TooLarge(f"the request's body is over the limit of {limit_bytes} bytes")


# Private


def _wanted(request: Request) -> str:
    return framing.choose(request.headers.get("accept", ""), _OFFERS)


def _whole(text: str, done: Done, headers: dict[str, str]) -> Response:
    return _json(framing.whole(text, done), headers)


def _json(value: Any, headers: dict[str, str], status: int = 200) -> Response:
    return Response(
        framing.json_bytes(value),
        status,
        media_type=framing.JSON,
        headers={"cache-control": "no-store", "x-content-type-options": "nosniff", **headers},
    )
