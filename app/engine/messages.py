"""What the web process and the engine's process say to each other: the whole contract, on one page.

Every message is one of a tagged union, Command on the way down and Report on the way up. This module
refuses to know how a message crosses, and what it makes anybody do.
"""

from __future__ import annotations

import msgspec

from app.generation import ModelInfo, Output, StepRecord
from app.prompt import Prompt
from app.settings import Settings

# Parent to child


class Configure(msgspec.Struct, tag="configure", frozen=True):
    """Always the first message. ``factory`` is a dotted name, ``module:function``."""

    settings: Settings
    factory: str


class Submit(msgspec.Struct, tag="submit", frozen=True):
    prompt: Prompt


class CancelSequence(msgspec.Struct, tag="cancel", frozen=True):
    id: str


class GrantTokens(msgspec.Struct, tag="grant", frozen=True):
    id: str
    tokens: int


class CountTokens(msgspec.Struct, tag="count", frozen=True):
    number: int
    prompt: Prompt


class WatchSteps(msgspec.Struct, tag="watch", frozen=True):
    on: bool


class StopEngine(msgspec.Struct, tag="stop", frozen=True):
    """End politely: the step in progress is the last one."""


Command = Configure | Submit | CancelSequence | GrantTokens | CountTokens | WatchSteps | StopEngine


# Child to parent


class Loading(msgspec.Struct, tag="loading", frozen=True):
    """How far the model is; ``progress`` 0..1 or None where it is not known."""

    detail: str
    progress: float | None


class Ready(msgspec.Struct, tag="ready", frozen=True):
    model: ModelInfo


class LoadFailed(msgspec.Struct, tag="load_failed", frozen=True):
    """The model cannot be loaded and trying again will not help; ``message`` is one line."""

    message: str


class Outputs(msgspec.Struct, tag="outputs", frozen=True):
    """All outputs of one step, in their order."""

    outputs: list[Output]


class Counted(msgspec.Struct, tag="counted", frozen=True):
    """The answer to CountTokens: ``tokens``, or why there is none."""

    number: int
    tokens: int | None = None
    code: str = ""
    message: str = ""
    param: str | None = None


class StepDone(msgspec.Struct, tag="step", frozen=True):
    record: StepRecord


class Beat(msgspec.Struct, tag="beat", frozen=True):
    """Told every second by a thread of its own, so that a hanging step cannot hide.

    ``in_step_ms`` is how long the present step has run; 0 between steps.
    """

    in_step_ms: int


Report = Loading | Ready | LoadFailed | Outputs | Counted | StepDone | Beat
