"""What the dialects share: the question, the shape of a dialect, JSON read without trust.

It refuses to know any vendor's words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.client.exchange import Frame, Usage
from app.client.hearing import Ears, Framing, Hearing
from app.client.http_answer import Request


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. None: the server's own default. ``key`` is never shown."""

    prompt: str
    max_tokens: int = 128
    model: str = "default"
    temperature: float | None = None
    seed: int | None = None
    key: str = field(default="", repr=False)
    #: Whether a compressed answer is welcome, as browsers and SDKs say, or refused.
    compression: bool = False

    @property
    def sampling(self) -> dict[str, Any]:
        """The fields that all dialects spell alike."""
        fields = {"max_tokens": self.max_tokens, "temperature": self.temperature, "seed": self.seed}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of asking. ``ask`` and ``hear`` are for streamed answers, their twins for whole ones.

    ``ask_whole`` gives None where a whole answer cannot be asked for.
    """

    name: str
    title: str
    #: Where a server has it, below its base; an endpoint that ends in it speaks it.
    path: str
    framing: Callable[[Hearing, Ears], Framing]
    ask: Callable[[Question, str], Request]
    hear: Ears
    ask_whole: Callable[[Question, str], Request | None]
    hear_whole: Ears
    #: Streamed over a WebSocket: ``ask`` gives the text of the first message as its body.
    socket: bool = False


def post(path: str, question: Question, accept: str, body: dict[str, Any], **headers: str) -> Request:
    """A POST with a JSON body and the key as a bearer token."""
    common = {"Accept": accept, "Content-Type": "application/json", **common_headers(question)}
    data = json.dumps(body, ensure_ascii=False).encode()
    return Request("POST", path, {**common, **headers}, data)


def common_headers(question: Question) -> dict[str, str]:
    """What every request says of its sender."""
    headers = {
        "Accept-Encoding": "gzip, deflate" if question.compression else "identity",
        "User-Agent": "firstword",
    }
    if question.key:
        headers["Authorization"] = f"Bearer {question.key}"
    return headers


def json_object(data: str) -> dict[str, Any] | None:
    """A JSON object; None: it is something else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_in(hearing: Hearing, frame: Frame) -> dict[str, Any]:
    """The frame's JSON object; an empty one, and the failure noted, when it has none."""
    value = json_object(frame.data)
    if value is None:
        hearing.fail(f"not a JSON object: {frame.data[:80]!r}")
        return {}
    return value


def text_of(value: object) -> str:
    """``value`` if it is text, else no text."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int | None:
    """``value`` if it is a count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def part_of(value: object, *path: str | int) -> Any:
    """What lies at ``path`` in nested objects and lists; None where a step is missing."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def merged(old: Usage, prompt_tokens: object, completion_tokens: object) -> Usage:
    """``old`` with what is newly told; the last word counts."""
    told_prompt, told_completion = number_of(prompt_tokens), number_of(completion_tokens)
    return Usage(
        old.prompt_tokens if told_prompt is None else told_prompt,
        old.completion_tokens if told_completion is None else told_completion,
    )


def error_message(value: object) -> str | None:
    """The message in an error object, in any of the shapes that servers use; None: it is none."""
    for path in (("error", "message"), ("error",), ("message",), ("detail",), ("detail", 0, "msg")):
        said = part_of(value, *path)
        if isinstance(said, str) and said:
            return said
    wrong = part_of(value, "error")
    return json.dumps(wrong)[:200] if wrong else None
