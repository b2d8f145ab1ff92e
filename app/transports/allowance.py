"""Allowance: how many messages one client may send, as a bucket that fills by the minute. Pure.

Whoever goes on and on over it is to be shown out; the sessions do that, after they have said why.
"""

from __future__ import annotations

from app.errors import RateLimited

_MINUTE_NS = 60_000_000_000
#: Messages over the allowance, one after the other, that are answered before the socket is closed.
_MAX_REFUSALS = 10


class Allowance:
    """``per_minute`` at once at most, and so many a minute in the long run."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left = float(per_minute)
        self._seen_ns: int | None = None
        self._refusals = 0

    @property
    def ignored(self) -> bool:
        """Whether the client floods on, however often it was refused."""
        return self._refusals > _MAX_REFUSALS

    def spend(self, now_ns: int) -> None:
        """Use one up. Raises RateLimited when there is none left."""
        if self._seen_ns is not None:
            gained = (now_ns - self._seen_ns) * self._per_minute / _MINUTE_NS
            self._left = min(float(self._per_minute), self._left + gained)
        self._seen_ns = now_ns
        if self._left < 1:
            self._refusals += 1
            raise RateLimited(f"more than {self._per_minute} messages a minute on one socket")
        self._left -= 1
        self._refusals = 0
