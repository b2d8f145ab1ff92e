"""The reply: an append-only log of one generation, and the only place that writes it.

Engine outputs come in through ``write`` and become wire events with sequence numbers and times.
Readers hold cursors on the log; how far they are goes to the reply's flow, which grants the engine
tokens accordingly. It refuses to know wires and sockets, and how the engine works.

Who is waited for: the reader that is furthest ahead. So one sleeping tab never slows the one that
is awake, and a reply that nobody reads at the moment runs on to its end (bounded by its
``max_tokens``) for the reader who may come back within the resume window.

Longer than most files here: all that may write or shrink the log stands on one page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app import events
from app.errors import FirstwordError, SlowConsumer, from_code
from app.events import AnyEvent, Delta, Done, Error, Queued, Started
from app.generation import Begun, Ended, Engine, Failed, Output, Paused, Piece, Resumed, Waiting
from app.prompt import Prompt
from app.reply.credit import Credit
from app.reply.ending import timings_of, usage_of
from app.reply.flow import Delivery, Flow, SlowPolicy
from app.reply.pace import Pace, merge
from app.reply.reader import Reader

__all__ = ["Delivery", "Reply", "SlowPolicy"]


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
        #: The pause that goes on now, for readers that come into it.
        self.pause: events.Paused | None = None
        self.readers: list[Reader] = []
        self.flow = Flow(
            delivery,
            prompt.max_tokens,
            grant=lambda tokens: engine.grant(prompt.id, tokens),
            give_up=self._give_up,
            now_ns=now_ns,
        )
        #: Called after a reader has come or gone: the registry holds and expires by it.
        self.on_readers: Callable[[Reply], None] = lambda reply: None
        self._engine = engine
        self._now_ns = now_ns
        self._on_event = on_event
        #: Set when the log has its last event.
        self.over = asyncio.Event()
        self._opened = asyncio.Event()
        self._submitted = False

    # What readers and transports use

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(d.text for d in self.deltas)

    def now_t(self) -> float:
        """Now, as the events' ``t`` would say it: milliseconds since the request was received."""
        return self._t(self._now_ns())

    @property
    def engine(self) -> Engine:
        """What generates it: the server's own engine, or a recording's player."""
        return self._engine

    @property
    def running(self) -> bool:
        return self.end is None

    @property
    def credit(self) -> Credit:
        """How far the generation and its readers are, in tokens."""
        return self.flow.credit

    def attach(self, pace: Pace, *, after: int = 0, acks: bool = False) -> Reader:
        """A new cursor behind delta ``after``; with ``acks`` it advances by ``Reader.acknowledge``."""
        reader = Reader(
            self, pace, after=after, acks=acks, merge_waiting=self.delivery.slow_policy == "coalesce"
        )
        self.readers.append(reader)
        if len(self.readers) == 1:
            self.flow.attend()
        self.on_readers(self)
        return reader

    def detach(self, reader: Reader) -> None:
        """The cursor's owner is gone. The last one out decides what becomes of the generation."""
        if reader not in self.readers:
            return
        self.readers.remove(reader)
        if not self.readers:
            if self.delivery.resume_s == 0:
                self.stop()
            self.flow.leave()
            self._shrink()
        self.on_readers(self)

    def stop(self) -> None:
        """End the generation at its next step; idempotent, valid from any reader, also in line."""
        if not self.running:
            return
        if self._submitted:
            # From here on it is waited for its end only: no grants, no patience.
            self.flow.end()
            self._engine.cancel(self.id)
        else:
            self.write(Ended(self.id, "cancelled", 0, 0, self._now_ns()))

    def abort(self, error: FirstwordError) -> None:
        """End the generation and, without waiting for the engine, the log with ``error``."""
        if self.running and self._submitted:
            self._engine.cancel(self.id)
        self.fail(error)

    async def opened(self) -> None:
        """Wait until the engine has taken the prompt; raises its error when it refused it."""
        await self._opened.wait()
        if self.failure is not None and self.queued is None and self.started is None:
            raise self.failure

    # What the registry and the engine use

    def submit(self) -> None:
        """Hand the prompt to the engine; the clock of ``t`` starts here."""
        self.received_ns = self._now_ns()
        self._submitted = True
        self.flow.begin()
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
                self.pause = events.Paused(self.id, "slow_reader", self._t(output.at_ns))
                self._append(self.pause)
                self.flow.pause(output.made)
            case Resumed():
                self.pause = None
                self.flow.resume()
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
        """Give up resuming by position and keep the text only: once it is over and nobody reads."""
        self.compacted = True
        self._shrink()

    # Private

    def _give_up(self, why: str) -> None:
        """No reader moves. One that is cut off has not stopped reading: it may come back and go on."""
        for reader in list(self.readers):
            if reader.is_cut_off():
                reader.close()
        if self.readers:
            self.abort(SlowConsumer(f"Generation was ended: {why}."))

    def _write_piece(self, piece: Piece) -> None:
        delta = Delta(
            self.id, len(self.deltas) + 1, piece.text, piece.tokens, self._t(piece.at_ns), piece.info
        )
        self.deltas.append(delta)
        self._append(delta)
        self.flow.make(piece.tokens)

    def _finish(self, end: Done | Error) -> None:
        self.flow.end()
        self.pause = None
        self.end = end
        self._append(end)
        self.over.set()
        self._shrink()

    def _shrink(self) -> None:
        # Readers hold places in the log: it must not change under them.
        if self.compacted and self.deltas and not self.running and not self.readers:
            self.deltas = [merge(self.deltas)]
            self.log = [self.deltas[0], self.log[-1]]

    def _append(self, event: AnyEvent) -> None:
        self.log.append(event)
        self._opened.set()
        for reader in self.readers:
            reader.news.set()
        self._on_event(self, event)

    def _done(self, ended: Ended) -> Done:
        usage, timings = usage_of(ended), timings_of(ended, self.received_ns)
        num, reason, t = len(self.deltas), ended.finish_reason, timings.total_ms
        return Done(self.id, num, reason, usage, timings, t, ended.stop, self.client_id)

    def _t(self, at_ns: int) -> float:
        return round((at_ns - self.received_ns) / 1e6, 3)
