"""ScriptedEngine: an engine that says what it is told, token by token, without a model.

It lives on the event loop and keeps every promise of the Engine protocol (line, batch, grants,
slow motion, stop strings, half characters, cancel), so that wires and pages can be tested, and
a lesson given, without torch. What one reply says and when is over is ``Saying``'s; here are the
line, the batch and the timers. It refuses to know models and processes.

In manual mode nothing happens by itself: a test calls ``step`` and each sequence in the batch
makes one token.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable

from app.engine.kv_blocks import blocks_for
from app.engine.refusals import cut_off, refuse_unready, shutting_down, too_long
from app.engine.saying import Saying, count_words
from app.engine.script import DEFAULT_SCRIPT, Script
from app.errors import BadRequest, EngineFailed, FirstwordError
from app.generation import EngineStatus, Failed, FinishReason, ModelInfo, Output, Sink, StepRecord, Waiting
from app.prompt import Prompt


class ScriptedEngine:
    """An app.generation.Engine over a script of (bytes, delay in ms).

    ``slots`` sequences speak at once, the others wait in line. A prompt has as many tokens as it
    has words. For tests: ``made[id]`` counts the tokens made, ``fail_at`` = k makes every sequence
    fail instead of making its token k (from 0), ``lose`` and ``recover`` play the engine's crash.
    """

    def __init__(
        self,
        script: Script = DEFAULT_SCRIPT,
        *,
        context_tokens: int = 4096,
        slots: int = 16,
        can_pause: bool = True,
        manual: bool = False,
        fail_at: int | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        if not script:
            raise ValueError("a script needs at least one token")
        self.script = script
        self.slots = slots
        self.fail_at = fail_at
        self.made: Counter[str] = Counter()
        #: None, as for every engine that can be ready: see LocalEngine.
        self.failure: str | None = None
        self._model = ModelInfo("scripted", context_tokens, device="none", can_pause=can_pause)
        self._context_tokens = context_tokens
        self._manual = manual
        self._clock = clock
        self._status = EngineStatus("loading")
        self._sayings: dict[str, Saying] = {}
        #: Each makes its saying's next token.
        self._timers: dict[Saying, asyncio.TimerHandle] = {}
        self._line: deque[Saying] = deque()
        #: Granted more while the batch was full; they come before the line.
        self._returning: deque[Saying] = deque()
        self._batch: list[Saying] = []
        self._watchers: list[Callable[[StepRecord], None]] = []

    @property
    def status(self) -> EngineStatus:
        return self._status

    @property
    def model(self) -> ModelInfo:
        return self._model

    async def start(self) -> None:
        self._status = EngineStatus("ready")

    async def stop(self) -> None:
        self._status = EngineStatus("stopped")
        self._fail_all(shutting_down())

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine; the outputs begin with the next turn of the event loop."""
        refuse_unready(self._status)
        if prompt.id in self._sayings:
            raise BadRequest(f"the sequence {prompt.id!r} is already running", param="id")
        granted = prompt.granted_tokens if self._model.can_pause else None
        saying = Saying(prompt, sink, self.script, self._context_tokens, granted)
        self._sayings[prompt.id] = saying
        asyncio.get_running_loop().call_soon(self._enter, saying)

    def cancel(self, id: str) -> None:
        if saying := self._sayings.get(id):
            asyncio.get_running_loop().call_soon(self._end, saying, "cancelled")

    def grant(self, id: str, tokens: int) -> None:
        saying = self._sayings.get(id)
        if saying is None or saying.granted is None:
            return
        saying.granted = tokens
        if saying.paused and saying.may_go_on and saying not in self._returning:
            self._returning.append(saying)
            asyncio.get_running_loop().call_soon(self._fill_batch)

    async def count_tokens(self, prompt: Prompt) -> int:
        refuse_unready(self._status)
        return count_words(prompt)

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        self._watchers.append(sink)

        def end() -> None:
            if sink in self._watchers:
                self._watchers.remove(sink)

        return end

    # For tests and demonstrations

    def step(self) -> None:
        """Manual mode: every sequence in the batch makes its next token, now."""
        assert self._manual, "only in manual mode"
        for saying in list(self._sayings.values()):
            self._enter(saying)
        self._fill_batch()
        self._make(list(self._batch))

    def lose(self) -> None:
        """As if the engine's process had died; ``recover`` makes it ready again."""
        self._status = EngineStatus("restarting", "the engine stopped and is being restarted")
        self._fail_all(cut_off())

    def recover(self) -> None:
        self._status = EngineStatus("ready")

    # Private: the line and the batch

    def _enter(self, saying: Saying) -> None:
        """Take a submitted prompt in, once: refused at the door, or into the line."""
        if self._sayings.get(saying.id) is not saying or saying.told_position is not None:
            return
        if saying.prompt_tokens > self._context_tokens - 1:
            self._fail(saying, too_long(saying.prompt, saying.prompt_tokens, self._context_tokens))
            return
        self._line.append(saying)
        self._tell_positions()
        self._fill_batch()

    def _tell_positions(self) -> None:
        for position, saying in enumerate(list(self._line)):
            if saying.told_position != position:
                saying.told_position = position
                saying.sink(Waiting(saying.id, position, self._clock()))

    def _fill_batch(self) -> None:
        while len(self._batch) < self.slots and (self._returning or self._line):
            now_ns = self._clock()
            output: Output
            if self._returning:
                saying = self._returning.popleft()
                output = saying.resume(now_ns)
            else:
                saying = self._line.popleft()
                output = saying.begin(now_ns)
            self._batch.append(saying)
            self._schedule(saying)
            saying.sink(output)
        self._tell_positions()

    def _schedule(self, saying: Saying) -> None:
        if not self._manual:
            loop = asyncio.get_running_loop()
            self._timers[saying] = loop.call_later(saying.delay_s(), self._make, [saying])

    # Private: tokens

    def _make(self, sayings: list[Saying]) -> None:
        """One step: each of ``sayings`` makes a token."""
        began_ns = self._clock()
        rows = [(saying.id, saying.num_made) for saying in sayings]
        for saying in sayings:
            if saying not in self._batch:
                continue  # a neighbour's sink has lost the whole engine
            if saying.num_made == self.fail_at:
                self._fail(saying, EngineFailed("The script failed here, as it was told to."))
            else:
                self._make_one(saying)
        if self._watchers:
            self._tell_step(began_ns, rows)
        self._fill_batch()

    def _make_one(self, saying: Saying) -> None:
        saying.make(self._clock())
        self.made[saying.id] += 1
        if saying.finish is not None:
            self._end(saying, saying.finish)
            return
        if (piece := saying.piece()) is not None:
            saying.sink(piece)
        if saying not in self._batch:
            return  # its own sink has ended it
        if saying.may_go_on:
            self._schedule(saying)
        else:
            self._batch.remove(saying)
            saying.sink(saying.pause(self._clock()))

    def _tell_step(self, began_ns: int, rows: list[tuple[str, int]]) -> None:
        record = StepRecord(
            began_ns,
            self._clock() - began_ns,
            [(id, "decode" if made else "prefill", 1) for id, made in rows],
            kv_used_blocks=sum(blocks_for(saying.num_held) for saying in self._sayings.values()),
            kv_total_blocks=self.slots * blocks_for(self._context_tokens),
            waiting=len(self._line),
            paused=sum(saying.paused for saying in self._sayings.values()),
        )
        for watcher in list(self._watchers):
            watcher(record)

    # Private: the end

    def _end(self, saying: Saying, reason: FinishReason) -> None:
        if self._sayings.get(saying.id) is not saying:
            return
        self._forget(saying)
        for output in saying.end(reason, self._clock()):
            saying.sink(output)
        self._fill_batch()

    def _fail(self, saying: Saying, error: FirstwordError) -> None:
        self._forget(saying)
        saying.sink(Failed(saying.id, error.code, error.message, self._clock(), error.param))

    def _fail_all(self, error: FirstwordError) -> None:
        for saying in list(self._sayings.values()):
            self._fail(saying, error)

    def _forget(self, saying: Saying) -> None:
        if (timer := self._timers.pop(saying, None)) is not None:
            timer.cancel()
        del self._sayings[saying.id]
        for place in (self._line, self._returning, self._batch):
            if saying in place:
                place.remove(saying)
