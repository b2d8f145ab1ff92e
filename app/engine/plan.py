"""What the scheduler decided for one step, as a value that the loop carries out.

This module refuses to decide.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.kv_memory import Action
from app.engine.runner_protocol import Chunk
from app.engine.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Plan:
    """One step. ``memory`` is done first, in order; then all chunks and decode rows together."""

    memory: tuple[Action, ...]
    prefill: tuple[tuple[Sequence, Chunk], ...]
    decode: tuple[Sequence, ...]
    begun: tuple[Sequence, ...]
    resumed: tuple[Sequence, ...]
    preempted: tuple[Sequence, ...]
    #: Nobody is served: ``prefill`` is what the next turn of an ended conversation begins with.
    is_ahead: bool
    #: When nothing is to be done now: the earliest time at which something is (slow motion).
    due_ns: int | None

    @property
    def has_work(self) -> bool:
        return bool(self.prefill or self.decode)
