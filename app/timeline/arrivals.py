"""Arrivals: when each piece of a reply reached its reader, and what it brought.

Everything in this package is computed from them. It refuses to know clocks and wires: times are
milliseconds since the request was sent, in order. A number that does not exist is None, not 0: a
reply of one arrival has no gaps.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Arrival(msgspec.Struct, frozen=True):
    """One piece of text: its time, and how many tokens and words it brought."""

    at_ms: float
    tokens: int
    words: int


def ttft_ms(arrivals: Sequence[Arrival]) -> float | None:
    """Time to first token: request sent -> first piece of text. None: nothing came."""
    return arrivals[0].at_ms if arrivals else None


def last_ms(arrivals: Sequence[Arrival]) -> float | None:
    """End-to-end latency: request sent -> last piece of text."""
    return arrivals[-1].at_ms if arrivals else None


def token_times(arrivals: Sequence[Arrival]) -> list[float]:
    """One time a token: several that came together have the same one, a chunk without tokens has none."""
    return [arrival.at_ms for arrival in arrivals for _ in range(arrival.tokens)]
