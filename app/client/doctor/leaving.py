"""Leaving: does a generation stop when its reader goes away? Pure.

The server's own count of running generations says it directly. Without one only time can tell: where
one question has to wait for another, one that need not wait behind a left one proves that it stopped.
Where questions run beside each other nothing can be known from outside, and that is said.
"""

from __future__ import annotations

from app.client.doctor.finding import Finding, error
from app.client.doctor.observations import Leaving

#: A generation that would have ended so soon says nothing.
_MIN_REMAINING_MS = 300.0
#: A question waited if it took longer by this share of what was left of the other.
_WAITED = 0.5


def judge(leaving: Leaving) -> tuple[list[Finding], list[str]]:
    """(findings, notes)."""
    left_s = leaving.remaining_ms / 1000
    if leaving.remaining_ms < _MIN_REMAINING_MS:
        return [], ["Replies are over too soon to see whether a disconnect stops the generation."]
    if leaving.counted:
        if leaving.stopped_ms is not None:
            return [], [f"A disconnect stops the generation (after {leaving.stopped_ms:.0f} ms)."]
        what = (
            f"After the disconnect the server's count of running generations stayed up ({left_s:.1f} s left)."
        )
        return [error("keeps-generating", what)], []
    if leaving.alone_ms is None or leaving.after_ms is None:
        return [], ["Whether a disconnect stops the generation could not be tried."]
    waited_ms = leaving.after_ms - leaving.alone_ms
    if waited_ms >= _WAITED * leaving.remaining_ms:
        what = (
            f"A question asked behind a left one waited {waited_ms / 1000:.2f} s longer for its first "
            f"word than alone; the left one had about {left_s:.2f} s to go."
        )
        return [error("keeps-generating", what)], []
    beside_ms = leaving.beside_ms
    if beside_ms is not None and beside_ms - leaving.alone_ms >= _WAITED * leaving.remaining_ms:
        return [], ["A disconnect stops the generation: the next question does not wait for it."]
    return [], [
        "Whether a disconnect stops the generation cannot be known from outside: the server answers "
        "several at once and shows no count of running ones (/metrics)."
    ]
