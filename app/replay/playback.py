"""One reply as a player plays it: where in the score it is, its grant, its stamps. Pure.

It knows which cue comes next and when that is due, and what there is to tell of each change. A
playback that slept moves the rest of its score back by as long. Times are passed in. It refuses to
know timers and other playbacks, and calls no sink itself.
"""

from __future__ import annotations

from app.events import Delta, Done
from app.generation import Begun, Ended, FinishReason, Paused, Piece, Resumed, Sink
from app.prompt import Prompt
from app.replay.score import Score


class Playback:
    """``score`` from its beginning at ``now_ns``; ``speed`` 2 plays in half the time."""

    def __init__(self, prompt: Prompt, sink: Sink, score: Score, speed: float, now_ns: int) -> None:
        self.id = prompt.id
        self.sink = sink
        #: Tokens it may say before it pauses; None: no limit.
        self.granted = prompt.granted_tokens
        self._score = score
        self._speed = speed
        #: When the recorded moment 0 is, or would have been.
        self._origin_ns = now_ns
        self._num_cues = 0
        self._made = 0
        self._begun_ns: int | None = None
        self._first_token_ns: int | None = None
        self._last_token_ns: int | None = None
        self._paused_since_ns: int | None = None
        self._paused_ns = 0

    @property
    def paused(self) -> bool:
        return self._paused_since_ns is not None

    @property
    def may_go_on(self) -> bool:
        """As in every engine of ours: the first token is free, and so is the end."""
        granted = self.granted is None or self._made < max(self.granted, 1)
        return granted or not isinstance(self._score.cues[self._num_cues][1], Delta)

    @property
    def due_ns(self) -> int:
        """When the next cue is due, by the recording's own clock: delays never add up."""
        return self._when_ns(self._score.cues[self._num_cues][0])

    def take(self) -> Delta | Done | None:
        """The next cue; None: the prefill begins."""
        cue = self._score.cues[self._num_cues][1]
        self._num_cues += 1
        return cue

    def begin(self, now_ns: int) -> Begun:
        """The recorded prefill begins."""
        self._begun_ns = now_ns
        return Begun(self.id, self._score.prompt_tokens, self._score.cached_tokens, now_ns)

    def say(self, delta: Delta, now_ns: int) -> Piece:
        """The recorded text comes."""
        self._made += delta.tokens
        if self._first_token_ns is None:
            # It may have been held back when it was recorded: its own time is told apart.
            made_ms = self._score.first_token_ms
            self._first_token_ns = now_ns if made_ms is None else min(now_ns, self._when_ns(made_ms))
        self._last_token_ns = now_ns
        return Piece(self.id, delta.text, delta.tokens, now_ns, delta.info)

    def pause(self, now_ns: int) -> Paused:
        """Its grant is used up."""
        self._paused_since_ns = now_ns
        return Paused(self.id, now_ns, self._made)

    def wake(self, now_ns: int) -> None:
        """It was granted more: the rest comes later by as long as it slept."""
        self._origin_ns += self._count_pause(now_ns)

    def resume(self, now_ns: int) -> Resumed:
        """It plays on."""
        return Resumed(self.id, now_ns)

    def end(self, reason: FinishReason, now_ns: int) -> Ended:
        """The recorded end, or that it was cancelled before it."""
        self._count_pause(now_ns)
        whole, done = reason != "cancelled", self._score.done
        return Ended(
            self.id,
            reason,
            self._score.prompt_tokens,
            done.usage.completion_tokens if whole else self._made,
            now_ns,
            self._score.cached_tokens,
            self._begun_ns,
            self._first_token_ns,
            self._last_token_ns,
            self._paused_ns,
            done.stop if whole else None,
        )

    # Private

    def _when_ns(self, recorded_ms: float) -> int:
        return self._origin_ns + round(recorded_ms * 1e6 / self._speed)

    def _count_pause(self, now_ns: int) -> int:
        if self._paused_since_ns is None:
            return 0
        slept_ns = now_ns - self._paused_since_ns
        self._paused_since_ns = None
        self._paused_ns += slept_ns
        return slept_ns
