"""Steps: the engine's batch, as the wall shows it: a few times a second, not at every step.

It listens while something plays and tells the newest step. It refuses to know who looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from app.generation import Engine, StepRecord

_EVERY_NS = 100_000_000


class Step(msgspec.Struct, frozen=True, tag="engine"):
    """``batch``: sequences in the step; ``waiting`` and ``paused`` are outside it."""

    batch: int
    waiting: int
    paused: int
    step_ms: float


class Steps:
    """One room's look at the engine; ``tell`` gets whole frames."""

    def __init__(
        self, engine: Engine, tell: Callable[[str], None], now_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._engine = engine
        self._tell = tell
        self._now_ns = now_ns
        self._told_ns = 0
        self._end: Callable[[], None] | None = None

    def watch(self, on: bool) -> None:
        """Begin or end listening; idempotent."""
        if on and self._end is None:
            self._end = self._engine.watch_steps(self._hear)
        elif not on and self._end is not None:
            self._end()
            self._end = None

    # Private

    def _hear(self, record: StepRecord) -> None:
        now_ns = self._now_ns()
        if now_ns - self._told_ns >= _EVERY_NS:
            self._told_ns = now_ns
            # What is read for turns to come is nobody's answer.
            batch = sum(phase != "ahead" for _, phase, _ in record.rows)
            step = Step(batch, record.waiting, record.paused, round(record.duration_ns / 1e6, 3))
            self._tell(msgspec.json.encode(step).decode())
