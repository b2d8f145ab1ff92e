"""How long the supervisor waits for what: the back-off between starts and the watchdog.

Pure decisions, told of time and silence by their caller; they refuse to know processes, clocks
and the event loop.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """The defaults are for people; tests are in more of a hurry."""

    back_off_s: float = 0.5
    back_off_max_s: float = 10.0
    #: A child that was up for so long was healthy: its death begins the back-off anew.
    healthy_s: float = 60.0
    #: A step that takes longer, or a silence that lasts longer, is a hang.
    hang_s: float = 30.0
    #: A step that takes longer is told in the status, well before it counts as a hang.
    stall_s: float = 5.0
    #: How often the watchdog looks.
    tick_s: float = 1.0
    #: How long the child may take to exit by itself, and again after it was told to terminate.
    exit_s: float = 2.0
    #: Deaths while loading, before it was ever ready, after which it is given up.
    first_loads: int = 3


class BackOff:
    """The wait before the next start: doubling, bounded, forgotten after good health."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._next_s = patience.back_off_s

    def after(self, ran_s: float) -> float:
        """Seconds to wait after a child that was up for ``ran_s``."""
        if ran_s >= self._patience.healthy_s:
            self._next_s = self._patience.back_off_s
        wait_s = self._next_s
        self._next_s = min(2 * wait_s, self._patience.back_off_max_s)
        return wait_s


class Watchdog:
    """Tells a hanging engine from a busy one.

    It counts ticks, not seconds: when the very loop that ticks was held up, the child's beats lie
    unread in the socket and must not pass for silence.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._silent_ticks = 0
        self._in_step_ms = 0

    def heard(self, in_step_ms: int | None = None) -> None:
        """Something came from the child; a beat also says how long its present step has run."""
        self._silent_ticks = 0
        if in_step_ms is not None:
            self._in_step_ms = in_step_ms

    def tick(self) -> bool:
        """To be called every ``tick_s``. Returns whether the child hangs."""
        self._silent_ticks += 1
        return self._held_s > self._patience.hang_s

    @property
    def stalled_s(self) -> float | None:
        """How long a suspicious step or silence has lasted; None when all is well."""
        return self._held_s if self._held_s >= self._patience.stall_s else None

    # Private

    @property
    def _held_s(self) -> float:
        return max(self._silent_ticks * self._patience.tick_s, self._in_step_ms / 1000)
