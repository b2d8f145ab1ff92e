"""The reply: an append-only log of one generation, and the only place that writes it.

Engine outputs come in through ``write`` and become wire events with sequence numbers and times.
Readers hold cursors on the log; the reply watches how far they are and grants the engine tokens
accordingly. It refuses to know wires and sockets, and how the engine works.

Who is waited for: the reader that is furthest ahead. So one sleeping tab never slows the one that
is awake, and a reply that nobody reads at the moment runs on to its end (bounded by its
``max_tokens``) for the reader who may come back within the resume window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app import events
from app.errors import FirstwordError, SlowConsumer, from_code
from app.events import AnyEvent, Delta, Done, Error, Queued, Started
from app.generation import Begun, Ended, Engine, Failed, Output, Paused, Piece, Resumed, Waiting
from app.prompt import Prompt
from app.reply.credit import Credit
from app.reply.pace import Pace, merge
from app.reply.reader import Reader

#: What a reader that falls behind the high mark gets.
#:   pause     its generation leaves the batch until it has caught up
#:   coalesce  generation goes on, waiting deltas are merged into one
#:   abort     its generation is ended at once
#:   buffer    generation goes on, every delta waits in the log (at most max_tokens of them)
SlowPolicy = Literal["pause", "coalesce", "abort", "buffer"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a reply treats its readers; tokens and seconds. ``resume_s`` 0: a disconnect is a stop."""

    high_tokens: int = 64
    low_tokens: int = 16
    stall_s: float = 10.0
    resume_s: float = 60.0
    slow_policy: SlowPolicy = "pause"


