"""Allowance: how many messages one client may send, as a bucket that fills by the minute. Pure."""

from __future__ import annotations

_MINUTE_NS = 60_000_000_000


class Allowance:
    """``per_minute`` at once at most, and so many a minute in the long run."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left = float(per_minute)
        self._seen_ns: int | None = None

    def take(self, now_ns: int) -> bool:
        """Use one up; False when there is none left."""
        if self._seen_ns is not None:
            gained = (now_ns - self._seen_ns) * self._per_minute / _MINUTE_NS
            self._left = min(float(self._per_minute), self._left + gained)
        self._seen_ns = now_ns
        if self._left < 1:
            return False
        self._left -= 1
        return True
