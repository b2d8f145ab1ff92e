"""The engine's heart: commands in, one step after the other, outputs out.

    commands ─▶ scheduler.plan ─▶ step.compute ─▶ sampler.draw ─▶ transcript ─▶ outbox

One thread owns everything here. Outputs that are due before a step (a place in line, a begun
prefill) are handed over before it, because it may take long; all that a step brings is handed over
together after it. A cancel costs its sequence at most the step that was running. This module
refuses to know pipes, tensors' contents and who reads.

Longer than most files because all that the thread does to a sequence is to be read in one place.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.engine.commands import Add, Cancel, Command, Grant, Stop, Watch
from app.engine.failures import as_failure
from app.engine.outbox import Outbox
from app.engine.plan import Plan
from app.engine.prefill_budget import PrefillBudget
from app.engine.refusals import shutting_down, unknown_tokens
from app.engine.runner_protocol import ModelRunner, Tokenizer
from app.engine.sampler import Drawn, Row, draw
from app.engine.scheduler import Limits, Scheduler
from app.engine.sequence import Sequence, State
from app.engine.step import compute
from app.engine.transcript import Transcript
from app.errors import FirstwordError
from app.generation import Output, Phase, StepRecord, TokenInfo
from app.prompt import Prompt


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The loop's numbers; app.settings has their reasons."""

    num_blocks: int
    max_batch: int = 16
    prefill_chunk_tokens: int = 128
    #: Beside three streams a piece of eight made their longest gap 2.5 times the median, one of six 2.3.
    prefill_least_tokens: int = 6
    prefill_gap_ratio: float = 1.8
    paused_kv_percent: int = 50


