"""The player: a recording as an Engine, which makes its pieces at the recorded times.

Readers, paces, wires and the fair race work as with a model, because behind them is the same log. A
sequence without a grant left stops, and the rest of its recording moves back by as long; cancelling
ends it. Whatever prompt it is given, it plays its recording. It says in its model's name what it is,
and refuses to know files and sockets. Longer than most files here because it is a whole engine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.errors import BadRequest, FirstwordError, ServerShutdown
from app.events import Delta, Done
from app.generation import (
    Begun,
    Ended,
    EngineStatus,
    Failed,
    FinishReason,
    ModelInfo,
    Output,
    Paused,
    Piece,
    Resumed,
    Sink,
    StepRecord,
    Waiting,
)
from app.prompt import Prompt
from app.replay.recording import Recording
from app.replay.score import score_of


class Timer(Protocol):
    def cancel(self) -> None: ...


#: Calls back after so many seconds; tests give one whose time they move by hand.
CallLater = Callable[[float, Callable[[], None]], Timer]


@dataclass(slots=True, eq=False)
class _Playing:
    """One reply that is played; ``cues[at]`` comes next, ``origin_ns`` is its recorded moment 0."""

    prompt: Prompt
    sink: Sink
    origin_ns: int
    granted: int | None
    at: int = 0
    made: int = 0
    timer: Timer | None = None
    begun_ns: int | None = None
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    paused_since_ns: int | None = None
    paused_ns: int = 0

    @property
    def may_go_on(self) -> bool:
        """As in every engine of ours: the first token is free."""
        return self.granted is None or self.made < max(self.granted, 1)


class Player:
    """An app.generation.Engine. ``speed`` 2 plays in half the time."""

    def __init__(
        self,
        recording: Recording,
        *,
        speed: float = 1.0,
        clock: Callable[[], int] = time.monotonic_ns,
        call_later: CallLater | None = None,
    ) -> None:
        if not 0 < speed < 1000:
            raise ValueError(f"speed must be above 0 and below 1000, not {speed:g}")
        self.recording = recording
        self._speed = speed
        self._clock = clock
        self._call_later = call_later or _call_later
        self._score = score_of(recording)
        model = recording.model
        self._model = ModelInfo(f"{model.name} (recording)", None, model.device, model.dtype)
        self._status = EngineStatus("ready")
        self._playing: dict[str, _Playing] = {}

    @property
    def status(self) -> EngineStatus:
        return self._status

    @property
    def model(self) -> ModelInfo:
        return self._model

    def prompt(self, id: str) -> Prompt:
        """The recorded prompt as a new one of this id, to be submitted to this engine."""
        # Its length bounds what may be granted, and it is what idempotent starts compare.
        tokens = max(1, self.recording.reply.done.usage.completion_tokens)
        return Prompt(id=id, messages=tuple(self.recording.prompt.messages), max_tokens=tokens)

    async def start(self) -> None:
        self._status = EngineStatus("ready")

    async def stop(self) -> None:
        self._status = EngineStatus("stopped")
        for playing in list(self._playing.values()):
            self._fail(playing, ServerShutdown("The server is shutting down."))

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine; the outputs begin with the next turn of the event loop."""
        if self._status.state == "stopped":
            raise ServerShutdown("The server is shutting down.")
        if prompt.id in self._playing:
            raise BadRequest(f"the sequence {prompt.id!r} is already running", param="id")
        playing = _Playing(prompt, sink, self._clock(), prompt.granted_tokens)
        self._playing[prompt.id] = playing
        playing.timer = self._call_later(0.0, lambda: self._enter(playing))

    def cancel(self, id: str) -> None:
        if playing := self._playing.get(id):
            self._disarm(playing)
            playing.timer = self._call_later(0.0, lambda: self._end(playing, "cancelled"))

    def grant(self, id: str, tokens: int) -> None:
        playing = self._playing.get(id)
        if playing is None or playing.granted is None:
            return
        playing.granted = tokens
        if playing.paused_since_ns is not None and playing.may_go_on:
            now_ns = self._clock()
            slept_ns = now_ns - playing.paused_since_ns
            playing.paused_since_ns = None
            playing.paused_ns += slept_ns
            playing.origin_ns += slept_ns
            playing.timer = self._call_later(0.0, lambda: self._resume(playing))

    async def count_tokens(self, prompt: Prompt) -> int:
        return self._score.prompt_tokens

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        """A recording has no steps to tell."""
        return lambda: None

    # Private

    def _enter(self, playing: _Playing) -> None:
        self._tell(playing, Waiting(playing.prompt.id, 0, self._clock()))
        self._schedule(playing)

    def _resume(self, playing: _Playing) -> None:
        self._tell(playing, Resumed(playing.prompt.id, self._clock()))
        self._schedule(playing)

    def _schedule(self, playing: _Playing) -> None:
        """Wait for the next cue. Each is due by the recording's own clock, so that delays never add up."""
        if self._playing.get(playing.prompt.id) is not playing:
            return  # its own sink has ended it
        wait_ns = self._due_ns(playing, self._score.cues[playing.at][0]) - self._clock()
        playing.timer = self._call_later(max(0.0, wait_ns / 1e9), lambda: self._play(playing))

    def _play(self, playing: _Playing) -> None:
        cue = self._score.cues[playing.at][1]
        playing.at += 1
        match cue:
            case None:
                self._begin(playing)
            case Delta():
                self._say(playing, cue)
            case Done():
                self._end(playing, cue.finish_reason)
                return
        if playing.may_go_on or not self._more_text(playing):
            self._schedule(playing)
        elif self._playing.get(playing.prompt.id) is playing:
            playing.paused_since_ns = self._clock()
            self._tell(playing, Paused(playing.prompt.id, playing.paused_since_ns, playing.made))

    def _begin(self, playing: _Playing) -> None:
        playing.begun_ns = self._clock()
        score = self._score
        self._tell(
            playing, Begun(playing.prompt.id, score.prompt_tokens, score.cached_tokens, playing.begun_ns)
        )

    def _say(self, playing: _Playing, delta: Delta) -> None:
        now_ns = self._clock()
        playing.made += delta.tokens
        if playing.first_token_ns is None:
            # It may have been held back when it was recorded: its own time is told apart.
            made_ms = self._score.first_token_ms
            playing.first_token_ns = (
                now_ns if made_ms is None else min(now_ns, self._due_ns(playing, made_ms))
            )
        playing.last_token_ns = now_ns
        self._tell(playing, Piece(playing.prompt.id, delta.text, delta.tokens, now_ns, delta.info))

    def _more_text(self, playing: _Playing) -> bool:
        return isinstance(self._score.cues[playing.at][1], Delta)

    def _due_ns(self, playing: _Playing, recorded_ms: float) -> int:
        return playing.origin_ns + round(recorded_ms * 1e6 / self._speed)

    def _end(self, playing: _Playing, reason: FinishReason) -> None:
        if self._playing.get(playing.prompt.id) is not playing:
            return
        now_ns = self._clock()
        if playing.paused_since_ns is not None:
            playing.paused_ns += now_ns - playing.paused_since_ns
        self._forget(playing)
        whole = reason != "cancelled"
        done = self.recording.reply.done
        ended = Ended(
            playing.prompt.id,
            reason,
            self._score.prompt_tokens,
            done.usage.completion_tokens if whole else playing.made,
            now_ns,
            self._score.cached_tokens,
            playing.begun_ns,
            playing.first_token_ns,
            playing.last_token_ns,
            playing.paused_ns,
            done.stop if whole else None,
        )
        self._tell(playing, ended)

    def _fail(self, playing: _Playing, error: FirstwordError) -> None:
        self._forget(playing)
        self._tell(playing, Failed(playing.prompt.id, error.code, error.message, self._clock()))

    def _forget(self, playing: _Playing) -> None:
        self._disarm(playing)
        del self._playing[playing.prompt.id]

    def _disarm(self, playing: _Playing) -> None:
        if playing.timer is not None:
            playing.timer.cancel()
            playing.timer = None

    def _tell(self, playing: _Playing, output: Output) -> None:
        playing.sink(output)


# Private


def _call_later(delay_s: float, call: Callable[[], None]) -> Timer:
    loop = asyncio.get_running_loop()
    return loop.call_later(delay_s, call) if delay_s > 0 else loop.call_soon(call)
