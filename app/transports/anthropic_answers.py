"""What Anthropic's clients read: our events as their events, and their whole message. Pure.

Every frame has its type twice, as ``event:`` and inside the JSON: the SDK drops what has no
``event:`` line. The order is a contract that its helper relies on:

    message_start  content_block_start  ping  content_block_delta*  content_block_stop
    message_delta  message_stop

or an ``error`` instead of whatever is missing. It refuses to know HTTP.
"""

from __future__ import annotations

from typing import Any

from app.errors import FirstwordError
from app.events import AnyEvent, Delta, Done, Started
from app.transports.anthropic_errors import error_body
from app.transports.framing import json_bytes
from app.transports.outcome import Outcome


class MessageStream:
    """``/v1/messages`` with ``stream: true``; ``id`` and ``model`` stand in the first frame."""

    def __init__(self, id: str, model: str, request_id: str) -> None:
        self._id = id
        self._model = model
        self._request_id = request_id
        self._started = False
        #: Whether the last frame has been made: nothing may follow it.
        self.over = False

    def on(self, index: int, event: AnyEvent) -> bytes:
        """The frames for an ``event``, empty for some; errors go to ``failed``. There is one reply: 0."""
        match event:
            case Started():
                return self._start(event.prompt_tokens)
            case Delta():
                return self._delta(event.text)
            case Done():
                return self._done(event)
        return b""

    def failed(self, error: FirstwordError) -> bytes:
        """An error after the first byte; no message_stop, which would look like success."""
        self.over = True
        return _frame("error", error_body(error, self._request_id))

    def ping(self) -> bytes:
        """A sign of life. Before message_start only a comment: nothing may come before it."""
        return _frame("ping", {"type": "ping"}) if self._started else b": ping\n\n"

    # Private

    def _start(self, prompt_tokens: int) -> bytes:
        """The message without its text, as soon as prefill begins: it claims no token yet."""
        self._started = True
        message = {
            **_message(self._id, self._model),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": prompt_tokens, "output_tokens": 0},
        }
        block = {"type": "text", "text": ""}
        return (
            _frame("message_start", {"type": "message_start", "message": message})
            + _frame(
                "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
            )
            + self.ping()
        )

    def _delta(self, text: str) -> bytes:
        if not text:
            return b""
        delta = {"type": "text_delta", "text": text}
        return _frame("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})

    def _done(self, done: Done) -> bytes:
        self.over = True
        delta = {"stop_reason": stop_reason(done), "stop_sequence": done.stop}
        return (
            _frame("content_block_stop", {"type": "content_block_stop", "index": 0})
            + _frame("message_delta", {"type": "message_delta", "delta": delta, "usage": _usage(done)})
            + _frame("message_stop", {"type": "message_stop"})
        )


def message_answer(id: str, model: str, outcome: Outcome) -> dict[str, Any]:
    """The JSON of a message that is not streamed."""
    return {
        **_message(id, model),
        "content": [{"type": "text", "text": outcome.text}],
        "stop_reason": stop_reason(outcome.done),
        "stop_sequence": outcome.done.stop,
        "usage": _usage(outcome.done),
    }


def stop_reason(done: Done) -> str:
    """Why the text ended, in Anthropic's words."""
    if done.finish_reason == "length":
        return "max_tokens"
    return "stop_sequence" if done.stop is not None else "end_turn"


# Private


def _message(id: str, model: str) -> dict[str, Any]:
    return {"id": id, "type": "message", "role": "assistant", "model": model}


def _usage(done: Done) -> dict[str, int]:
    return {"input_tokens": done.usage.prompt_tokens, "output_tokens": done.usage.completion_tokens}


def _frame(event: str, value: dict[str, Any]) -> bytes:
    return b"event: " + event.encode() + b"\ndata: " + json_bytes(value) + b"\n\n"
