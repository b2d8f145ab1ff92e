"""The player: a recording as an Engine, which makes its pieces at the recorded times.

Readers, paces, wires and the fair race work as with a model, because behind them is the same log. What
one reply is and when is ``Playback``'s; here are the timers and who is playing. Whatever prompt it is
given, it plays its recording. It says in its model's name what it is, and refuses to know files and
sockets.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from app.errors import BadRequest, FirstwordError, ServerShutdown
from app.events import Delta, Done
from app.generation import EngineStatus, Failed, FinishReason, ModelInfo, Sink, StepRecord, Waiting
from app.prompt import Prompt
from app.replay.playback import Playback
from app.replay.recording import Recording
from app.replay.score import score_of


class Timer(Protocol):
    def cancel(self) -> None: ...


#: Calls back after so many seconds; tests give one whose time they move by hand.
CallLater = Callable[[float, Callable[[], None]], Timer]


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
        self._playing: dict[str, Playback] = {}
        #: What each is waiting for, by its id.
        self._timers: dict[str, Timer] = {}

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
        for playback in list(self._playing.values()):
            self._fail(playback, ServerShutdown("The server is shutting down."))

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine; the outputs begin with the next turn of the event loop."""
        if self._status.state == "stopped":
            raise ServerShutdown("The server is shutting down.")
        if prompt.id in self._playing:
            raise BadRequest(f"the sequence {prompt.id!r} is already running", param="id")
        playback = Playback(prompt, sink, self._score, self._speed, self._clock())
        self._playing[prompt.id] = playback
        self._wait(playback, 0.0, lambda: self._enter(playback))

    def cancel(self, id: str) -> None:
        if playback := self._playing.get(id):
            self._disarm(playback)
            self._wait(playback, 0.0, lambda: self._end(playback, "cancelled"))

    def grant(self, id: str, tokens: int) -> None:
        playback = self._playing.get(id)
        if playback is None or playback.granted is None:
            return
        playback.granted = tokens
        if playback.paused and playback.may_go_on:
            playback.wake(self._clock())
            self._wait(playback, 0.0, lambda: self._resume(playback))

    async def count_tokens(self, prompt: Prompt) -> int:
        return self._score.prompt_tokens

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        """A recording has no steps to tell."""
        return lambda: None

    # Private

    def _enter(self, playback: Playback) -> None:
        playback.sink(Waiting(playback.id, 0, self._clock()))
        self._schedule(playback)

    def _resume(self, playback: Playback) -> None:
        playback.sink(playback.resume(self._clock()))
        self._schedule(playback)

    def _schedule(self, playback: Playback) -> None:
        """Wait for the next cue."""
        if self._playing.get(playback.id) is not playback:
            return  # its own sink has ended it
        wait_ns = playback.due_ns - self._clock()
        self._wait(playback, max(0.0, wait_ns / 1e9), lambda: self._play(playback))

    def _play(self, playback: Playback) -> None:
        match cue := playback.take():
            case None:
                playback.sink(playback.begin(self._clock()))
            case Delta():
                playback.sink(playback.say(cue, self._clock()))
            case Done():
                self._end(playback, cue.finish_reason)
                return
        if playback.may_go_on:
            self._schedule(playback)
        elif self._playing.get(playback.id) is playback:
            playback.sink(playback.pause(self._clock()))

    def _end(self, playback: Playback, reason: FinishReason) -> None:
        if self._playing.get(playback.id) is playback:
            self._forget(playback)
            playback.sink(playback.end(reason, self._clock()))

    def _fail(self, playback: Playback, error: FirstwordError) -> None:
        self._forget(playback)
        playback.sink(Failed(playback.id, error.code, error.message, self._clock()))

    def _wait(self, playback: Playback, delay_s: float, then: Callable[[], None]) -> None:
        self._timers[playback.id] = self._call_later(delay_s, then)

    def _forget(self, playback: Playback) -> None:
        self._disarm(playback)
        del self._playing[playback.id]

    def _disarm(self, playback: Playback) -> None:
        if (timer := self._timers.pop(playback.id, None)) is not None:
            timer.cancel()


# Private


def _call_later(delay_s: float, call: Callable[[], None]) -> Timer:
    loop = asyncio.get_running_loop()
    return loop.call_later(delay_s, call) if delay_s > 0 else loop.call_soon(call)
