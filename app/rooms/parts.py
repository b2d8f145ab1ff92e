"""Parts: what all rooms of a server share, as one value that the registry makes.

Where replies come from, the server's clock and its limits, and where a room's state is kept. It
refuses to know what any room does with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.generation import Engine
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.plan import RoundPlan
from app.rooms.rush import RushLimits
from app.rooms.state import Room


@dataclass(frozen=True, slots=True)
class Parts:
    """``begin`` starts the reply of a round's stimulus; ``keep`` takes a state and whether it is urgent."""

    replies: Replies
    engine: Engine
    begin: Callable[[RoundPlan], Reply]
    rush: RushLimits
    now_ns: Callable[[], int]
    origin_ns: int
    epoch: str
    max_participants: int
    keep: Callable[[Room, bool], None]
    erase: Callable[[str], None]

    def clock_ms(self, at_ns: int | None = None) -> float:
        """The server's clock, as every frame tells it."""
        return round(((self.now_ns() if at_ns is None else at_ns) - self.origin_ns) / 1e6, 3)
