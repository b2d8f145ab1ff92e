"""The joint between a reply and whatever generates it.

An Engine takes a Prompt and tells a sink, output by output, what becomes of it. The local engine,
the scripted one, an upstream server and a recording all satisfy it by shape. This module refuses
to know how any of them works and who reads the outputs.

The outputs of one prompt come in this order, and nothing follows the last:

    Waiting+  Begun  (Piece | Paused | Resumed)*  (Ended | Failed)

``Failed`` may come at any point; before the first ``Waiting`` it means that the prompt was
refused at the door and that no work was done. All ``*_ns`` are ``time.monotonic_ns`` readings,
one clock for all processes of the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from app.prompt import Prompt

FinishReason = Literal["stop", "length", "cancelled"]
#: ``ahead``: a reply is over, and what its conversation's next turn begins with is read already.
Phase = Literal["prefill", "decode", "ahead"]


class Waiting(msgspec.Struct, tag="waiting", frozen=True):
    """Accepted and in line; told again when ``position`` changes (0: next)."""

    id: str
    position: int
    at_ns: int


class Begun(msgspec.Struct, tag="begun", frozen=True):
    """Prefill starts now; ``cached_tokens`` of ``prompt_tokens`` need none (0 and 0: not known yet)."""

    id: str
    prompt_tokens: int
    cached_tokens: int
    at_ns: int


class TokenInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One token as the model saw it; ``top`` lists alternatives, most likely first."""

    token_id: int
    data: bytes
    logprob: float
    top: list[tuple[int, bytes, float]] = []


class Piece(msgspec.Struct, tag="piece", frozen=True, omit_defaults=True):
    """Text that may be shown: whole characters, no part of a stop string.

    ``tokens`` counts the tokens made since the last piece; ``at_ns`` is when the last of them
    was made. When the prompt asked for logprobs ``info`` holds one entry for each token whose text
    is shown, so none for those of a stop string.
    """

    id: str
    text: str
    tokens: int
    at_ns: int
    info: list[TokenInfo] = []


class Paused(msgspec.Struct, tag="paused", frozen=True):
    """The sequence left the batch: it has made as many tokens as were granted.

    ``made`` counts all its tokens, those without a Piece so far included; 0: not told.
    """

    id: str
    at_ns: int
    made: int = 0


class Resumed(msgspec.Struct, tag="resumed", frozen=True):
    """The sequence is back in the batch."""

    id: str
    at_ns: int


class Ended(msgspec.Struct, tag="ended", frozen=True, omit_defaults=True):
    """The sequence is over and its memory free. Text still held back came before, in a Piece.

    ``begun_ns`` is None when it was cancelled in line, ``first_token_ns`` when before a token.
    """

    id: str
    finish_reason: FinishReason
    prompt_tokens: int
    completion_tokens: int
    at_ns: int
    cached_tokens: int = 0
    begun_ns: int | None = None
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    paused_ns: int = 0
    stop: str | None = None


class Failed(msgspec.Struct, tag="failed", frozen=True, omit_defaults=True):
    """The sequence is over by an error; ``code`` is one of app.errors."""

    id: str
    code: str
    message: str
    at_ns: int
    param: str | None = None


Output = Waiting | Begun | Piece | Paused | Resumed | Ended | Failed
Sink = Callable[[Output], None]


class EngineStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether prompts can be served, in words a page can show.

    ``state``: ``loading`` (with ``progress`` 0..1 where known), ``ready``, ``restarting`` after a
    crash, ``failed`` for good, ``stopped``.
    """

    state: Literal["loading", "ready", "restarting", "failed", "stopped"]
    detail: str = ""
    progress: float | None = None
    #: Ready, but no step has ended for so long.
    stalled_s: float | None = None


class ModelInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """What generates; limits are in tokens. ``context_tokens`` None: not known (upstream)."""

    name: str
    context_tokens: int | None = None
    device: str = ""
    dtype: str = ""
    #: Whether a sequence really stops when its grant is used up.
    can_pause: bool = True


class StepRecord(msgspec.Struct, frozen=True):
    """One engine step, for the lab: what ran, how long, and what memory it left.

    ``rows`` holds (sequence id, phase, tokens of work).
    """

    at_ns: int
    duration_ns: int
    rows: list[tuple[str, Phase, int]]
    kv_used_blocks: int
    kv_total_blocks: int
    waiting: int
    paused: int


class Engine(Protocol):
    """Whatever turns prompts into pieces. All methods are called on the event loop."""

    @property
    def status(self) -> EngineStatus: ...

    @property
    def model(self) -> ModelInfo: ...

    async def start(self) -> None:
        """Begin to load and return; progress and failure are told by ``status``."""
        ...

    async def stop(self) -> None:
        """End all sequences (``server_shutdown``) and release everything."""
        ...

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """Start working on ``prompt``; ``sink`` is called on the event loop for each output.

        Raises EngineLoading or EngineLost when it cannot take any prompt now.
        """
        ...

    def cancel(self, id: str) -> None:
        """End a sequence at the next step; its Ended says ``cancelled``. Unknown ids are let be."""
        ...

    def grant(self, id: str, tokens: int) -> None:
        """Let a sequence make ``tokens`` tokens in all, counted from its first."""
        ...

    async def count_tokens(self, prompt: Prompt) -> int:
        """How many tokens the prompt has, template included; no generation."""
        ...

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        """Call ``sink`` for each step from now on; the returned function ends it."""
        ...
