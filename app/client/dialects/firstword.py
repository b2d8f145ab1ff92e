"""Firstword's own wires: events as NDJSON, SSE or WebSocket messages, and a reply as one JSON.

The words are those of ``app.events``, read loosely: this is also how a newer server is understood.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

from app.client.dialects.dialect import (
    Dialect,
    Question,
    error_message,
    merged,
    number_of,
    object_in,
    part_of,
    post,
    text_of,
)
from app.client.exchange import Frame
from app.client.hearing import Ears, Framing, Hearing, LineFraming, SseFraming
from app.client.http_answer import Request

_PATH = "/api/replies"
_SOCKET_PATH = "/ws"


def hear(hearing: Hearing, frame: Frame) -> None:
    """One event."""
    event = object_in(hearing, frame)
    match event.get("type"):
        case "started":
            hearing.usage = merged(hearing.usage, event.get("prompt_tokens"), None)
        case "delta":
            t_ms = event.get("t")
            t_ms = float(t_ms) if isinstance(t_ms, int | float) else None
            hearing.say(frame.at_ns, text_of(event.get("text")), number_of(event.get("tokens")), t_ms)
        case "done":
            _end(hearing, event)
        case "error":
            hearing.fail(error_message(event) or "error")
            hearing.over = True


def hear_whole(hearing: Hearing, frame: Frame) -> None:
    """The JSON form of a reply."""
    reply = object_in(hearing, frame)
    hearing.say(frame.at_ns, text_of(reply.get("text")), number_of(_completion_tokens(reply)))
    _end(hearing, reply)


# Private


def _end(hearing: Hearing, event: dict[str, Any]) -> None:
    hearing.finish_reason = text_of(event.get("finish_reason")) or None
    hearing.usage = merged(hearing.usage, part_of(event, "usage", "prompt_tokens"), _completion_tokens(event))
    hearing.over = True


def _completion_tokens(event: dict[str, Any]) -> Any:
    return part_of(event, "usage", "completion_tokens")


def _body(question: Question) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question.prompt}], **question.sampling}


def _ask(accept: str) -> Callable[[Question, str], Request]:
    return lambda question, path: post(path, question, accept, {**_body(question), "pace": "token"})


def _ask_whole(question: Question, path: str) -> Request:
    path = path.removesuffix(_SOCKET_PATH) + _PATH if path.endswith(_SOCKET_PATH) else path
    return post(path, question, "application/json", _body(question))


def _ask_over_socket(question: Question, path: str) -> Request:
    start = {"type": "start", "id": secrets.token_urlsafe(12), "pace": "token", **_body(question)}
    headers = {"Authorization": f"Bearer {question.key}"} if question.key else {}
    return Request("GET", path, headers, json.dumps(start, ensure_ascii=False).encode())


def _wire(name: str, title: str, media_type: str, framing: Callable[[Hearing, Ears], Framing]) -> Dialect:
    return Dialect(name, title, _PATH, framing, _ask(media_type), hear, _ask_whole, hear_whole)


NDJSON = _wire("ndjson", "Firstword's events as NDJSON", "application/x-ndjson", LineFraming)
SSE = _wire("sse", "Firstword's events as SSE", "text/event-stream", SseFraming)
WEBSOCKET = Dialect(
    "websocket",
    "Firstword's events over a WebSocket",
    _SOCKET_PATH,
    LineFraming,
    _ask_over_socket,
    hear,
    _ask_whole,
    hear_whole,
    socket=True,
)
