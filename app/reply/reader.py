"""A reader: one cursor on a reply's log, with a pace of its own.

Iterating, or polling, gives the events that this reader has not had: what was written before it came (nothing
twice, nothing lost), then what is written from now on, deltas merged by its pace, until the end of
the log. It refuses to know wires and what happens to the generation: it only says how far it is.

Progress. With ``acks`` a delta counts as read when ``acknowledge`` says so, be it the client that says
it or a frame's ``receipt``; without, when the next event is asked for. What the pacer holds back
counts as read: it waits for more tokens, not for the reader. The same is so for what a simulated
proxy on the way holds back, of which ``hold_back`` tells.

``whole`` is exactly one delta, also where the reply has no text: whoever waits for it need not
know that it may not come.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Self

import msgspec

from app.errors import SlowConsumer
from app.events import AnyEvent, Delta, Done, Error, Started
from app.reply.pace import Pace, merge, pacer

if TYPE_CHECKING:
    from app.reply.log import Reply


class Reader:
    """An async iterator of events; made by ``Reply.attach``, ended by ``close``."""

    def __init__(self, reply: Reply, pace: Pace, *, after: int, acks: bool, merge_waiting: bool) -> None:
        self.reply = reply
        self.pace = pace
        self.acks = acks
        #: Set when there may be something to poll for, or nothing any more. Readers may share one.
        self.news = asyncio.Event()
        #: Asked before this reader is called too slow: whether its line is dead, and has been cut for it.
        self.is_cut_off: Callable[[], bool] = lambda: False
        self._pacer = pacer(pace)
        self._merge_waiting = merge_waiting
        #: Released and not yet handed out, oldest first.
        self._ready: deque[AnyEvent] = deque()
        #: (seq, tokens) of deltas handed out and not yet read, oldest first.
        self._unread: deque[tuple[int, int]] = deque()
        self._consumed_tokens = 0
        self._unread_tokens = 0
        self._held_tokens = 0
        self._reported_tokens = 0
        self._has_released = False
        #: Events of the log before this place have been taken.
        self._place = 0
        self._after = after
        # Who was there before the first event has no history: it hears all of it, the line included.
        self._begun = not reply.log and after == 0
        #: What ``started`` tells a reader that asked for a place: whether it is still there.
        self._recovered: bool | None = None
        self._closed = False

    @property
    def read_tokens(self) -> int:
        """How many of the reply's tokens are behind this reader."""
        return self._consumed_tokens - self._unread_tokens + self._held_tokens

    def acknowledge(self, seq: int) -> None:
        """The far end has everything up to delta ``seq``."""
        while self._unread and self._unread[0][0] <= seq:
            self._unread_tokens -= self._unread.popleft()[1]
        self._report()

    def receipt(self, event: AnyEvent) -> Callable[[], None] | None:
        """What is to be called when the far end has ``event``; None for what brings no text."""
        return partial(self.acknowledge, event.seq) if isinstance(event, Delta) else None

    def hold_back(self, tokens: int) -> None:
        """So many of the tokens handed out, the last ones, wait on their way for more text to come."""
        self._held_tokens = tokens
        self._report()

    def give_up(self, why: str) -> None:
        """The far end takes nothing any more: leave, and when nobody else reads, end the generation.

        Leaving alone would not do: without readers a reply runs on for one who may come back, and
        this one never left.
        """
        if self.reply.readers == [self] and self.reply.delivery.limited:
            self.reply.abort(SlowConsumer(f"Generation was ended: {why}."))
        self.close()

    def close(self) -> None:
        """Give the cursor up: it gives no more events and is not waited for; idempotent."""
        self._closed = True
        self.reply.detach(self)
        self.news.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AnyEvent:
        while (event := self.poll()) is None:
            if self.over:
                raise StopAsyncIteration
            self.news.clear()
            await self.news.wait()
        return event

    def poll(self) -> AnyEvent | None:
        """The next event, if there is one by now."""
        if not self.acks and self._unread:
            self.acknowledge(self._unread[-1][0])
        if not self._ready and not self._closed:
            self._take()
        if not self._ready or self._closed:
            return None
        event = self._ready.popleft()
        if isinstance(event, Delta):
            self._unread.append((event.seq, event.tokens))
        return event

    @property
    def over(self) -> bool:
        """Whether nothing will come any more, when a poll has given nothing."""
        return self._closed or not self.reply.running

    # Private

    def _take(self) -> None:
        """Move what the log has further into ``_ready``."""
        if not self._begun:
            self._begun = True
            new = self._history()
        else:
            new = self.reply.log[self._place :]
        self._place = len(self.reply.log)
        if self._merge_waiting:
            new = _merge_runs(new)
        for event in new:
            self._pass(event)
        self._report()

    def _report(self) -> None:
        if self.read_tokens != self._reported_tokens and not self._closed:
            self._reported_tokens = self.read_tokens
            self.reply.flow.read(self._reported_tokens)

    def _pass(self, event: AnyEvent) -> None:
        if isinstance(event, Delta):
            self._consumed_tokens += event.tokens
            self._release(self._pacer.push(event), event.t)
            return
        if isinstance(event, Started):
            event = msgspec.structs.replace(event, recovered=self._recovered)
        elif isinstance(event, Done | Error):
            self._release(self._pacer.flush(), event.t)
            if isinstance(event, Done) and self.pace == "whole" and not self._has_released:
                self._release([Delta(event.reply, event.seq, "", 0, event.t)])
        self._ready.append(event)

    def _release(self, deltas: list[Delta], t: float | None = None) -> None:
        for delta in deltas:
            if not self._has_released and t is not None and t > delta.t:
                # What the pace cost the first word is told once; further stamps would only be weight.
                delta = msgspec.structs.replace(delta, released=t)
            self._has_released = True
            self._unread_tokens += delta.tokens
            self._ready.append(delta)

    def _history(self) -> list[AnyEvent]:
        """What a newcomer has to hear of the past: no old queue positions, no pauses long over."""
        reply = self.reply
        # A compacted reply has lost all places but its last.
        recovered = self._after == 0 or any(delta.seq == self._after for delta in reply.deltas)
        after = self._after if recovered else 0
        if self._after != 0:
            self._recovered = recovered
        past: list[AnyEvent] = []
        if reply.started is not None:
            past.append(reply.started)
        elif reply.queued is not None:
            past.append(reply.queued)
        for delta in reply.deltas:
            if delta.seq > after:
                past.append(delta)
            else:
                self._consumed_tokens += delta.tokens
        if reply.pause is not None:
            past.append(reply.pause)
        if reply.end is not None:
            past.append(reply.end)
        return past


def _merge_runs(new: list[AnyEvent]) -> list[AnyEvent]:
    """Deltas that wait side by side become one: a slow reader gets fewer, larger pieces."""
    merged: list[AnyEvent] = []
    run: list[Delta] = []
    for event in new:
        if isinstance(event, Delta):
            run.append(event)
            continue
        if run:
            merged.append(merge(run))
            run = []
        merged.append(event)
    if run:
        merged.append(merge(run))
    return merged
