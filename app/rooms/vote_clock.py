"""Vote clock: closes an open vote at its moment; one at a time. The rules say whether it may (room)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app.rooms.notices import VoteCloses, VoteDue
from app.rooms.round import Round
from app.rooms.state import CloseIn


class VoteClock:
    """``now_ms`` is the server's clock; ``tell`` hears when the vote will close, and then that it is time."""

    def __init__(self, now_ms: Callable[[], float], tell: Callable[[VoteCloses | VoteDue], None]) -> None:
        self._now_ms = now_ms
        self._tell = tell
        self._timer: asyncio.TimerHandle | None = None

    def set(self, round: Round, wanted: CloseIn) -> None:
        """Close this round's vote then, and not when it was to close before."""
        self.cancel()
        now_ms = self._now_ms()
        from_ms = max(now_ms, round.closes_ms or 0.0) if wanted.later else now_ms
        at_ms = from_ms + 1000 * wanted.seconds
        due = VoteDue(round.id, at_ms)
        self._timer = asyncio.get_running_loop().call_later((at_ms - now_ms) / 1000, self._tell, due)
        self._tell(VoteCloses(round.id, at_ms))

    def cancel(self) -> None:
        """Close nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
