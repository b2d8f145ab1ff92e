"""OpenAI's two endpoints, as vLLM, llama.cpp, Ollama and many others speak them.

A role without content is no text. Reading is lenient, for the measurement has to go on; whether the
contract is kept is the doctor's question.
"""

from __future__ import annotations

from typing import Any

from app.client.dialects.dialect import (
    Dialect,
    Question,
    error_message,
    merged,
    object_in,
    part_of,
    post,
    text_of,
)
from app.client.exchange import Frame
from app.client.hearing import Hearing, SseFraming
from app.client.http_answer import Request

LAST = "[DONE]"


def hear(hearing: Hearing, frame: Frame) -> None:
    """One chunk, or the sign that there are no more."""
    if frame.data.strip() == LAST:
        hearing.over = True
        return
    chunk = object_in(hearing, frame)
    if chunk.get("error"):
        hearing.fail(error_message(chunk) or "error")
    _usage(hearing, chunk)
    choice = part_of(chunk, "choices", 0)
    text = part_of(choice, "delta", "content") or part_of(choice, "text")
    hearing.say(frame.at_ns, text_of(text))
    hearing.finish_reason = text_of(part_of(choice, "finish_reason")) or hearing.finish_reason


def hear_whole(hearing: Hearing, frame: Frame) -> None:
    """The answer in one piece."""
    answer = object_in(hearing, frame)
    _usage(hearing, answer)
    choice = part_of(answer, "choices", 0)
    text = part_of(choice, "message", "content") or part_of(choice, "text")
    hearing.say(frame.at_ns, text_of(text), hearing.usage.completion_tokens)
    hearing.finish_reason = text_of(part_of(choice, "finish_reason")) or None
    hearing.over = True


# Private


def _usage(hearing: Hearing, answer: dict[str, Any]) -> None:
    usage = answer.get("usage")
    hearing.usage = merged(
        hearing.usage, part_of(usage, "prompt_tokens"), part_of(usage, "completion_tokens")
    )


def _streamed(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "stream": True, "stream_options": {"include_usage": True}}


def _chat(question: Question) -> dict[str, Any]:
    messages = [{"role": "user", "content": question.prompt}]
    return {"model": question.model, "messages": messages, **question.sampling}


def _text(question: Question) -> dict[str, Any]:
    return {"model": question.model, "prompt": question.prompt, **question.sampling}


def _ask_chat(question: Question, path: str) -> Request:
    return post(path, question, "text/event-stream", _streamed(_chat(question)))


def _ask_chat_whole(question: Question, path: str) -> Request:
    return post(path, question, "application/json", _chat(question))


def _ask_text(question: Question, path: str) -> Request:
    return post(path, question, "text/event-stream", _streamed(_text(question)))


def _ask_text_whole(question: Question, path: str) -> Request:
    return post(path, question, "application/json", _text(question))


CHAT = Dialect(
    "openai",
    "OpenAI chat completions",
    "/v1/chat/completions",
    SseFraming,
    _ask_chat,
    hear,
    _ask_chat_whole,
    hear_whole,
)
TEXT = Dialect(
    "openai-text",
    "OpenAI completions",
    "/v1/completions",
    SseFraming,
    _ask_text,
    hear,
    _ask_text_whole,
    hear_whole,
)
