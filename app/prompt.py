"""What is asked of an engine: one validated, frozen Prompt.

Intake makes it from any dialect's JSON, the engine reads it, and it crosses the pipe between
their processes as msgpack. It refuses to know wires, readers and pace: those belong to the
reply, not to the work.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant"]


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Role
    content: str


class Sampling(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the next token is drawn; ranges are checked by intake.

    ``temperature`` 0 is greedy; ``top_k`` 0 and ``top_p`` 1 are off. ``seed`` None draws a fresh
    one. ``logprobs`` is how many alternatives to report for each token (None: none at all).
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = {}
    logprobs: int | None = None


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sequence to generate.

    Exactly one of ``messages`` and ``text`` is given: a conversation goes through the model's
    chat template, a raw text does not. With ``continue_last`` the last message, the assistant's,
    is gone on with instead of answered.
    """

    id: str
    messages: tuple[Message, ...] = ()
    text: str | None = None
    continue_last: bool = False
    sampling: Sampling = Sampling()
    max_tokens: int = 256
    min_tokens: int = 0
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False
    #: Tokens the engine may make before it hears of a reader's progress; None: no limit.
    granted_tokens: int | None = None
    #: Slow motion for teaching: at most this many tokens a second; None: as fast as it goes.
    tokens_per_second: float | None = None
    #: Read all of the prompt in one step, whatever gap that makes for others: an experiment of the lab.
    prefill_at_once: bool = False
