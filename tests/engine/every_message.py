"""One message of every kind that the two processes have, and of every kind of output."""

from __future__ import annotations

from app.engine.messages import (
    Beat,
    CancelSequence,
    Command,
    Configure,
    Counted,
    CountTokens,
    GrantTokens,
    LoadFailed,
    Loading,
    Outputs,
    Ready,
    Report,
    StepDone,
    StopEngine,
    Submit,
    WatchSteps,
)
from app.generation import (
    Begun,
    Ended,
    Failed,
    ModelInfo,
    Paused,
    Piece,
    Resumed,
    StepRecord,
    TokenInfo,
    Waiting,
)
from app.prompt import Message, Prompt, Sampling
from app.settings import Settings

PROMPT = Prompt(
    "a",
    messages=(Message("user", "नमस्ते 🫖"),),
    sampling=Sampling(logit_bias={7: 1.5}, seed=2**63 - 1),
    stop=("\n",),
)

COMMANDS: list[Command] = [
    Configure(Settings(threads=2, stall_s=3), "module:function"),
    Submit(PROMPT),
    CancelSequence("a"),
    GrantTokens("a", 64),
    CountTokens(3, Prompt("b", text="raw")),
    WatchSteps(True),
    StopEngine(),
]
REPORTS: list[Report] = [
    Loading("reading", 0.25),
    Loading("warming up", None),
    Ready(ModelInfo("m", 2048)),
    LoadFailed("no such model"),
    Outputs(
        [
            Waiting("a", 1, 1),
            Begun("a", 3, 2, 2),
            Piece("a", "नम", 2, 3, [TokenInfo(5, b"\xe0\xa4", -0.5, [(5, b"\xe0\xa4", -0.5)])]),
            Paused("a", 4),
            Resumed("a", 5),
            Ended("a", "stop", 3, 2, 6, stop="\n"),
            Failed("b", "engine_error", "why", 7),
        ]
    ),
    Counted(3, 12),
    Counted(4, None, "prompt_too_long", "why", "messages"),
    StepDone(StepRecord(1, 2, [("a", "prefill", 16)], 1, 8, 0, 0)),
    Beat(31_000),
]
