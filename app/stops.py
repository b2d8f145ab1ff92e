"""Stop strings: found across any token boundaries, never shown, not even their beginning.

Text goes in as it is made; what comes out may be shown. Only a tail that is the beginning of a
stop string is held back, and only until it is clear that it does not become one. The match that
is complete first wins (the generation ends there, so nothing after it exists); of those that end
at the same character, the one that begins first. Cuts between pushes mean nothing. This module
refuses to know tokens.
"""

from __future__ import annotations


class StopScanner:
    """Watches one text for any of ``stops``; holds back less than the longest of them."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        #: Every proper beginning of a stop string, longest first.
        self._beginnings = tuple(
            sorted({stop[:n] for stop in self._stops for n in range(1, len(stop))}, key=len, reverse=True)
        )
        self._held = ""
        self.matched: str | None = None

    @property
    def holds_text(self) -> bool:
        """Whether a tail is waiting to become a stop string or not."""
        return bool(self._held)

    def push(self, text: str) -> str:
        """Take new text; return what may be shown. ``matched`` is set once a stop is complete."""
        assert self.matched is None, "nothing follows a stop string"
        if not self._stops:
            return text
        seen = self._held + text
        ends = [(at + len(stop), at, stop) for stop in self._stops if (at := seen.find(stop)) >= 0]
        if ends:
            _, at, self.matched = min(ends)
            self._held = ""
            return seen[:at]
        keep = self._tail(seen)
        self._held = seen[len(seen) - keep :]
        return seen[: len(seen) - keep]

    def flush(self) -> str:
        """Nothing more will come: what was held back is text after all."""
        held, self._held = self._held, ""
        return held

    # Private

    def _tail(self, seen: str) -> int:
        """How many characters at the end of ``seen`` are the beginning of a stop string."""
        # One call in C says "none" for nearly every token; only then is the length looked for.
        if not seen.endswith(self._beginnings):
            return 0
        return next(len(start) for start in self._beginnings if seen.endswith(start))
