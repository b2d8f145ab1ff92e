"""Who computes what in the next step: continuous batching, decided with pencil and paper.

Each step: (1) sequences whose grant was raised come back; (2) every running sequence makes one
token; (3) prompts already begun go on, oldest first, and (4) new ones are let in, oldest first,
as long as the step's prefill budget, the batch and the KV memory have room. (5) When there is nothing of all
this, what the next turn of an ended conversation begins with is read ahead. The loop tells the
budget, the time and what came of it. This module refuses to know torch, text and clocks.

The longest run without decode is no step at all: while anything can be decoded, every plan
decodes it, and the prompts' part of the same step is at most the budget. The line is first come,
first served, and its head is never passed, so nobody waits for ever.

When blocks run out: cached beginnings go first, then the longest paused sequence loses its KV,
then the youngest in the batch. Who lost it computes its tokens again later; its text stays.

Longer than most files because all transitions between a sequence's states are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.kv_blocks import BLOCK_TOKENS
from app.engine.kv_memory import KvMemory
from app.engine.plan import Plan
from app.engine.runner_protocol import Chunk
from app.engine.sequence import Sequence, State

#: Whoever asks next without a pause, a program for example, is not to find the engine reading ahead.
AHEAD_AFTER_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What there is room for. ``paused_blocks``: the KV that all paused sequences together may keep."""

    max_batch: int
    context_tokens: int
    num_slots: int
    num_blocks: int
    paused_blocks: int

    @property
    def sequence_tokens(self) -> int:
        """Prompt and text of one sequence may have so many tokens together."""
        return min(self.context_tokens, self.num_blocks * BLOCK_TOKENS)


