"""Anthropic's messages.

Reading is lenient, as with OpenAI: an event is known by the type in its JSON, whether or not its
``event:`` line is there; the doctor tells of missing ones.
"""

from __future__ import annotations

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
from app.client.hearing import Hearing, SseFraming
from app.client.http_answer import Request

_VERSION = "2023-06-01"


def hear(hearing: Hearing, frame: Frame) -> None:
    """One event."""
    event = object_in(hearing, frame)
    match event.get("type"):
        case "message_start":
            # Its output_tokens are a placeholder; the count comes with message_delta.
            hearing.usage = merged(hearing.usage, part_of(event, "message", "usage", "input_tokens"), None)
        case "content_block_delta":
            hearing.say(frame.at_ns, text_of(part_of(event, "delta", "text")))
        case "message_delta":
            hearing.usage = merged(hearing.usage, None, part_of(event, "usage", "output_tokens"))
            hearing.finish_reason = text_of(part_of(event, "delta", "stop_reason")) or hearing.finish_reason
        case "message_stop":
            hearing.over = True
        case "error":
            hearing.fail(error_message(event) or "error")


def hear_whole(hearing: Hearing, frame: Frame) -> None:
    """The message in one piece."""
    message = object_in(hearing, frame)
    blocks = message.get("content")
    texts = [text_of(part_of(block, "text")) for block in blocks] if isinstance(blocks, list) else []
    output_tokens = part_of(message, "usage", "output_tokens")
    hearing.usage = merged(hearing.usage, part_of(message, "usage", "input_tokens"), output_tokens)
    hearing.say(frame.at_ns, "".join(texts), number_of(output_tokens))
    hearing.finish_reason = text_of(message.get("stop_reason")) or None
    hearing.over = True


# Private


def _body(question: Question, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": question.prompt}]
    fields = {name: value for name, value in question.sampling.items() if name != "seed"}
    return {"model": question.model, "messages": messages, **fields, **more}


def _headers(question: Question) -> dict[str, str]:
    key = {"x-api-key": question.key} if question.key else {}
    return {"anthropic-version": _VERSION, **key}


def _ask(question: Question, path: str) -> Request:
    return post(path, question, "text/event-stream", _body(question, stream=True), **_headers(question))


def _ask_whole(question: Question, path: str) -> Request:
    return post(path, question, "application/json", _body(question), **_headers(question))


MESSAGES = Dialect(
    "anthropic", "Anthropic messages", "/v1/messages", SseFraming, _ask, hear, _ask_whole, hear_whole
)
