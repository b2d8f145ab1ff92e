"""Gaps: how evenly a reply came and how fast it was once it came.

Per chunk and per token are kept apart: when several tokens arrive together, their gaps are 0 ms, so
that the median per token says nothing about what the reader saw. It refuses to know where the stamps
are from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from app.timeline.arrivals import Arrival, token_times


class Spread(msgspec.Struct, frozen=True):
    """A distribution in four numbers, in ms; all None when there is nothing to distribute."""

    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The ``share`` quantile, 0 to 1, by linear interpolation between order statistics at (n - 1) * share.

    This is Hyndman and Fan's type 7, the default of NumPy. None of nothing.
    """
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread(values: Sequence[float]) -> Spread:
    """Median, 95th, 99th percentile and the longest."""
    longest = max(values) if values else None
    return Spread(percentile(values, 0.5), percentile(values, 0.95), percentile(values, 0.99), longest)


def gaps_per_chunk(arrivals: Sequence[Arrival]) -> list[float]:
    """Times in ms between successive arrivals: what the reader sees. n arrivals have n - 1."""
    return _differences([arrival.at_ms for arrival in arrivals])


def gaps_per_token(arrivals: Sequence[Arrival]) -> list[float]:
    """Times in ms between successive tokens (inter-token latency): 0 within one arrival."""
    return _differences(token_times(arrivals))


def tpot_ms(arrivals: Sequence[Arrival]) -> float | None:
    """Time per output token: (last token - first token) / (n - 1). None for n < 2.

    0 when all tokens came at once: it cannot tell the fastest stream from none at all.
    """
    times = token_times(arrivals)
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None


def tokens_per_second(arrivals: Sequence[Arrival]) -> float | None:
    """Speed behind the first token: 1000 / TPOT. None where TPOT is None or 0."""
    each_ms = tpot_ms(arrivals)
    return 1000 / each_ms if each_ms else None


def streaming_cost(streamed_last_ms: float | None, whole_last_ms: float | None) -> float | None:
    """What streaming costs: last piece streamed / last piece of the same reply not streamed.

    1: nothing; 1.03: the last word comes 3 % later. None where one of the two is missing or 0.
    """
    if streamed_last_ms is None or not whole_last_ms:
        return None
    return streamed_last_ms / whole_last_ms


# Private


def _differences(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]