class Scheduler:
    """The line, the batch and the paused, over one ``KvMemory``."""

    def __init__(self, limits: Limits) -> None:
        assert limits.num_slots >= limits.max_batch
        self.limits = limits
        self.memory = KvMemory(limits.num_slots, limits.num_blocks)
        #: In line, oldest first; those that lost their KV among them.
        self.waiting: list[Sequence] = []
        #: In the batch, oldest first.
        self.active: list[Sequence] = []
        #: Out of the batch, longest paused first.
        self.paused: list[Sequence] = []
        #: Over but for their next turns' beginning; given up as soon as anybody needs anything.
        self.ahead: list[Sequence] = []
        self._arrivals = 0

    def room_for_text(self, num_prompt: int) -> int:
        """Tokens that can follow a prompt; below 1, it can never be served."""
        return self.limits.sequence_tokens - num_prompt

    def add(self, sequence: Sequence) -> None:
        """Put a new sequence at the end of the line."""
        sequence.arrival = self._arrivals
        self._arrivals += 1
        self.waiting.append(sequence)

    def pause(self, sequence: Sequence) -> None:
        """Take a running sequence out of the batch; it keeps its KV while all the paused's fits."""
        self.active.remove(sequence)
        self.paused.append(sequence)
        sequence.state = State.PAUSED
        while self._paused_blocks() > self.limits.paused_blocks:
            sleeper = self._longest_paused_with_kv()
            assert sleeper is not None
            self._preempt(sleeper)

    def finish(self, sequence: Sequence, now_ns: int) -> None:
        """A text came to its end and its conversation may go on: read ahead when there is time."""
        total = len(sequence.token_ids) + len(sequence.next_turn)
        if not sequence.next_turn or total > self.limits.sequence_tokens:
            self.remove(sequence, keep_prefix=True)
            return
        self.active.remove(sequence)
        # Its text is told. From here on these are only what its slot holds, or will hold.
        sequence.token_ids.extend(sequence.next_turn)
        sequence.state = State.AHEAD
        sequence.due_ns = now_ns + AHEAD_AFTER_NS
        self.ahead.append(sequence)

    def remove(self, sequence: Sequence, *, keep_prefix: bool) -> None:
        """A sequence is over. What it computed stays cached, unless it failed."""
        self._line_of(sequence).remove(sequence)
        sequence.state = State.ENDED
        if sequence.slot is not None:
            if keep_prefix:
                self.memory.retire(sequence.slot, sequence.token_ids[: sequence.computed])
            else:
                self.memory.release(sequence.slot)
            sequence.slot = None

    def plan(self, now_ns: int, budget_tokens: int) -> Plan:
        """The next step, with at most ``budget_tokens`` of prompts (and one that is to be read at once)."""
        resumed = self._bring_back()
        if self.waiting:
            self._give_ahead_up()
        preempted: list[Sequence] = []
        decode = self._rows(now_ns, preempted)
        prefill: list[tuple[Sequence, Chunk]] = []
        for sequence in self.active:
            if sequence.state is State.PREFILLING and budget_tokens > 0:
                prefill.append((sequence, _chunk(sequence, budget_tokens)))
                budget_tokens -= len(prefill[-1][1].token_ids)
        begun: list[Sequence] = []
        while budget_tokens > 0 and (newcomer := self._admit(preempted)) is not None:
            prefill.append((newcomer, _chunk(newcomer, budget_tokens)))
            budget_tokens -= len(prefill[-1][1].token_ids)
            (resumed if newcomer.paused_since_ns is not None else begun).append(newcomer)
        ahead = [] if self.active else self._read_ahead(now_ns, budget_tokens)
        later = [s for s in self.active if s.state is State.RUNNING] + self.ahead
        due = [s.due_ns for s in later if s.due_ns > now_ns]
        return Plan(
            memory=self.memory.take_actions(),
            prefill=tuple(prefill + ahead),
            decode=tuple(decode),
            is_ahead=bool(ahead),
            begun=tuple(s for s in begun if s.begun_ns is None),
            resumed=tuple(resumed),
            preempted=tuple(preempted),
            due_ns=min(due, default=None),
        )

    def completed(self, plan: Plan) -> list[Sequence]:
        """The step was computed; returns whose next token can be drawn, in the order of the logits."""
        for sequence, chunk in plan.prefill:
            sequence.computed += len(chunk.token_ids)
            if chunk.wants_logits:
                sequence.state = State.RUNNING
        for sequence in plan.decode:
            sequence.computed += 1
        return [s for s, chunk in plan.prefill if chunk.wants_logits] + list(plan.decode)

    def check(self) -> None:
        """Assert that every sequence is in one place and owns what the books say."""
        self.memory.check()
        assert len(self.active) <= self.limits.max_batch
        owned = [s.slot for s in (*self.active, *self.paused, *self.ahead) if s.slot is not None]
        assert len(set(owned)) == len(owned)
        held = sum(self.memory.blocks.held(slot) for slot in owned)
        assert held == self.memory.blocks.num_owned, "blocks are owned by nobody"
        for line, states in (
            (self.waiting, {State.WAITING}),
            (self.active, {State.PREFILLING, State.RUNNING}),
            (self.paused, {State.PAUSED}),
            (self.ahead, {State.AHEAD}),
        ):
            keeps_slot = line is self.active or line is self.ahead
            assert all(s.state in states and (s.slot is not None or not keeps_slot) for s in line)
        assert self._paused_blocks() <= self.limits.paused_blocks

    # Private

    def _bring_back(self) -> list[Sequence]:
        """Paused sequences with a raised grant: into the batch with their KV, else into the line."""
        resumed = []
        for sequence in [s for s in self.paused if s.may_go_on]:
            if sequence.slot is None:
                self.paused.remove(sequence)
                self._to_line(sequence)
            elif len(self.active) < self.limits.max_batch:
                self.paused.remove(sequence)
                sequence.state = State.RUNNING
                self.active.append(sequence)
                resumed.append(sequence)
        self.active.sort(key=_by_arrival)
        return resumed

    def _rows(self, now_ns: int, preempted: list[Sequence]) -> list[Sequence]:
        """Every running sequence that is due, each with room for its next token."""
        rows: list[Sequence] = []
        for sequence in [s for s in self.active if s.state is State.RUNNING and s.due_ns <= now_ns]:
            # A younger one than this may have lost its place to an older one's growth.
            while sequence.slot is not None and not self.memory.grow(sequence.slot, len(sequence.token_ids)):
                if self.ahead:
                    self._give_ahead_up()
                    continue
                victim = self._longest_paused_with_kv() or self.active[-1]
                self._preempt(victim)
                preempted.append(victim)
            if sequence.slot is not None:
                rows.append(sequence)
        return rows

    def _admit(self, preempted: list[Sequence]) -> Sequence | None:
        """Let the head of the line into the batch, if batch and memory have room for all it must compute."""
        if not self.waiting or len(self.active) >= self.limits.max_batch:
            return None
        sequence = self.waiting[0]
        living = [
            (s.slot, s.token_ids, s.computed) for s in (*self.active, *self.paused) if s.slot is not None
        ]
        # Without a block in hand for each that runs, the newcomer would soon be preempted again.
        headroom = sum(s.state is State.RUNNING for s in self.active)
        while (placed := self.memory.place(sequence.token_ids, living, headroom)) is None:
            # Those that run will end or pause; the paused may sleep for long, so they must not
            # be all that a newcomer waits for.
            sleeper = self._longest_paused_with_kv()
            if sleeper is None or (self.active and self.memory.num_spare_slots > 0):
                return None
            living = [source for source in living if source[0] != sleeper.slot]
            self._preempt(sleeper)
            preempted.append(sleeper)
        self.waiting.pop(0)
        sequence.slot, sequence.computed = placed
        if sequence.begun_ns is None:
            sequence.cached_tokens = sequence.computed
        sequence.state = State.PREFILLING
        self.active.append(sequence)
        self.active.sort(key=_by_arrival)
        return sequence

    def _read_ahead(self, now_ns: int, budget_tokens: int) -> list[tuple[Sequence, Chunk]]:
        """The next piece of a next turn's beginning, of who ended last; nothing before that one is due."""
        while self.ahead and self.ahead[-1].due_ns <= now_ns:
            sequence = self.ahead[-1]
            assert sequence.slot is not None
            is_read = sequence.computed == len(sequence.token_ids)
            if not is_read and self.memory.grow(sequence.slot, len(sequence.token_ids)):
                return [(sequence, _chunk(sequence, budget_tokens))]
            self.remove(sequence, keep_prefix=True)
        return []

    def _give_ahead_up(self) -> None:
        for sequence in list(self.ahead):
            self.remove(sequence, keep_prefix=True)

    def _preempt(self, sequence: Sequence) -> None:
        """Take a sequence's KV; one of the batch goes back to its place in line."""
        assert sequence.slot is not None
        self.memory.release(sequence.slot)
        sequence.slot, sequence.computed = None, 0
        if sequence.state is not State.PAUSED:
            self.active.remove(sequence)
            self._to_line(sequence)

    def _to_line(self, sequence: Sequence) -> None:
        sequence.state = State.WAITING
        self.waiting.append(sequence)
        self.waiting.sort(key=_by_arrival)

    def _longest_paused_with_kv(self) -> Sequence | None:
        return next((s for s in self.paused if s.slot is not None), None)

    def _paused_blocks(self) -> int:
        return sum(self.memory.blocks.held(s.slot) for s in self.paused if s.slot is not None)

    def _line_of(self, sequence: Sequence) -> list[Sequence]:
        if sequence.state is State.WAITING:
            return self.waiting
        if sequence.state is State.AHEAD:
            return self.ahead
        return self.paused if sequence.state is State.PAUSED else self.active


def _chunk(sequence: Sequence, budget_tokens: int) -> Chunk:
    """The next piece of what must still be computed of a sequence."""
    assert sequence.slot is not None
    start = sequence.computed
    stop = None if sequence.prompt.prefill_at_once else start + budget_tokens
    token_ids = sequence.token_ids[start:stop]
    complete = start + len(token_ids) == len(sequence.token_ids)
    return Chunk(sequence.slot, start, token_ids, complete and sequence.state is not State.AHEAD)


def _by_arrival(sequence: Sequence) -> int:
    return sequence.arrival
