"""How many prompt tokens the next step may compute, so that nobody's stream stumbles.

A step with prompt tokens is longer than one without, and everybody in the batch feels it as a
gap. While nobody decodes, a whole chunk is right. Beside running streams the step may be
``gap_ratio`` times as long as a plain decode step, and longer in proportion when more sequences
wait for their first word than are streaming: the few must not hold up the many. What a row and a
prompt token cost is learned from the steps themselves, because machines differ by a factor of ten.

Given durations by the loop, it refuses to know clocks, models and who waits.
"""

from __future__ import annotations

#: Weight of the newest measurement: a tenth follows a machine that gets busy within a second.
_NEWEST = 0.1
#: Its weight when a prompt token costs more than thought: small chunks cost more a token than the
#: large ones that were measured first, and every step that is too long is somebody's gap.
_NEWEST_WHEN_DEARER = 0.5


class PrefillBudget:
    """Learns from ``observe`` and answers ``tokens``; between ``least`` and ``most`` tokens."""

    def __init__(self, *, most: int, least: int, gap_ratio: float) -> None:
        assert 1 <= least <= most and gap_ratio > 1
        self.most = most
        self.least = least
        self.gap_ratio = gap_ratio
        self._decode_ns: dict[int, float] = {}  # rows -> duration of a step without prompts
        self._token_ns: float | None = None  # what one prompt token adds to a step

    def tokens(self, num_streaming: int, num_waiting: int) -> int:
        """The budget of the next step, beside so many streams and for so many that wait."""
        plain_ns = self._plain_ns(num_streaming)
        if num_streaming == 0 or plain_ns is None or self._token_ns is None:
            return self.most
        extra_ns = plain_ns * (self.gap_ratio - 1) * max(1.0, num_waiting / num_streaming)
        return max(self.least, min(self.most, int(extra_ns / self._token_ns)))

    def observe(self, duration_ns: int, num_rows: int, num_prompt_tokens: int) -> None:
        """One step took so long with so many decode rows and prompt tokens."""
        if num_prompt_tokens == 0:
            self._decode_ns[num_rows] = _mix(self._decode_ns.get(num_rows), duration_ns)
            return
        plain_ns = self._plain_ns(num_rows) if num_rows else 0.0
        # A chunk of a few tokens says little about the cost of one: the step's own cost dominates.
        if plain_ns is not None and num_prompt_tokens >= self.least:
            token_ns = max(duration_ns - plain_ns, 1.0) / num_prompt_tokens
            dearer = self._token_ns is not None and token_ns > self._token_ns
            self._token_ns = _mix(self._token_ns, token_ns, _NEWEST_WHEN_DEARER if dearer else _NEWEST)

    # Private

    def _plain_ns(self, num_rows: int) -> float | None:
        """Duration of a decode step of so many rows, or of the nearest number of rows known."""
        known = self._decode_ns
        return known[min(known, key=lambda rows: abs(rows - num_rows))] if known else None


def _mix(old: float | None, new: float, weight: float = _NEWEST) -> float:
    return new if old is None else old + (new - old) * weight
