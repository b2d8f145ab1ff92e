"""Stimulus: one reply, read twice, for everybody in the room.

A room's reply waits for nobody (it buffers: at most ``max_tokens`` pieces), so that no phone can slow
it. Its two lanes are two readers of the same log, each with its pace and its way; a piece goes into a
Lane when the playhead comes to the moment at which it is due. So the teacher can stop, step and slow
down what is still being made. It refuses to know members, votes and how a reply comes to be.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable
from typing import Literal

from app.errors import FirstwordError, from_code
from app.events import Delta, Done, Error
from app.prompt import Message, Prompt, Sampling
from app.reply.log import Reply
from app.reply.reader import Reader
from app.rooms.ballot import LaneId
from app.rooms.lane import Lane
from app.rooms.notices import FirstText, Notice, Steered, StimulusOver
from app.rooms.plan import LanePlan, RoundPlan
from app.rooms.playhead import Playhead
from app.rooms.way import Due, Piece, Way

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
    """One playing of a round's stimulus. ``tell`` hears its notices, ``more`` every piece of text.

    ``speed``: 1 as it is made, less is slow motion, 0 stands.
    """

    def __init__(
        self,
        plan: RoundPlan,
        reply: Reply,
        speed: float,
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
        self._plans = plan.lanes
        self._playhead = Playhead(speed=speed)
        #: Set, and replaced by a fresh one, whenever the playhead is moved or turned.
        self._turned = asyncio.Event()
        #: When the piece is due that each lane waits for.
        self._due_ms: dict[LaneId, float] = {}
        self._task = asyncio.create_task(self._play())

    @property
    def over(self) -> bool:
        return self._task.done()

    def steer(self, speed: float) -> None:
        """Go on at this speed from where it is; 0: stand."""
        self._move(self._playhead.turned(speed, self._now_ms()))

    def step(self) -> None:
        """Go to the next piece of either lane that has been made, if there is one."""
        to_ms = min(self._due_ms.values(), default=0.0)
        self._move(self._playhead.put(to_ms, self._now_ms()))

    def stop(self) -> None:
        """End it now, the generation too; idempotent. No notice follows. Its text can still be read."""
        self._task.cancel()
        self._reply.stop()
        for reader in self._readers:
            reader.close()
        for lane in self.lanes:
            lane.end("cancelled", self._at_ms())
        self._more()

    # Private

    async def _play(self) -> None:
        """The border of one generation: whatever goes wrong ends this stimulus, with a sentence."""
        failure: FirstwordError | None = None
        try:
            lanes = zip(self.lanes, self._readers, self._plans, strict=True)
            found = await asyncio.gather(*(self._read(*parts) for parts in lanes))
            failure = next((each for each in found if each is not None), None)
        except Exception as error:
            _LOG.exception("a stimulus failed")
            failure = error if isinstance(error, FirstwordError) else FirstwordError("The stimulus failed.")
        finally:
            for reader in self._readers:
                reader.close()
        for lane in self.lanes:
            lane.end("failed", self._at_ms())
        self._more()
        over = StimulusOver(self.id)
        self._tell(over if failure is None else StimulusOver(self.id, failure.message, failure.code))

    async def _read(self, lane: Lane, reader: Reader, plan: LanePlan) -> FirstwordError | None:
        """One lane, to its end; returns what went wrong, or nothing."""
        way, coming = Way(plan), _Coming(reader)
        try:
            while True:
                piece = await coming.next(self._left_s(way.flush_at_ms))
                dues = way.flush(self._now_ms())
                if isinstance(piece, Delta | Done | Error):
                    dues += way.take(piece, self._now_ms() if piece.t is None else piece.t)
                elif piece == "over":
                    return None
                for due in dues:
                    await self._until(lane, due[0])
                    if self._release(lane, due):
                        last = due[1]
                        if isinstance(last, Error):
                            return from_code(last.code, last.message, last.param)
                        return None
        finally:
            coming.close()

    def _left_s(self, at_ms: float | None) -> float | None:
        return None if at_ms is None else max(0.0, at_ms - self._now_ms()) / 1000

    async def _until(self, lane: Lane, due_ms: float) -> None:
        """Wait until the playhead is there."""
        id: LaneId = lane.id
        while (wait_ms := self._playhead.wait_ms(due_ms, self._now_ms())) > 0:
            self._due_ms[id] = due_ms
            turned = self._turned
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if wait_ms == math.inf else wait_ms / 1000):
                    await turned.wait()
        self._due_ms.pop(id, None)

    def _release(self, lane: Lane, due: Due) -> bool:
        """Give a piece to everybody; whether it was the last one."""
        due_ms, piece = due
        if isinstance(piece, Delta):
            first = lane.head == 0
            lane.append(piece.text, piece.tokens, round(due_ms, 3))
            self._more()
            if first:
                # The plan that phones are checked against: when the text left, not when it was made.
                id: LaneId = lane.id
                self._tell(FirstText(self.id, id, self._at_ms()))
            return False
        lane.end(piece.finish_reason if isinstance(piece, Done) else "failed", round(due_ms, 3))
        self._more()
        return True

    def _move(self, playhead: Playhead) -> None:
        self._playhead = playhead
        turned, self._turned = self._turned, asyncio.Event()
        turned.set()
        if not self.over:
            self._tell(Steered(self.id, playhead))

    def _now_ms(self) -> float:
        return (self._now_ns() - self._reply.received_ns) / 1e6

    def _at_ms(self) -> float:
        return round(self._playhead.position_ms(self._now_ms()), 3)


# Private


class _Coming:
    """A reader's pieces, waited for so long; what else a reader tells is for private replies."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._task: asyncio.Task[Piece | Literal["over"]] | None = None

    async def next(self, timeout_s: float | None) -> Piece | Literal["over", "not yet"]:
        """The next piece, that there is none any more, or that none came in this time."""
        if timeout_s is None and self._task is None:
            return await self._next()
        self._task = self._task or asyncio.create_task(self._next())
        await asyncio.wait({self._task}, timeout=timeout_s)
        if not self._task.done():
            return "not yet"
        task, self._task = self._task, None
        return task.result()

    def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()

    async def _next(self) -> Piece | Literal["over"]:
        async for event in self._reader:
            if isinstance(event, Delta | Done | Error):
                return event
        return "over"
