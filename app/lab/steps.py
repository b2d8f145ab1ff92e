"""Steps: what the engine does, step by step, for those who watch, and for nothing when nobody does.

The engine is asked for its steps from the first listener on and no longer than the last one stays.
Sequences are told apart by numbers of each listener's own, because a reply's name is what lets a
reader in. A listener that is slow gets fewer, merged steps: the newest ones are never lost and
nothing grows. It refuses to know sockets.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable

import msgspec

from app.errors import Overloaded
from app.generation import Phase, StepRecord

#: Steps that wait for a slow listener before they are merged: some seconds of a small model.
MAX_STEPS = 128
MAX_LISTENERS = 16
#: More sequences than can be in a batch and its line; the longest unseen loses its number.
_MAX_NAMES = 1024


class LabStep(msgspec.Struct, frozen=True, tag="step", tag_field="type"):
    """One or several engine steps. ``t`` and ``ms``: when it began, since the feed did, and how long.

    ``rows`` holds (sequence number, phase, tokens of work) of all ``steps``.
    """

    t: float
    ms: float
    steps: int
    rows: list[tuple[int, Phase, int]]
    kv_used: int
    kv_total: int
    waiting: int
    paused: int


def merge(first: LabStep, second: LabStep) -> LabStep:
    """Two neighbouring steps as one: work and time add up, the state is the later one's."""
    work: dict[tuple[int, Phase], int] = {}
    for number, phase, tokens in first.rows + second.rows:
        work[number, phase] = work.get((number, phase), 0) + tokens
    return msgspec.structs.replace(
        second,
        t=first.t,
        ms=round(first.ms + second.ms, 3),
        steps=first.steps + second.steps,
        rows=[(number, phase, tokens) for (number, phase), tokens in work.items()],
    )


class Listener:
    """One watcher's steps; ``close`` ends it."""

    def __init__(self, began_ns: int, close: Callable[[Listener], None]) -> None:
        self._began_ns = began_ns
        self._close = close
        self._waiting: deque[LabStep] = deque()
        self._come = asyncio.Event()
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._num_named = 0

    def take(self, record: StepRecord) -> None:
        """The engine made a step."""
        step = LabStep(
            t=round((record.at_ns - self._began_ns) / 1e6, 3),
            ms=round(record.duration_ns / 1e6, 3),
            steps=1,
            rows=[(self.number(id), phase, tokens) for id, phase, tokens in record.rows],
            kv_used=record.kv_used_blocks,
            kv_total=record.kv_total_blocks,
            waiting=record.waiting,
            paused=record.paused,
        )
        if len(self._waiting) >= MAX_STEPS:
            step = merge(self._waiting.pop(), step)
        self._waiting.append(step)
        self._come.set()

    def number(self, id: str) -> int:
        """The number that stands for this sequence, from 1 in the order of appearance."""
        if id not in self._numbers:
            self._num_named += 1
            self._numbers[id] = self._num_named
            if len(self._numbers) > _MAX_NAMES:
                self._numbers.popitem(last=False)
        self._numbers.move_to_end(id)
        return self._numbers[id]

    async def next(self) -> list[LabStep]:
        """All steps since the last call; waits for the first of them."""
        await self._come.wait()
        self._come.clear()
        steps = list(self._waiting)
        self._waiting.clear()
        return steps

    def close(self) -> None:
        """Listen no longer; idempotent."""
        self._close(self)


class StepFeed:
    """One engine's steps for many listeners. ``watch`` is Engine.watch_steps."""

    def __init__(
        self, watch: Callable[[Callable[[StepRecord], None]], Callable[[], None]], now_ns: Callable[[], int]
    ) -> None:
        self._watch = watch
        self._now_ns = now_ns
        self._listeners: list[Listener] = []
        self._unwatch: Callable[[], None] | None = None

    def listen(self) -> Listener:
        """A new listener; its clock begins now. Raises Overloaded when there are too many."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise Overloaded(f"{MAX_LISTENERS} pages watch the engine's steps already, which is the limit")
        listener = Listener(self._now_ns(), self._leave)
        self._listeners.append(listener)
        if self._unwatch is None:
            self._unwatch = self._watch(self._tell)
        return listener

    # Private

    def _tell(self, record: StepRecord) -> None:
        for listener in self._listeners:
            listener.take(record)

    def _leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
        if not self._listeners and self._unwatch is not None:
            self._unwatch()
            self._unwatch = None
