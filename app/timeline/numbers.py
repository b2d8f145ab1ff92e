"""Numbers: everything there is to say about one reply's arrivals, with the targets it is held to.

One call for `measure` and `replay`, so that both count alike; the pages' twin is
static/js/measure/metrics.js, held to the same golden file. It refuses to know how any number is made
(gaps, quality) and how it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.timeline import arrivals as stamps
from app.timeline import gaps, quality
from app.timeline.arrivals import Arrival
from app.timeline.gaps import Spread


class Targets(msgspec.Struct, frozen=True):
    """What a reader wants, and deadlines of a good stream.

    The first word within a second keeps a thought going (Nielsen); 5.2 tokens/s are 238 words a
    minute at 1.3 tokens a word; Etalon's own deadline of 30 to 50 ms is for servers with GPUs, 100 ms
    is ten tokens a second.
    """

    ttft_target_ms: float = 1000.0
    tokens_per_second: float = 5.2
    first_deadline_ms: float = 1000.0
    deadline_ms: float = 100.0


DEFAULT_TARGETS = Targets()


class Numbers(msgspec.Struct, frozen=True):
    """Each is explained where it is computed (arrivals, gaps, quality); None: there is no such number."""

    ttft_ms: float | None
    last_ms: float | None
    tokens: int
    chunks: int
    tpot_ms: float | None
    gaps_per_chunk: Spread
    gaps_per_token: Spread
    tokens_per_second: float | None
    qoe: float | None
    fluidity: float | None
    idle_ms: float | None


def numbers_of(arrivals: Sequence[Arrival], targets: Targets = DEFAULT_TARGETS) -> Numbers:
    """All numbers of one reply."""
    return Numbers(
        ttft_ms=stamps.ttft_ms(arrivals),
        last_ms=stamps.last_ms(arrivals),
        tokens=sum(arrival.tokens for arrival in arrivals),
        chunks=len(arrivals),
        tpot_ms=gaps.tpot_ms(arrivals),
        gaps_per_chunk=gaps.spread(gaps.gaps_per_chunk(arrivals)),
        gaps_per_token=gaps.spread(gaps.gaps_per_token(arrivals)),
        tokens_per_second=gaps.tokens_per_second(arrivals),
        qoe=quality.qoe(arrivals, targets.ttft_target_ms, targets.tokens_per_second),
        fluidity=quality.fluidity(arrivals, targets.first_deadline_ms, targets.deadline_ms),
        idle_ms=quality.idle_ms(arrivals, targets.tokens_per_second),
    )
