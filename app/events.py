"""The vocabulary of our own wire: what a reader is told, in the words of the design, section 5.1.

WebSocket, SSE and NDJSON carry exactly these structs as JSON. ``t`` is milliseconds since the
server received the request. This module refuses to know framing (transports) and who wrote the
events (reply).
"""

from __future__ import annotations

import msgspec

from app.generation import FinishReason, TokenInfo


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """Base of all events; ``id`` echoes the client's own id on a shared socket."""


class Queued(Event, tag="queued", frozen=True):
    reply: str
    position: int
    t: float
    id: str | None = None


class Started(Event, tag="started", frozen=True):
    """Prefill begins. ``prompt_tokens`` 0: not known yet, as an upstream server tells it at the end only.

    Then ``done.usage`` has it, where that server tells it at all; no prompt has 0 tokens.
    """

    reply: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    t: float
    id: str | None = None
    #: On resume: False when the asked-for position is gone and the text starts anew.
    recovered: bool | None = None


class Delta(Event, tag="delta", frozen=True):
    """New text. ``seq`` counts the log's deltas from 1; a merged frame has its last one's."""

    reply: str
    seq: int
    text: str
    tokens: int
    t: float
    info: list[TokenInfo] = []
    #: In a reader's first delta only: when its pace let the text go, where that is later than ``t``.
    released: float | None = None


class Paused(Event, tag="paused", frozen=True):
    reply: str
    reason: str
    t: float


class Resumed(Event, tag="resumed", frozen=True):
    reply: str
    reason: str
    t: float


class Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cached_tokens: int


class Timings(msgspec.Struct, frozen=True):
    """Milliseconds on the server's one monotonic clock; None where the stage was not reached.

    queue      received -> prefill begins          prefill   prefill begins -> first token made
    first      received -> first token made        decode    first token -> last token made
    paused     time out of the batch for a reader  total     received -> done
    """

    queue_ms: float | None
    prefill_ms: float | None
    first_token_ms: float | None
    decode_ms: float | None
    paused_ms: float
    total_ms: float


class Done(Event, tag="done", frozen=True):
    reply: str
    seq: int
    finish_reason: FinishReason
    usage: Usage
    timings: Timings
    t: float
    stop: str | None = None
    id: str | None = None


class Error(Event, tag="error", frozen=True):
    code: str
    message: str
    retryable: bool
    reply: str | None = None
    id: str | None = None
    param: str | None = None
    t: float | None = None


class Ping(Event, tag="ping", frozen=True):
    t: float


class Pong(Event, tag="pong", frozen=True):
    """Answer to a client's ping: its own stamp back, and ours, so that it can place our clock.

    ``t`` counts from the opening of the socket, or, where the ping named a ``reply``, as that
    reply's events do: from when the server received its request.
    """

    t: float
    echo: float | None = None
    reply: str | None = None


AnyEvent = Queued | Started | Delta | Paused | Resumed | Done | Error | Ping | Pong
