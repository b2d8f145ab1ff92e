"""Anthropic's routes, so that its official SDKs work unchanged.

    POST /v1/messages                a message; ``stream`` chooses events or one answer
    POST /v1/messages/count_tokens   how long the prompt is; nothing is generated

The ``anthropic-version`` header is not asked for: there is one version. It refuses to know what a
request may hold (intake.anthropic), what the events look like (anthropic_answers), how replies are
read (vendor) and how errors are told (refusal).
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from app.intake.anthropic import read_counted, read_message
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.anthropic_answers import MessageStream, message_answer
from app.transports.framing import JSON, json_bytes
from app.transports.http import read_json
from app.transports.reading import new_reply_id
from app.transports.vendor import VendorAnswer, Writing, new_request_id


def routes(replies: Replies, settings: Settings) -> list[BaseRoute]:
    """All routes of this module."""
    wires = AnthropicWires(replies, settings)
    return [
        Route("/v1/messages", wires.create, methods=["POST"]),
        Route("/v1/messages/count_tokens", wires.count_tokens, methods=["POST"]),
    ]


class AnthropicWires:
    """The endpoints; the registry and the limits are all they share."""

    def __init__(self, replies: Replies, settings: Settings) -> None:
        self._replies = replies
        self._settings = settings

    async def create(self, request: Request) -> ASGIApp:
        """POST /v1/messages."""
        request_id = new_request_id()
        body = await read_json(request, self._settings.max_body_bytes)
        asked = read_message(body, self._settings, self._served, new_reply_id)
        id, model = f"msg_{asked.prompt.id}", self._served
        writing = Writing(
            frames=MessageStream(id, model, request_id) if asked.stream else None,
            write_whole=lambda outcomes: message_answer(id, model, outcomes[0]),
            headers={"request-id": request_id},
        )
        return VendorAnswer(self._replies, self._settings, [asked.prompt], writing)

    async def count_tokens(self, request: Request) -> Response:
        """POST /v1/messages/count_tokens."""
        body = await read_json(request, self._settings.max_body_bytes)
        prompt = read_counted(body, self._settings, self._served)
        tokens = await self._replies.engine.count_tokens(prompt)
        return Response(json_bytes({"input_tokens": tokens}), 200, {"request-id": new_request_id()}, JSON)

    # Private

    @property
    def _served(self) -> str:
        return self._replies.engine.model.name
