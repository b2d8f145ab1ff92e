"""How many prompt tokens the next step may compute, so that nobody's stream stumbles.

A step with prompt tokens is longer than one without, and everybody in the batch feels it as a
gap. While nobody decodes, a whole chunk is right. Beside running streams the step may be
``gap_ratio`` times as long as a plain decode step, and longer in proportion when more sequences
wait for their first word than are streaming: the few must not hold up the many. While several wait it
may in any case take as long as a reader takes for a token: that is felt by nobody, and they begin sooner.

What a piece of prompt adds to a step is taken for ``fixed + tokens * each``: for being there at
all (the weights are read once more by other operators) and for its tokens. Machines differ by a
factor of ten, so all is learned from the steps themselves. ``each`` comes from prompts read alone,
whose pieces are large; ``fixed`` is whatever then is missing beside streams. Were both taken for
one cost of a token, small pieces would seem ever dearer and shrink to the least.

Given durations by the loop, it refuses to know clocks, models and who waits.
"""

from __future__ import annotations

#: Weight of the newest measurement: a tenth follows a machine that gets busy within a second.
_NEWEST = 0.1
#: The same for what a piece of prompt adds. There are few such steps, and each is somebody's gap.
_NEWEST_FIXED = 0.25
#: 17 tokens a second, some 700 words a minute: faster than anybody reads.
_READING_NS = 60_000_000


class PrefillBudget:
    """Learns from ``observe`` and answers ``tokens``; between ``least`` and ``most`` tokens."""

    def __init__(self, *, most: int, least: int, gap_ratio: float) -> None:
        assert 1 <= least <= most and gap_ratio > 1
        self.most = most
        self.least = least
        self.gap_ratio = gap_ratio
        self._decode_ns: dict[int, float] = {}  # rows -> duration of a step without prompts
        self._each_ns: float | None = None
        self._fixed_ns: float | None = None

    def tokens(self, num_streaming: int, num_waiting: int) -> int:
        """The budget of the next step, beside so many streams and for so many that wait."""
        plain_ns = self._plain_ns(num_streaming)
        if num_streaming == 0 or plain_ns is None or self._each_ns is None:
            return self.most
        extra_ns = plain_ns * (self.gap_ratio - 1) * max(1.0, num_waiting / num_streaming)
        if num_waiting > 1:
            extra_ns = max(extra_ns, _READING_NS - plain_ns)
        # Before it is known, a piece is taken to cost a plain step for being there.
        fixed_ns = plain_ns if self._fixed_ns is None else self._fixed_ns
        return max(self.least, min(self.most, int((extra_ns - fixed_ns) / self._each_ns)))

    def observe(self, duration_ns: int, num_rows: int, num_prompt_tokens: int) -> None:
        """One step took so long with so many decode rows and prompt tokens."""
        if num_prompt_tokens == 0:
            self._decode_ns[num_rows] = _mix(self._decode_ns.get(num_rows), duration_ns, _NEWEST)
        elif num_prompt_tokens > self.most:
            return  # a prompt read at once says little about pieces
        elif num_rows == 0:
            self._observe_alone(max(duration_ns, 1) / num_prompt_tokens, num_prompt_tokens)
        elif (plain_ns := self._plain_ns(num_rows)) is not None:
            self._observe_beside(max(duration_ns - plain_ns, 1.0), num_prompt_tokens)

    # Private

    def _observe_alone(self, each_ns: float, num_prompt_tokens: int) -> None:
        # A small piece's cost is mostly its pass; it only counts while nothing better is known.
        if self._each_ns is None or each_ns < self._each_ns or num_prompt_tokens * 2 >= self.most:
            self._each_ns = _mix(self._each_ns, each_ns, _NEWEST)

    def _observe_beside(self, extra_ns: float, num_prompt_tokens: int) -> None:
        if self._each_ns is None or extra_ns < num_prompt_tokens * self._each_ns:
            # Less than its tokens alone were thought to cost: then they cost less.
            self._each_ns = _mix(self._each_ns, extra_ns / num_prompt_tokens, _NEWEST)
        rest_ns = max(extra_ns - num_prompt_tokens * self._each_ns, 0.0)
        self._fixed_ns = _mix(self._fixed_ns, rest_ns, _NEWEST_FIXED)

    def _plain_ns(self, num_rows: int) -> float | None:
        """Duration of a decode step of so many rows, or of the nearest number of rows known."""
        known = self._decode_ns
        return known[min(known, key=lambda rows: abs(rows - num_rows))] if known else None


def _mix(old: float | None, new: float, weight: float) -> float:
    return new if old is None else old + (new - old) * weight
