"""Way: what a lane's plan does to the pieces of its reply: when each is due. Pure.

First the plan's delay, then the ticks of a poller, then the simulated network (reply.link). All is
reckoned in the reply's own time, so a lane comes to the same moments however slowly it is played. It
refuses to know clocks, and who reads.
"""

from __future__ import annotations

import math
from collections import deque

import msgspec

from app.events import Delta, Done, Error
from app.reply.link import Link, LinkPlan
from app.rooms.plan import LanePlan

Piece = Delta | Done | Error
#: (when it is due, in ms since the beginning; the piece)
Due = tuple[float, Piece]


class Way:
    """One lane's pieces on their way, oldest first."""

    def __init__(self, plan: LanePlan) -> None:
        self._plan = plan
        self._link = LinkPlan(plan.link or Link())
        self._held: deque[Piece] = deque()

    @property
    def flush_at_ms(self) -> float | None:
        """When the network lets go of what it holds, whether more comes or not; None: it never does."""
        return self._link.flush_at_ms

    def take(self, piece: Piece, t_ms: float) -> list[Due]:
        """The next piece, made at ``t_ms``; what is on its way by now, and when it is due."""
        self._held.append(piece)
        left_ms = t_ms + self._plan.delay_ms
        if every_ms := self._plan.every_ms:
            left_ms = math.ceil(left_ms / every_ms) * every_ms
        last = isinstance(piece, Done | Error)
        return self._leaving(self._link.send(len(msgspec.json.encode(piece)), left_ms, last=last))

    def flush(self, now_ms: float) -> list[Due]:
        """What the network has let go by now."""
        return self._leaving(self._link.flush_due(now_ms))

    # Private

    def _leaving(self, due_ms: list[float]) -> list[Due]:
        return [(at_ms, self._held.popleft()) for at_ms in due_ms]
