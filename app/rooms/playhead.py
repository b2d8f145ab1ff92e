"""Playhead: where in a stimulus everybody looks: it runs, stands, runs slowly, or is put on a step.

All times are milliseconds since the stimulus began, ``since_ms`` and ``now_ms`` on the clock, ``at_ms`` in
the stimulus. Who knows the three values knows where it is at any moment, so phones need no more than them.
It never runs ahead of the clock: nothing can be shown before it is made. Pure.
"""

from __future__ import annotations

from math import inf

import msgspec


class Playhead(msgspec.Struct, frozen=True):
    """At ``since_ms`` it was at ``at_ms`` and has moved ``speed`` times as fast as the clock since."""

    at_ms: float = 0.0
    since_ms: float = 0.0
    speed: float = 1.0

    def position_ms(self, now_ms: float) -> float:
        """Where it is."""
        return self.at_ms + (now_ms - self.since_ms) * self.speed

    def wait_ms(self, due_ms: float, now_ms: float) -> float:
        """How long until it comes to a moment; 0: it has; infinite: it stands."""
        missing_ms = due_ms - self.position_ms(now_ms)
        if missing_ms <= 0:
            return 0.0
        return missing_ms / self.speed if self.speed else inf

    def turned(self, speed: float, now_ms: float) -> Playhead:
        """The same place at another speed; 0 stands."""
        return Playhead(round(self.position_ms(now_ms), 3), round(now_ms, 3), speed)

    def put(self, at_ms: float, now_ms: float) -> Playhead:
        """Further on, at the same speed."""
        return Playhead(round(max(at_ms, self.position_ms(now_ms)), 3), round(now_ms, 3), self.speed)