class Reply:
    """One generation's log. Made, held and expired by the registry."""

    def __init__(
        self,
        prompt: Prompt,
        engine: Engine,
        delivery: Delivery,
        now_ns: Callable[[], int],
        *,
        client_id: str | None = None,
        on_event: Callable[[Reply, AnyEvent], None] = lambda reply, event: None,
    ) -> None:
        self.id = prompt.id
        self.client_id = client_id
        self.prompt = prompt
        self.delivery = delivery
        self.received_ns = now_ns()
        self.log: list[AnyEvent] = []
        self.deltas: list[Delta] = []
        self.queued: Queued | None = None
        self.started: Started | None = None
        self.end: Done | Error | None = None
        self.failure: FirstwordError | None = None
        #: True once the window for resuming is over: the deltas are merged into one.
        self.compacted = False
        self.readers: list[Reader] = []
        self.credit = Credit(delivery.high_tokens, delivery.low_tokens)
        #: Called after a reader has come or gone: the registry holds and expires by it.
        self.on_readers: Callable[[Reply], None] = lambda reply: None
        self._engine = engine
        self._now_ns = now_ns
        self._on_event = on_event
        self._changed = asyncio.Event()
        self._stall: asyncio.TimerHandle | None = None
        self._submitted = False

    # What readers and transports use

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(d.text for d in self.deltas)

    @property
    def running(self) -> bool:
        return self.end is None

    def attach(self, pace: Pace, *, after: int = 0, acks: bool = False) -> Reader:
        """A new cursor behind delta ``after``; with ``acks`` it advances by ``Reader.acknowledge``."""
        reader = Reader(
            self, pace, after=after, acks=acks, merge_waiting=self.delivery.slow_policy == "coalesce"
        )
        self.readers.append(reader)
        if len(self.readers) == 1 and self.running and self._submitted and self._flow_controlled:
            self._engine.grant(self.id, self.credit.restore())
        self.on_readers(self)
        return reader

    def detach(self, reader: Reader) -> None:
        """The cursor's owner is gone. The last one out decides what becomes of the generation."""
        if reader not in self.readers:
            return
        self.readers.remove(reader)
        if self.readers:
            self.advance()
        elif self.running and self.delivery.resume_s == 0:
            self.stop()
        elif self.running:
            self._watch_stall(False)
            self._engine.grant(self.id, self.credit.lift(self.prompt.max_tokens))
        self.on_readers(self)

    def stop(self) -> None:
        """End the generation at its next step; idempotent, valid from any reader, also in line."""
        if not self.running:
            return
        if self._submitted:
            self._engine.cancel(self.id)
        else:
            at_ns = self._now_ns()
            self.write(Ended(self.id, "cancelled", 0, 0, at_ns))

    async def opened(self) -> None:
        """Wait until the engine has taken the prompt; raises its error when it refused it."""
        while not self.log:
            await self.changed()
        if self.failure is not None and self.queued is None:
            raise self.failure

    async def changed(self) -> None:
        """Wait for the next event. Call only after having looked: no event is skipped."""
        await self._changed.wait()

    def advance(self) -> None:
        """A reader moved: tell the engine how far it may go."""
        if not self.readers or not self.running or not self._flow_controlled:
            return
        grant = self.credit.advance(max(r.read_tokens for r in self.readers))
        if grant is not None:
            self._engine.grant(self.id, grant)
        if self._stall is not None:
            # Any progress is a sign of life: the reader is slow, not gone.
            self._watch_stall(True)

    # What the registry and the engine use

    def submit(self) -> None:
        """Hand the prompt to the engine; the clock of ``t`` starts here."""
        self._submitted = True
        self.received_ns = self._now_ns()
        self._engine.submit(self.prompt, self.write)

    def write(self, output: Output) -> None:
        """The engine's sink: append what it tells. Nothing is written after the end."""
        if not self.running:
            return
        match output:
            case Waiting():
                self.queued = Queued(self.id, output.position, self._t(output.at_ns), self.client_id)
                self._append(self.queued)
            case Begun():
                self.started = Started(
                    self.id,
                    self._engine.model.name,
                    output.prompt_tokens,
                    output.cached_tokens,
                    self._t(output.at_ns),
                    self.client_id,
                )
                self._append(self.started)
            case Piece():
                self._write_piece(output)
            case Paused():
                self.credit.paused = True
                self._append(events.Paused(self.id, "slow_reader", self._t(output.at_ns)))
                self._watch_stall(bool(self.readers))
            case Resumed():
                self.credit.paused = False
                self._watch_stall(False)
                self._append(events.Resumed(self.id, "reader_caught_up", self._t(output.at_ns)))
            case Ended():
                self._finish(self._done(output))
            case Failed():
                self.fail(from_code(output.code, output.message, output.param))

    def fail(self, error: FirstwordError) -> None:
        """End the log with ``error``; the text so far stays."""
        if not self.running:
            return
        self.failure = error
        t = self._t(self._now_ns())
        self._finish(
            Error(error.code, error.message, error.retryable, self.id, self.client_id, error.param, t)
        )

    def compact(self) -> None:
        """Give up resuming by position and keep the text only: at once, or when the reply ends."""
        self.compacted = True
        if self.deltas and not self.running:
            self.deltas = [merge(self.deltas)]
            self.log = [self.deltas[0], self.log[-1]]

    # Private

    @property
    def _flow_controlled(self) -> bool:
        return self.delivery.slow_policy in ("pause", "abort")

    def _write_piece(self, piece: Piece) -> None:
        delta = Delta(
            self.id, len(self.deltas) + 1, piece.text, piece.tokens, self._t(piece.at_ns), piece.info
        )
        self.credit.make(piece.tokens)
        self.deltas.append(delta)
        self._append(delta)
        if self.delivery.slow_policy == "abort" and self.readers and self.credit.unread >= self.credit.high:
            self._abort_slow(f"the reader fell {self.credit.unread} tokens behind")

    def _watch_stall(self, on: bool) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        if on:
            seconds = self.delivery.stall_s
            self._stall = asyncio.get_running_loop().call_later(
                seconds, self._abort_slow, f"the reader did not move for {seconds:g} s"
            )

    def _abort_slow(self, why: str) -> None:
        self._engine.cancel(self.id)
        self.fail(SlowConsumer(f"Generation was ended: {why}."))

    def _finish(self, end: Done | Error) -> None:
        self._watch_stall(False)
        self.end = end
        self._append(end)
        if self.compacted:
            self.compact()

    def _append(self, event: AnyEvent) -> None:
        self.log.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        self._on_event(self, event)

    def _done(self, ended: Ended) -> Done:
        usage = events.Usage(
            ended.prompt_tokens,
            ended.completion_tokens,
            ended.prompt_tokens + ended.completion_tokens,
            ended.cached_tokens,
        )
        t = self._t(ended.at_ns)
        timings = events.Timings(
            queue_ms=_span_ms(self.received_ns, ended.begun_ns),
            prefill_ms=_span_ms(ended.begun_ns, ended.first_token_ns),
            first_token_ms=_span_ms(self.received_ns, ended.first_token_ns),
            decode_ms=_span_ms(ended.first_token_ns, ended.last_token_ns),
            paused_ms=round(ended.paused_ns / 1e6, 3),
            total_ms=t,
        )
        return Done(
            self.id, len(self.deltas), ended.finish_reason, usage, timings, t, ended.stop, self.client_id
        )

    def _t(self, at_ns: int) -> float:
        return round((at_ns - self.received_ns) / 1e6, 3)


def _span_ms(start_ns: int | None, end_ns: int | None) -> float | None:
    if start_ns is None or end_ns is None:
        return None
    return round((end_ns - start_ns) / 1e6, 3)
