"""What OpenAI's clients read: our events as their chunks, and their whole answers. Pure.

One stream object turns the events of the n replies of one request into bytes to write; one
function makes the whole answer of the same events. Which frame may come when is the contract that
the official SDK's helpers rely on; each rule stands at its line. It refuses to know HTTP and how
the events came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import FirstwordError
from app.events import AnyEvent, Delta, Done, Usage
from app.transports.framing import json_bytes
from app.transports.openai_errors import error_body
from app.transports.openai_logprobs import TextLogprobs, chat_logprobs
from app.transports.outcome import Outcome

DONE_FRAME = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Head:
    """What all frames of one answer share. ``created`` is in Unix seconds."""

    id: str
    created: int
    model: str


class _Stream:
    """The rules that both endpoints share: who ends when, usage once, an error at most once."""

    object = ""

    def __init__(self, head: Head, n: int, logprobs: bool = False, include_usage: bool = False) -> None:
        self._head = head
        self._n = n
        self._logprobs = logprobs
        self._include_usage = include_usage
        self._usages: list[Usage] = []
        #: Whether the last frame has been made: nothing may follow it.
        self.over = False

    def on(self, index: int, event: AnyEvent) -> bytes:
        """The frames for an ``event`` of reply ``index``, empty for many; errors go to ``failed``."""
        match event:
            case Delta():
                return self._delta(index, event)
            case Done():
                return self._done(index, event)
        return b""

    def failed(self, error: FirstwordError) -> bytes:
        """An error after the first byte: no finish_reason, which would look like success.

        ``[DONE]`` follows all the same, for clients that wait for it for ever.
        """
        self.over = True
        return _frame(error_body(error)) + DONE_FRAME

    def ping(self) -> bytes:
        """A comment: the SDK drops it, as long as no frame ever had an ``id:``."""
        return b": ping\n\n"

    # Private

    def _delta(self, index: int, delta: Delta) -> bytes:
        raise NotImplementedError

    def _last(self, index: int, finish_reason: str) -> bytes:
        raise NotImplementedError

    def _done(self, index: int, done: Done) -> bytes:
        self._usages.append(done.usage)
        frames = self._last(index, done.finish_reason)
        if len(self._usages) < self._n:
            return frames
        if self._include_usage:
            frames += _frame({**self._envelope([]), "usage": usage_body(self._usages)})
        self.over = True
        return frames + DONE_FRAME

    def _chunk(self, choice: dict[str, Any]) -> bytes:
        chunk = self._envelope([choice])
        if self._include_usage:
            # Present and null, so that a client need not guess whether it is still to come.
            chunk["usage"] = None
        return _frame(chunk)

    def _envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        head = self._head
        return {
            "id": head.id,
            "object": self.object,
            "created": head.created,
            "model": head.model,
            "choices": choices,
        }


class ChatStream(_Stream):
    """``/v1/chat/completions`` with ``stream: true``."""

    object = "chat.completion.chunk"

    def __init__(self, head: Head, n: int, logprobs: bool = False, include_usage: bool = False) -> None:
        super().__init__(head, n, logprobs, include_usage)
        self._opened = False

    def _delta(self, index: int, delta: Delta) -> bytes:
        info = chat_logprobs(delta.info) if self._logprobs and delta.info else None
        if not delta.text and info is None:
            return b""
        return self._opening() + self._choice(index, {"content": delta.text}, info)

    def _last(self, index: int, finish_reason: str) -> bytes:
        return self._opening() + self._choice(index, {}, None, finish_reason)

    def _opening(self) -> bytes:
        """The role frames, written together with the first content and never before.

        Sent earlier they would be taken for the first token by everyone who measures. All choices
        open at once and in order: the SDK's helper finds a choice by its place in a list.
        """
        if self._opened:
            return b""
        self._opened = True
        return b"".join(self._choice(i, {"role": "assistant", "content": ""}, None) for i in range(self._n))

    def _choice(
        self, index: int, delta: dict[str, Any], logprobs: Any, finish_reason: str | None = None
    ) -> bytes:
        return self._chunk(
            {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
        )


class TextStream(_Stream):
    """``/v1/completions`` with ``stream: true``: text frames and no role."""

    object = "text_completion"

    def __init__(self, head: Head, n: int, logprobs: bool = False, include_usage: bool = False) -> None:
        super().__init__(head, n, logprobs, include_usage)
        self._columns = [TextLogprobs() for _ in range(n)]

    def _delta(self, index: int, delta: Delta) -> bytes:
        columns = self._columns[index].take(delta.info) if self._logprobs and delta.info else None
        if not delta.text and columns is None:
            return b""
        return self._chunk({"index": index, "text": delta.text, "logprobs": columns, "finish_reason": None})

    def _last(self, index: int, finish_reason: str) -> bytes:
        return self._chunk({"index": index, "text": "", "logprobs": None, "finish_reason": finish_reason})


def chat_answer(head: Head, outcomes: Sequence[Outcome], logprobs: bool = False) -> dict[str, Any]:
    """The JSON of a chat answer that is not streamed."""
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": outcome.text, "refusal": None},
            "logprobs": chat_logprobs(outcome.info) if logprobs else None,
            "finish_reason": outcome.done.finish_reason,
        }
        for index, outcome in enumerate(outcomes)
    ]
    return _answer(head, "chat.completion", choices, outcomes)


def text_answer(head: Head, outcomes: Sequence[Outcome], logprobs: bool = False) -> dict[str, Any]:
    """The JSON of a completion that is not streamed."""
    choices = [
        {
            "index": index,
            "text": outcome.text,
            "logprobs": TextLogprobs().take(outcome.info) if logprobs else None,
            "finish_reason": outcome.done.finish_reason,
        }
        for index, outcome in enumerate(outcomes)
    ]
    return _answer(head, "text_completion", choices, outcomes)


def usage_body(usages: Sequence[Usage]) -> dict[str, Any]:
    """The usage of n replies as one: the prompt is counted once, as it was sent once."""
    prompt_tokens = max(usage.prompt_tokens for usage in usages)
    completion_tokens = sum(usage.completion_tokens for usage in usages)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": min(usage.cached_tokens for usage in usages)},
    }


# Private


def _answer(
    head: Head, kind: str, choices: list[dict[str, Any]], outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    return {
        "id": head.id,
        "object": kind,
        "created": head.created,
        "model": head.model,
        "choices": choices,
        "usage": usage_body([outcome.done.usage for outcome in outcomes]),
    }


def _frame(value: dict[str, Any]) -> bytes:
    return b"data: " + json_bytes(value) + b"\n\n"
