"""ScriptedEngine: an engine that says what it is told, token by token, without a model.

It lives on the event loop and keeps every promise of the Engine protocol (line, batch, grants,
slow motion, stop strings, half characters, cancel), so that wires and pages can be tested, and
a lesson given, without torch. Text is made by the same Transcript as in the local engine. It
refuses to know models and processes.

In manual mode nothing happens by itself: a test calls ``step`` and each sequence in the batch
makes one token. Longer than most files here because it is a whole engine on one page: line,
batch, tokens, end.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from app.engine.kv_blocks import blocks_for
from app.engine.script import DEFAULT_SCRIPT, Script
from app.engine.transcript import Transcript
from app.errors import BadRequest, EngineFailed, EngineLoading, EngineLost, FirstwordError, ServerShutdown
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
    TokenInfo,
    Waiting,
)
from app.prompt import Prompt


@dataclass(slots=True, eq=False)
class _Sequence:
    """One reply being said; ``timer`` makes its next token."""

    prompt: Prompt
    sink: Sink
    transcript: Transcript
    prompt_tokens: int
    granted: int | None
    timer: asyncio.TimerHandle | None = None
    told_position: int | None = None
    begun_ns: int | None = None
    first_token_ns: int | None = None
    last_token_ns: int | None = None
    paused_since_ns: int | None = None
    paused_ns: int = 0

    @property
    def may_go_on(self) -> bool:
        """As in the local engine: text held back does not count, and the first token is free."""
        made = self.transcript.num_tokens
        return self.granted is None or made < max(self.granted, 1) or self.transcript.holds_text


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
        self._sequences: dict[str, _Sequence] = {}
        self._line: deque[_Sequence] = deque()
        #: Granted more while the batch was full; they come before the line.
        self._returning: deque[_Sequence] = deque()
        self._batch: list[_Sequence] = []
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
        self._fail_all(ServerShutdown("The server is shutting down."))

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        """See Engine; the outputs begin with the next turn of the event loop."""
        self._refuse_unready()
        if prompt.id in self._sequences:
            raise BadRequest(f"the sequence {prompt.id!r} is already running", param="id")
        prompt_tokens = _count(prompt)
        room = self._context_tokens - prompt_tokens
        transcript = Transcript(
            prompt.stop, max_tokens=max(1, min(prompt.max_tokens, room)), min_tokens=prompt.min_tokens
        )
        granted = prompt.granted_tokens if self._model.can_pause else None
        sequence = _Sequence(prompt, sink, transcript, prompt_tokens, granted)
        self._sequences[prompt.id] = sequence
        asyncio.get_running_loop().call_soon(self._enter, sequence)

    def cancel(self, id: str) -> None:
        if sequence := self._sequences.get(id):
            asyncio.get_running_loop().call_soon(self._end, sequence, "cancelled")

    def grant(self, id: str, tokens: int) -> None:
        sequence = self._sequences.get(id)
        if sequence is None or sequence.granted is None:
            return
        sequence.granted = tokens
        waits = sequence.paused_since_ns is not None and sequence not in self._returning
        if waits and sequence.may_go_on:
            self._returning.append(sequence)
            asyncio.get_running_loop().call_soon(self._fill_batch)

    async def count_tokens(self, prompt: Prompt) -> int:
        self._refuse_unready()
        return _count(prompt)

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
        for sequence in list(self._sequences.values()):
            self._enter(sequence)
        self._fill_batch()
        self._make(list(self._batch))

    def lose(self) -> None:
        """As if the engine's process had died; ``recover`` makes it ready again."""
        self._status = EngineStatus("restarting", "the engine stopped and is being restarted")
        self._fail_all(EngineLost("The engine stopped in the middle of this reply; it is being restarted."))

    def recover(self) -> None:
        self._status = EngineStatus("ready")

    # Private: the line and the batch

    def _enter(self, sequence: _Sequence) -> None:
        """Take a submitted sequence in, once: refused at the door, or into the line."""
        if self._sequences.get(sequence.prompt.id) is not sequence or sequence.told_position is not None:
            return
        if sequence.prompt_tokens > self._context_tokens - 1:
            message = (
                f"The prompt has {sequence.prompt_tokens} tokens; the model's context holds "
                f"{self._context_tokens}, one of them for the answer."
            )
            self._forget(sequence)
            field = "messages" if sequence.prompt.text is None else "prompt"
            self._tell(sequence, Failed(sequence.prompt.id, "prompt_too_long", message, self._clock(), field))
            return
        self._line.append(sequence)
        self._tell_positions()
        self._fill_batch()

    def _tell_positions(self) -> None:
        for position, sequence in enumerate(list(self._line)):
            if sequence.told_position != position:
                sequence.told_position = position
                self._tell(sequence, Waiting(sequence.prompt.id, position, self._clock()))

    def _fill_batch(self) -> None:
        while len(self._batch) < self.slots and (self._returning or self._line):
            now_ns = self._clock()
            if self._returning:
                sequence = self._returning.popleft()
                assert sequence.paused_since_ns is not None
                sequence.paused_ns += now_ns - sequence.paused_since_ns
                sequence.paused_since_ns = None
                output: Output = Resumed(sequence.prompt.id, now_ns)
            else:
                sequence = self._line.popleft()
                sequence.begun_ns = now_ns
                output = Begun(sequence.prompt.id, sequence.prompt_tokens, 0, now_ns)
            self._batch.append(sequence)
            self._schedule(sequence)
            self._tell(sequence, output)
        self._tell_positions()

    def _schedule(self, sequence: _Sequence) -> None:
        if self._manual:
            return
        _, delay_ms = self.script[sequence.transcript.num_tokens % len(self.script)]
        slowest = sequence.prompt.tokens_per_second
        delay_s = max(delay_ms / 1000, 1 / slowest if slowest else 0.0)
        loop = asyncio.get_running_loop()
        sequence.timer = loop.call_later(delay_s, self._make, [sequence])

    # Private: tokens

    def _make(self, sequences: list[_Sequence]) -> None:
        """One step: each of ``sequences`` makes a token."""
        began_ns = self._clock()
        rows = [(sequence.prompt.id, sequence.transcript.num_tokens) for sequence in sequences]
        for sequence in sequences:
            if sequence not in self._batch:
                continue  # a neighbour's sink has lost the whole engine
            if sequence.transcript.num_tokens == self.fail_at:
                self._fail(sequence, EngineFailed("The script failed here, as it was told to."))
            else:
                self._make_one(sequence)
        if self._watchers:
            self._tell_step(began_ns, rows)
        self._fill_batch()

    def _make_one(self, sequence: _Sequence) -> None:
        prompt, transcript = sequence.prompt, sequence.transcript
        index = transcript.num_tokens % len(self.script)
        data, _ = self.script[index]
        top = prompt.sampling.logprobs
        # A script is certain of itself: probability one, and no alternatives.
        info = None if top is None else TokenInfo(index, data, 0.0, [(index, data, 0.0)][:top])
        transcript.take(index, data, info)
        self.made[prompt.id] += 1
        sequence.last_token_ns = self._clock()
        if sequence.first_token_ns is None:
            sequence.first_token_ns = sequence.last_token_ns
        said_all = transcript.num_tokens % len(self.script) == 0 and not prompt.ignore_eos
        if transcript.finish is None and said_all and transcript.num_tokens >= transcript.min_tokens:
            transcript.close("stop")
        if transcript.finish is not None:
            self._end(sequence, transcript.finish)
            return
        self._tell_piece(sequence)
        if sequence not in self._batch:
            return  # its own sink has
        if sequence.may_go_on:
            self._schedule(sequence)
        else:
            self._batch.remove(sequence)
            sequence.paused_since_ns = self._clock()
            self._tell(sequence, Paused(prompt.id, sequence.paused_since_ns, transcript.num_tokens))

    def _tell_piece(self, sequence: _Sequence) -> None:
        if (piece := sequence.transcript.piece()) is not None:
            text, tokens, info = piece
            at_ns = sequence.last_token_ns if sequence.last_token_ns is not None else self._clock()
            self._tell(sequence, Piece(sequence.prompt.id, text, tokens, at_ns, info))

    def _tell_step(self, began_ns: int, rows: list[tuple[str, int]]) -> None:
        held = [s.prompt_tokens + s.transcript.num_tokens for s in self._sequences.values() if s.begun_ns]
        record = StepRecord(
            began_ns,
            self._clock() - began_ns,
            [(id, "decode" if made else "prefill", 1) for id, made in rows],
            kv_used_blocks=sum(blocks_for(tokens) for tokens in held),
            kv_total_blocks=self.slots * blocks_for(self._context_tokens),
            waiting=len(self._line),
            paused=sum(s.paused_since_ns is not None for s in self._sequences.values()),
        )
        for watcher in list(self._watchers):
            watcher(record)

    # Private: the end

    def _end(self, sequence: _Sequence, reason: FinishReason) -> None:
        if self._sequences.get(sequence.prompt.id) is not sequence:
            return
        transcript, now_ns = sequence.transcript, self._clock()
        if transcript.finish is None:
            transcript.close(reason)
        self._forget(sequence)
        self._tell_piece(sequence)
        if sequence.paused_since_ns is not None:
            sequence.paused_ns += now_ns - sequence.paused_since_ns
        ended = Ended(
            sequence.prompt.id,
            transcript.finish or reason,
            sequence.prompt_tokens,
            transcript.num_tokens,
            now_ns,
            begun_ns=sequence.begun_ns,
            first_token_ns=sequence.first_token_ns,
            last_token_ns=sequence.last_token_ns,
            paused_ns=sequence.paused_ns,
            stop=transcript.matched_stop,
        )
        self._tell(sequence, ended)
        self._fill_batch()

    def _fail(self, sequence: _Sequence, error: FirstwordError) -> None:
        self._forget(sequence)
        self._tell(sequence, Failed(sequence.prompt.id, error.code, error.message, self._clock()))

    def _fail_all(self, error: FirstwordError) -> None:
        for sequence in list(self._sequences.values()):
            self._fail(sequence, error)

    def _forget(self, sequence: _Sequence) -> None:
        if sequence.timer is not None:
            sequence.timer.cancel()
        del self._sequences[sequence.prompt.id]
        for place in (self._line, self._returning, self._batch):
            if sequence in place:
                place.remove(sequence)

    def _tell(self, sequence: _Sequence, output: Output) -> None:
        sequence.sink(output)

    def _refuse_unready(self) -> None:
        match self._status.state:
            case "loading":
                raise EngineLoading("The model is still loading; try again in a moment.")
            case "stopped":
                raise ServerShutdown("The server is shutting down.")
            case "restarting" | "failed":
                raise EngineLost("The engine stopped and is being restarted; try again in a moment.")
            case "ready":
                pass


# Private


def _count(prompt: Prompt) -> int:
    words = len(prompt.text.split()) if prompt.text is not None else 0
    return max(1, words + sum(len(message.content.split()) for message in prompt.messages))
