"""The score: a recording as a player reads it, cue by cue with the time of each. Pure.

Recordings come from anybody, so what is told to have happened before the first text is put before it
here. It refuses to know clocks and who plays.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.events import Delta, Done
from app.replay.recording import Recording

#: (recorded ms, what happens then); None is where prefill began.
Cue = tuple[float, Delta | Done | None]


@dataclass(frozen=True, slots=True)
class Score:
    """Cues in order: the beginning, deltas, the end. ``first_token_ms`` None: it was not told."""

    prompt_tokens: int
    cached_tokens: int
    first_token_ms: float | None
    cues: list[Cue]
    done: Done


def score_of(recording: Recording) -> Score:
    """The score of a recording that was read and checked."""
    done, deltas = recording.reply.done, recording.reply.deltas
    first_ms = deltas[0].t if deltas else done.t
    # Files come from anybody: what happened before the first text is put before it.
    begun_ms = min(max(0.0, done.timings.queue_ms or 0.0), first_ms)
    first_token_ms = done.timings.first_token_ms
    if first_token_ms is not None:
        first_token_ms = min(max(begun_ms, first_token_ms), first_ms)
    cues: list[Cue] = [(begun_ms, None), *((delta.t, delta) for delta in deltas), (done.t, done)]
    return Score(done.usage.prompt_tokens, done.usage.cached_tokens, first_token_ms, cues, done)
