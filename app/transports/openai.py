"""OpenAI's routes, so that its official SDKs and all that is built on them work unchanged.

    POST /v1/chat/completions   a conversation; ``stream`` chooses frames or one answer
    POST /v1/completions        a raw text
    GET  /v1/models[/{id}]      what is served

It refuses to know what a request may hold (intake.openai), what the frames look like
(openai_answers), how replies are read (vendor) and how errors are told (refusal).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from app.intake.openai import Asked, read_chat, read_text
from app.intake.vendor import check_model
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.framing import JSON, json_bytes
from app.transports.http import read_json
from app.transports.openai_answers import ChatStream, Head, TextStream, chat_answer, text_answer
from app.transports.outcome import Outcome
from app.transports.reading import new_reply_id
from app.transports.vendor import VendorAnswer, Writing, new_request_id


def routes(replies: Replies, settings: Settings, now_s: Callable[[], float] = time.time) -> list[BaseRoute]:
    """All routes of this module. ``now_s`` is Unix time: the contract's ``created`` asks for it."""
    wires = OpenAIWires(replies, settings, now_s)
    return [
        Route("/v1/chat/completions", wires.chat, methods=["POST"]),
        Route("/v1/completions", wires.complete, methods=["POST"]),
        Route("/v1/models", wires.list_models, methods=["GET"]),
        # A model's name may be a path: organisation/model.
        Route("/v1/models/{id:path}", wires.get_model, methods=["GET"]),
    ]


class OpenAIWires:
    """The endpoints; the registry and the limits are all they share."""

    def __init__(self, replies: Replies, settings: Settings, now_s: Callable[[], float]) -> None:
        self._replies = replies
        self._settings = settings
        self._now_s = now_s
        self._started_s = int(now_s())

    async def chat(self, request: Request) -> ASGIApp:
        """POST /v1/chat/completions."""
        return await self._answer(request, "chatcmpl", read_chat, ChatStream, chat_answer)

    async def complete(self, request: Request) -> ASGIApp:
        """POST /v1/completions."""
        return await self._answer(request, "cmpl", read_text, TextStream, text_answer)

    async def list_models(self, request: Request) -> Response:
        """GET /v1/models."""
        return self._json({"object": "list", "data": [self._model()]})

    async def get_model(self, request: Request) -> Response:
        """GET /v1/models/{id}."""
        check_model(request.path_params["id"], self._served)
        return self._json(self._model())

    # Private

    @property
    def _served(self) -> str:
        return self._replies.engine.model.name

    async def _answer(
        self,
        request: Request,
        prefix: str,
        read: Callable[[object, Settings, str, Callable[[], str]], Asked],
        stream: type[ChatStream | TextStream],
        write_whole: Callable[[Head, Sequence[Outcome], bool], dict[str, Any]],
    ) -> ASGIApp:
        body = await read_json(request, self._settings.max_body_bytes)
        asked = read(body, self._settings, self._served, new_reply_id)
        head = Head(f"{prefix}-{asked.prompts[0].id}", int(self._now_s()), self._served)
        frames = stream(head, len(asked.prompts), asked.logprobs, asked.include_usage)
        writing = Writing(
            frames=frames if asked.stream else None,
            write_whole=lambda outcomes: write_whole(head, outcomes, asked.logprobs),
            headers={"x-request-id": new_request_id()},
        )
        return VendorAnswer(self._replies, self._settings, asked.prompts, writing)

    def _json(self, body: dict[str, Any]) -> Response:
        return Response(json_bytes(body), 200, {"x-request-id": new_request_id()}, JSON)

    def _model(self) -> dict[str, Any]:
        model = {"id": self._served, "object": "model", "created": self._started_s, "owned_by": "firstword"}
        context_tokens = self._replies.engine.model.context_tokens
        # vLLM's name for it; OpenAI's own contract does not tell.
        return model if context_tokens is None else {**model, "max_model_len": context_tokens}
