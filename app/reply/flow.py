"""Flow: a reply's grants to its engine, and the patience with a reader that does not move.

It is told what the engine made and what the reader read, and tells the engine how far it may go
(see credit), and to stop at once for a reader that seems to sleep (see pulse). While nobody reads,
the generation runs on to its end for whoever may come back (bounded by its ``max_tokens``). It
refuses to know the log, wires, and which reader is which.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.reply.credit import Credit
from app.reply.pulse import Pulse

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

    @property
    def limited(self) -> bool:
        """Whether the engine is given a grant at all; else it runs as fast as it can."""
        return self.slow_policy in ("pause", "abort")


class Flow:
    """One reply's flow control. ``give_up`` is called with the reason when patience is over."""

    def __init__(
        self,
        delivery: Delivery,
        max_tokens: int,
        grant: Callable[[int], None],
        give_up: Callable[[str], None],
        now_ns: Callable[[], int],
    ) -> None:
        self.credit = Credit(delivery.high_tokens, delivery.low_tokens)
        self._delivery = delivery
        self._max_tokens = max_tokens
        self._grant = grant
        self._give_up = give_up
        self._now_ns = now_ns
        self._pulse = Pulse(delivery.low_tokens)
        self._running = False
        self._attended = False
        self._stall: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The engine has the prompt; before this it is told nothing."""
        self._running = True

    def end(self) -> None:
        """The generation is over: it needs no grants, and nobody is late any more."""
        self._running = False
        self._watch_stall(False)

    def attend(self) -> None:
        """A first reader is here: from now on it is waited for."""
        self._attended = True
        # What the last one's habits were says nothing of this one's.
        self._pulse = Pulse(self._delivery.low_tokens)
        if self._running and self._delivery.limited:
            before = self.credit.granted
            if self.credit.restore() != before:
                self._grant(self.credit.granted)

    def leave(self) -> None:
        """The last reader went."""
        self._attended = False
        self._watch_stall(False)
        if self._running and self._delivery.limited:
            self._grant(self.credit.lift(self._max_tokens))

    def make(self, tokens: int) -> None:
        """The engine told text of so many tokens."""
        self._pulse.owe(self.credit.unread, self._now_ns())
        self.credit.make(tokens)
        if self._aborts and self.credit.unread >= self.credit.high:
            self._give_up(f"the reader fell {self.credit.unread} tokens behind")
        elif self._waits and not self.credit.stopped and self._pulse.is_still(self.credit.unread):
            # Looked at here and by no timer: while no token is made there is nothing to stop.
            self._grant(self.credit.hold())

    def pause(self, made: int) -> None:
        """The engine says that it has stopped after so many tokens (0: it did not say)."""
        self.credit.stop(made)
        if self._aborts and self.credit.unread > self.credit.low:
            self._give_up(f"the reader fell {self.credit.unread} tokens behind")
            return
        self._watch_stall(self._running and self._attended)
        # The reader may have caught up while this message was on its way.
        self.read(self.credit.read)

    def resume(self) -> None:
        """The engine says that it goes on."""
        self._watch_stall(False)

    def read(self, tokens: int) -> None:
        """A reader has now read so many of the reply's tokens; the furthest one counts."""
        if not self._running or not self._attended or not self._delivery.limited:
            return
        before, owed = self.credit.read, self.credit.unread
        grant = self.credit.advance(tokens)
        if self.credit.read != before:
            self._pulse.move(owed)
        if grant is not None:
            # It is the engine's turn: time that it takes to return is not the reader's fault.
            self._watch_stall(False)
            self._grant(grant)
        elif self._stall is not None and tokens != before:
            # Any progress is a sign of life: the reader is slow, not gone.
            self._watch_stall(True)

    # Private

    @property
    def _aborts(self) -> bool:
        return self._delivery.slow_policy == "abort" and self._running and self._attended

    @property
    def _waits(self) -> bool:
        return self._delivery.slow_policy == "pause" and self._running and self._attended

    def _watch_stall(self, on: bool) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        if on:
            seconds = self._delivery.stall_s
            why = f"the reader did not move for {seconds:g} s"
            self._stall = asyncio.get_running_loop().call_later(seconds, self._give_up, why)