class Loop:
    """Continuous batching over one runner. Call it from one thread; talk to it by commands.

    ``emit`` gets lists of outputs and may block (then the engine waits). ``steps`` gets a record
    of each step while somebody watches. ``before_step`` is called with the sequences' ids before
    each attempt to compute them and may raise: the tests' way to make the device fail.
    """

    def __init__(
        self,
        runner: ModelRunner,
        tokenizer: Tokenizer,
        settings: LoopSettings,
        *,
        emit: Callable[[list[Output]], None],
        steps: Callable[[StepRecord], None] | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        fresh_seed: Callable[[], int] = lambda: secrets.randbits(63),
        before_step: Callable[[list[str]], None] | None = None,
    ) -> None:
        self._runner = runner
        self._tokenizer = tokenizer
        # Model folders also list ends that their model cannot make.
        self._ends = frozenset(id for id in tokenizer.eos_ids if 0 <= id < runner.vocab_size)
        self._scheduler = Scheduler(
            Limits(
                max_batch=settings.max_batch,
                context_tokens=runner.context_tokens,
                num_slots=runner.num_slots,
                num_blocks=settings.num_blocks,
                paused_blocks=settings.num_blocks * settings.paused_kv_percent // 100,
            )
        )
        self._budget = PrefillBudget(
            most=settings.prefill_chunk_tokens,
            least=min(settings.prefill_least_tokens, settings.prefill_chunk_tokens),
            gap_ratio=settings.prefill_gap_ratio,
        )
        self._outbox = Outbox(emit)
        self._steps = steps
        self._clock = clock
        self._fresh_seed = fresh_seed
        self._before_step = before_step
        self._sequences: dict[str, Sequence] = {}
        self._watched = False
        self._stopped = False
        #: When the present step began, or its latest attempt; None between steps. The watchdog's thread
        #: reads it.
        self.step_began_ns: int | None = None
        #: Steps computed so far.
        self.num_steps = 0

    @property
    def scheduler(self) -> Scheduler:
        """The books, for tests and telemetry; nobody else changes them."""
        return self._scheduler

    def run(self, commands: queue.SimpleQueue[Command]) -> None:
        """Work until Stop. Raises when the device is lost, after telling every sequence."""
        wait_s: float | None = 0
        while not self._stopped:
            # Without work, wait for a command or for a slow-motion token's time.
            with contextlib.suppress(queue.Empty):
                self.apply(commands.get(block=wait_s != 0, timeout=wait_s))
                wait_s = 0
                continue
            wait_s = self.run_once()
        self._outbox.hand_over()

    def apply(self, command: Command) -> None:
        """Take one command; what comes of it is told by the next ``run_once``."""
        match command:
            case Add(prompt, token_ids, next_turn):
                self._add(prompt, list(token_ids), tuple(next_turn))
            case Cancel(id):
                if sequence := self._sequences.get(id):
                    sequence.transcript.close("cancelled")
                    self._tell_text(sequence, self._clock())
            case Grant(id, tokens):
                if (known := self._sequences.get(id)) and known.granted is not None:
                    known.granted = tokens
                    self._pause_if_due(known, self._clock())
            case Watch(on):
                self._watched = on
            case Stop():
                self._stopped = True
                self._fail_all(shutting_down())

    def run_once(self) -> float | None:
        """One step. Returns 0 after work, else for how many seconds there is none (None: no limit)."""
        began_ns = self._clock()
        num_streaming, num_waiting = self._crowd()
        plan = self._scheduler.plan(began_ns, self._budget.tokens(num_streaming, num_waiting))
        self._tell_plan(plan, began_ns)
        self._outbox.hand_over()
        # Not ``began_ns``: handing over may have waited for the parent, which is no hanging step.
        self.step_began_ns = self._clock()
        self._work(plan)
        self.step_began_ns = None
        if not plan.has_work:
            return None if plan.due_ns is None else max(plan.due_ns - began_ns, 1) / 1e9
        duration_ns = self._clock() - began_ns
        num_prompt_tokens = sum(len(chunk.token_ids) for _, chunk in plan.prefill)
        self._budget.observe(duration_ns, len(plan.decode), num_prompt_tokens)
        self.num_steps += 1
        if self._watched and self._steps is not None:
            self._steps(self._record(plan, began_ns, duration_ns))
        self._outbox.hand_over()
        return 0.0

    # Private

    def _add(self, prompt: Prompt, token_ids: list[int], next_turn: tuple[int, ...]) -> None:
        # An id in use names the work that is already going on: asking again changes nothing.
        if prompt.id in self._sequences:
            return
        # The door has refused or cut what would not fit.
        assert token_ids and prompt.max_tokens <= self._scheduler.room_for_text(len(token_ids))
        vocab = self._runner.vocab_size
        if (wrong := unknown_tokens(prompt, token_ids, vocab)) is not None:
            self._outbox.failed(prompt.id, wrong, self._clock())
            return
        transcript = Transcript(
            prompt.stop,
            max_tokens=prompt.max_tokens,
            min_tokens=prompt.min_tokens,
            eos_ids=frozenset() if prompt.ignore_eos else self._ends,
        )
        next_turn = next_turn if all(id < vocab for id in next_turn) else ()
        seed = self._fresh_seed() if prompt.sampling.seed is None else prompt.sampling.seed
        sequence = Sequence(prompt, token_ids, transcript, seed, prompt.granted_tokens, next_turn)
        self._sequences[prompt.id] = sequence
        self._scheduler.add(sequence)

    def _crowd(self) -> tuple[int, int]:
        """How many sequences stream, and how many wait for their first word."""
        streaming = sum(s.state is State.RUNNING for s in self._scheduler.active)
        return streaming, len(self._scheduler.active) - streaming + len(self._scheduler.waiting)

    def _tell_plan(self, plan: Plan, now_ns: int) -> None:
        for sequence in plan.begun:
            self._outbox.begun(sequence, now_ns)
        for sequence in plan.resumed:
            self._outbox.resumed(sequence, now_ns)
        self._outbox.positions(self._scheduler.waiting, now_ns)

    def _work(self, plan: Plan) -> None:
        """Compute the planned step, draw tokens, and see what becomes of each sequence."""
        try:
            logits, failures = compute(self._runner, plan, self._scheduler.memory, self._begin_attempt)
            drawing = [s for s in self._scheduler.completed(plan) if s not in failures]
            results = [] if logits is None else draw(logits, [self._row(s) for s in drawing])
        except Exception as error:
            # The border "engine loop": what is no single sequence's fault ends them all.
            self._fail_all(as_failure(error))
            self._outbox.hand_over()
            raise
        now_ns = self._clock()
        for sequence, failure in failures.items():
            self._fail(sequence, failure)
        for sequence, result in zip(drawing, results, strict=True):
            if isinstance(result, FirstwordError):
                self._fail(sequence, result)
            else:
                self._take(sequence, result, now_ns)

    def _begin_attempt(self, ids: list[str]) -> None:
        self.step_began_ns = self._clock()
        if self._before_step is not None:
            self._before_step(ids)

    def _row(self, sequence: Sequence) -> Row:
        transcript = sequence.transcript
        # An end that is ignored is never drawn: it has no text, and what a model says after it is the
        # beginning of somebody else's turn.
        endless = sequence.prompt.ignore_eos or transcript.num_tokens < transcript.min_tokens
        banned = tuple(self._ends) if endless else ()
        return Row(sequence.prompt.sampling, sequence.seed, sequence.token_ids, sequence.num_prompt, banned)

    def _take(self, sequence: Sequence, drawn: Drawn, now_ns: int) -> None:
        """One sequence made one token (or came to its end, which is none)."""
        transcript = sequence.transcript
        before = transcript.num_tokens
        transcript.take(drawn.token_id, self._tokenizer.token_bytes(drawn.token_id), self._info(drawn))
        if transcript.num_tokens > before:
            sequence.made(drawn.token_id, now_ns)
        self._tell_text(sequence, now_ns)
        if transcript.finish is None:
            self._pause_if_due(sequence, now_ns)

    def _pause_if_due(self, sequence: Sequence, now_ns: int) -> None:
        if sequence.state is State.RUNNING and not sequence.may_go_on:
            self._scheduler.pause(sequence)
            self._outbox.paused(sequence, now_ns)

    def _info(self, drawn: Drawn) -> TokenInfo | None:
        if drawn.logprob is None:
            return None
        text = self._tokenizer.token_bytes
        top = [(id, text(id), logprob) for id, logprob in drawn.top]
        return TokenInfo(drawn.token_id, text(drawn.token_id), drawn.logprob, top)

    def _tell_text(self, sequence: Sequence, now_ns: int) -> None:
        """Tell new text, and the end when it is reached."""
        self._outbox.text(sequence, now_ns)
        transcript = sequence.transcript
        if transcript.finish is not None:
            del self._sequences[sequence.id]
            # A conversation does not go on behind the tokens of a stop string, and nobody is to be
            # made wait for what was called off.
            if transcript.finish != "cancelled" and transcript.matched_stop is None:
                self._scheduler.finish(sequence, now_ns)
            else:
                self._scheduler.remove(sequence, keep_prefix=True)
            self._outbox.ended(sequence, now_ns)

    def _fail(self, sequence: Sequence, error: FirstwordError) -> None:
        is_told = sequence.state is State.AHEAD
        self._scheduler.remove(sequence, keep_prefix=False)
        if not is_told:
            del self._sequences[sequence.id]
            self._outbox.failed(sequence.id, error, self._clock())

    def _fail_all(self, error: FirstwordError) -> None:
        for sequence in list(self._sequences.values()):
            self._fail(sequence, error)

    def _record(self, plan: Plan, began_ns: int, duration_ns: int) -> StepRecord:
        blocks = self._scheduler.memory.blocks
        reading: Phase = "ahead" if plan.is_ahead else "prefill"
        return StepRecord(
            at_ns=began_ns,
            duration_ns=duration_ns,
            rows=[
                *((sequence.id, reading, len(chunk.token_ids)) for sequence, chunk in plan.prefill),
                *((sequence.id, "decode", 1) for sequence in plan.decode),
            ],
            kv_used_blocks=blocks.num_owned,
            kv_total_blocks=blocks.num_blocks,
            waiting=len(self._scheduler.waiting),
            paused=len(self._scheduler.paused),
        )
