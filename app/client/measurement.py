"""Measurement: the numbers of many exchanges, streamed and whole, by the timeline's formulas. Pure.

Everything counts from when a question was due. Percentiles of gaps pool all replies; everything else is
the median over replies. It refuses to know how the exchanges came about and how numbers are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, median_low

import msgspec

from app.client.exchange import Exchange
from app.timeline.arrivals import Arrival
from app.timeline.gaps import gaps_per_chunk, percentile, spread, streaming_cost
from app.timeline.numbers import DEFAULT_TARGETS, Numbers, Targets, numbers_of
from app.timeline.reading import words_brought


class Gaps(msgspec.Struct, frozen=True):
    """Times between arrivals of text, in ms."""

    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


class Streamed(msgspec.Struct, frozen=True):
    """Streamed replies. ``chunks``: pieces of text; it equals ``tokens`` when each brings one."""

    ttft_ms: float | None
    last_ms: float | None
    gaps_ms: Gaps
    tokens: int
    chunks: int


class Whole(msgspec.Struct, frozen=True):
    """Replies asked for in one piece."""

    total_ms: float | None


class Result(msgspec.Struct, frozen=True):
    """What ``firstword measure --json`` prints (design, section 5.3). None: no such number."""

    streamed: Streamed
    whole: Whole
    cost_of_streaming: float | None
    qoe: float | None
    fluidity: float | None


@dataclass(frozen=True, slots=True)
class Lag:
    """How late questions were sent, and what connecting took, in ms: (median, longest)."""

    due_to_begun_ms: tuple[float, float]
    begun_to_sent_ms: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The result, and what is needed to judge it."""

    result: Result
    lag: Lag | None
    good: tuple[Exchange, ...]
    failures: tuple[Exchange, ...]
    #: The streamed reply whose first word came at the median: fit to be drawn.
    typical: Exchange | None
    ttft_p95_ms: float | None
    tokens_per_second: float | None
    #: (longest - shortest) / median of the whole replies: a cost of streaming below it may be chance.
    whole_spread: float | None
    #: False: the server does not count tokens, so that each piece of text stands for one.
    tokens_told: bool
    targets: Targets


def measured(exchanges: Sequence[Exchange], targets: Targets = DEFAULT_TARGETS) -> Measurement:
    """The numbers of all exchanges; failed ones give none and are listed."""
    good = tuple(exchange for exchange in exchanges if exchange.error is None)
    streamed = [exchange for exchange in good if exchange.streamed]
    arrivals = [arrivals_of(exchange) for exchange in streamed]
    numbers = [numbers_of(each, targets) for each in arrivals]
    wholes = [
        (exchange.deltas[-1].at_ns - exchange.scheduled_ns) / 1e6
        for exchange in good
        if not exchange.streamed
    ]
    pooled = spread([gap for each in arrivals for gap in gaps_per_chunk(each)])
    last_ms, whole_ms = _middle([n.last_ms for n in numbers]), _middle(wholes)
    result = Result(
        Streamed(
            _rounded(_middle([n.ttft_ms for n in numbers])),
            _rounded(last_ms),
            Gaps(*map(_rounded, (pooled.p50_ms, pooled.p95_ms, pooled.p99_ms, pooled.max_ms))),
            median_low([n.tokens for n in numbers]) if numbers else 0,
            median_low([n.chunks for n in numbers]) if numbers else 0,
        ),
        Whole(_rounded(whole_ms)),
        _rounded(streaming_cost(last_ms, whole_ms)),
        _rounded(_middle([n.qoe for n in numbers])),
        _rounded(_middle([n.fluidity for n in numbers])),
    )
    return Measurement(
        result,
        _lag(good),
        good,
        tuple(exchange for exchange in exchanges if exchange.error is not None),
        _typical(streamed, numbers),
        percentile([n.ttft_ms for n in numbers if n.ttft_ms is not None], 0.95),
        _middle([n.tokens_per_second for n in numbers]),
        (max(wholes) - min(wholes)) / whole_ms if whole_ms and len(wholes) > 1 else None,
        all(tokens_of(exchange) is not None for exchange in streamed),
        targets,
    )


def arrivals_of(exchange: Exchange) -> list[Arrival]:
    """One arrival for each piece of text, in ms since the question was due.

    A piece's tokens are what the server says of it; else the reply's usage, shared out by the length of
    the pieces; else one each.
    """
    tokens = _shares(exchange)
    words = words_brought(delta.text for delta in exchange.deltas)
    return [
        Arrival((delta.at_ns - exchange.scheduled_ns) / 1e6, count, brought)
        for delta, count, brought in zip(exchange.deltas, tokens, words, strict=True)
    ]


def tokens_of(exchange: Exchange) -> int | None:
    """The reply's tokens by the server's own count; None: it does not say."""
    if exchange.usage.completion_tokens is not None:
        return exchange.usage.completion_tokens
    counts = [delta.tokens for delta in exchange.deltas if delta.tokens is not None]
    return sum(counts) if len(counts) == len(exchange.deltas) else None


# Private


def _shares(exchange: Exchange) -> list[int]:
    told = [delta.tokens for delta in exchange.deltas if delta.tokens is not None]
    if len(told) == len(exchange.deltas):
        return told
    total = tokens_of(exchange)
    num = len(exchange.deltas)
    # The last token is often an end sign that brings no text: one more than pieces is still one each.
    if total is None or num <= total <= num + 1 or not exchange.deltas:
        return [1] * num
    if total < num:
        return [1] * total + [0] * (num - total)
    # Each piece has one; the rest goes by length, cumulatively rounded so that the sum is exact.
    lengths = [len(delta.text) for delta in exchange.deltas]
    spare, whole, seen, given = total - num, sum(lengths), 0, 0
    shares = []
    for length in lengths:
        seen += length
        upto = round(spare * seen / whole)
        shares.append(1 + upto - given)
        given = upto
    return shares


def _lag(good: Sequence[Exchange]) -> Lag | None:
    if not good:
        return None
    waits = [(exchange.began_ns - exchange.scheduled_ns) / 1e6 for exchange in good]
    sends = [(exchange.sent_ns - exchange.began_ns) / 1e6 for exchange in good]
    return Lag((median(waits), max(waits)), (median(sends), max(sends)))


def _typical(streamed: Sequence[Exchange], numbers: Sequence[Numbers]) -> Exchange | None:
    firsts = [(n.ttft_ms, place) for place, n in enumerate(numbers) if n.ttft_ms is not None]
    return streamed[median_low(firsts)[1]] if firsts else None


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _rounded(value: float | None) -> float | None:
    """Microseconds, or a ratio's thousandths: more digits would only look like knowledge."""
    return None if value is None else round(value, 3)
