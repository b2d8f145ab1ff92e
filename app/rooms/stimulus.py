"""Stimulus: one reply, read twice, for everybody in the room.

A room's reply waits for nobody (it buffers: at most ``max_tokens`` pieces), so that no phone can slow
it. Its two lanes are two readers of the same log, each with its pace and perhaps a delay; what they
release goes into a Lane. It refuses to know members, votes and how a reply comes to be.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from app.errors import FirstwordError
from app.events import Delta, Done, Error
from app.prompt import Message, Prompt, Sampling
from app.reply.log import Reply
from app.reply.reader import Reader
from app.rooms.ballot import LaneId
from app.rooms.commands import FirstText, Notice, StimulusOver
from app.rooms.lane import Lane
from app.rooms.plan import RoundPlan

_LOG = logging.getLogger(__name__)


def prompt_of(plan: RoundPlan, id: str, top_p: float, most_tokens: int) -> Prompt:
    """What a live round asks of the engine."""
    return Prompt(
        id=id,
        messages=(Message("user", plan.prompt or ""),),
        sampling=Sampling(temperature=plan.temperature, top_p=top_p, seed=plan.seed),
        max_tokens=min(plan.max_tokens, most_tokens),
        ignore_eos=plan.ignore_eos,
        tokens_per_second=plan.tokens_per_second,
    )


class Playing:
    """One playing of a round's stimulus. ``tell`` hears its notices, ``more`` every piece of text."""

    def __init__(
        self,
        plan: RoundPlan,
        reply: Reply,
        tell: Callable[[Notice], None],
        more: Callable[[], None],
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.id = reply.id
        self.lanes = (Lane(reply.id, "a"), Lane(reply.id, "b"))
        self._reply = reply
        self._tell = tell
        self._more = more
        self._now_ns = now_ns
        # Both before anything is awaited: neither may miss the beginning.
        self._readers = [reply.attach(lane.pace) for lane in plan.lanes]
        self._delays_ms = [lane.delay_ms for lane in plan.lanes]
        self._task = asyncio.create_task(self._play())

    @property
    def over(self) -> bool:
        return self._task.done()

    def stop(self) -> None:
        """End it now, the generation too; idempotent. No notice follows. Its text can still be read."""
        self._task.cancel()
        self._reply.stop()
        for reader in self._readers:
            reader.close()
        for lane in self.lanes:
            lane.end("cancelled", self._t())
        self._more()

    # Private

    async def _play(self) -> None:
        """The border of one generation: whatever goes wrong ends this stimulus, with a sentence."""
        message = ""
        try:
            lanes = zip(self.lanes, self._readers, self._delays_ms, strict=True)
            found = await asyncio.gather(*(self._read(*parts) for parts in lanes))
            message = next((m for m in found if m), "")
        except Exception as error:
            _LOG.exception("a stimulus failed")
            message = error.message if isinstance(error, FirstwordError) else "The stimulus failed."
        finally:
            for reader in self._readers:
                reader.close()
        for lane in self.lanes:
            lane.end("failed", self._t())
        self._more()
        self._tell(StimulusOver(self.id, message))

    async def _read(self, lane: Lane, reader: Reader, delay_ms: float) -> str:
        """One lane, to its end; returns what went wrong, or nothing."""
        async for event in reader:
            if not isinstance(event, Delta | Done | Error):
                continue
            if delay_ms and event.t is not None:
                await asyncio.sleep(max(0.0, event.t + delay_ms - self._t()) / 1000)
            if isinstance(event, Delta):
                self._release(lane, event, delay_ms)
            elif isinstance(event, Done):
                lane.end(event.finish_reason, event.t + delay_ms)
                self._more()
            else:
                lane.end("failed", (event.t or 0.0) + delay_ms)
                self._more()
                return event.message
        return ""

    def _release(self, lane: Lane, delta: Delta, delay_ms: float) -> None:
        first = lane.head == 0
        lane.append(delta.text, delta.tokens, round(delta.t + delay_ms, 3))
        self._more()
        if first:
            # The plan that phones are checked against: when the text left, not when it was made.
            id: LaneId = lane.id
            self._tell(FirstText(self.id, id, self._t()))

    def _t(self) -> float:
        return round((self._now_ns() - self._reply.received_ns) / 1e6, 3)
