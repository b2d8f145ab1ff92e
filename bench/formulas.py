"""Formulas: stamps become the numbers that are printed. Pure, and each printed with its definition.

It refuses to know servers, sockets and clocks; times are nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

from bench.dialects import Stream

DEFINITIONS = (
    "TTFT = first piece of text at the client − the moment the request was due (closed loop: it is sent "
    "then; connecting included; a role-only chunk is no text)",
    "gap = time between two successive pieces of text of one answer, pooled over all answers of the cell",
    "tokens/s = tokens of all whole answers ÷ (last answer's end − first request's start), over all users",
    "tokens = usage.completion_tokens where the server tells, else pieces of text; tok/piece above 1 means "
    "that gaps are not steps",
    "pNN = linear interpolation between the order statistics at (n − 1)·NN/100",
    "cold start = process started → first piece of text of the first request (converted files and the "
    "disk's cache are warm)",
    "memory = resident set of the server and its children, summed, the most seen after any cell",
    "ratio = this server ÷ base: below 1 is better for TTFT and gaps, above 1 for tokens/s",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One server, one kind of prompt, one number of users. Times in ms; None: nothing to measure."""

    kind: str
    users: int
    requests: int
    ok: int
    ttft_p50_ms: float | None
    ttft_p95_ms: float | None
    gap_p50_ms: float | None
    gap_p95_ms: float | None
    gap_p99_ms: float | None
    tokens_per_s: float | None
    tokens_per_piece: float | None
    error: str | None = None


def percentile(values: Iterable[float], share: float) -> float | None:
    """The ``share`` (0 to 1) quantile by linear interpolation; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median_bounds(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Between which two of the values the true median lies, with such confidence; None of too few.

    The k-th smallest and the k-th largest, k as great as may be: that the median lies outside means that
    fewer than k of n fell on one side of it, at 2 * P(Binomial(n, 1/2) < k).
    """
    ordered = sorted(values)
    k, outside = 0, 2 / 2 ** len(ordered)
    while outside <= 1 - confidence:
        k += 1
        outside += 2 * comb(len(ordered), k) / 2 ** len(ordered)
    return (ordered[k - 1], ordered[-k]) if k else None


def ttft_ms(stream: Stream) -> float:
    """First piece of text − due time."""
    return (stream.arrivals_ns[0] - stream.began_ns) / 1e6


def gaps_ms(stream: Stream) -> list[float]:
    """Times between successive pieces of text."""
    return [(b - a) / 1e6 for a, b in zip(stream.arrivals_ns, stream.arrivals_ns[1:], strict=False)]


def total_ms(began_ns: int, ended_ns: int) -> float:
    """Due time → end of the answer."""
    return (ended_ns - began_ns) / 1e6


def cell(kind: str, users: int, streams: Sequence[Stream]) -> Cell:
    """The numbers of one cell; failed answers count as requests and nothing else."""
    good = [stream for stream in streams if stream.error is None]
    errors = [stream.error for stream in streams if stream.error is not None]
    gaps = [gap for stream in good for gap in gaps_ms(stream)]
    firsts = [ttft_ms(stream) for stream in good]
    tokens, pieces = sum(s.tokens for s in good), sum(len(s.arrivals_ns) for s in good)
    wall_s = (max(s.ended_ns for s in good) - min(s.began_ns for s in streams)) / 1e9 if good else 0.0
    return Cell(
        kind,
        users,
        requests=len(streams),
        ok=len(good),
        ttft_p50_ms=percentile(firsts, 0.5),
        ttft_p95_ms=percentile(firsts, 0.95),
        gap_p50_ms=percentile(gaps, 0.5),
        gap_p95_ms=percentile(gaps, 0.95),
        gap_p99_ms=percentile(gaps, 0.99),
        tokens_per_s=tokens / wall_s if wall_s > 0 else None,
        tokens_per_piece=tokens / pieces if pieces else None,
        error=errors[0] if errors else None,
    )


def ratio(value: float | None, base: float | None) -> float | None:
    """``value`` ÷ ``base``; None where either is missing or the base is 0."""
    return None if value is None or not base else value / base


def longest_over_median(others: Sequence[Stream], from_ns: int, to_ns: int) -> float | None:
    """Longest gap that touches the span ÷ median of all gaps, over ``others`` together."""
    touching: list[float] = []
    for stream in others:
        pairs = zip(stream.arrivals_ns, stream.arrivals_ns[1:], strict=False)
        touching += [(b - a) / 1e6 for a, b in pairs if b >= from_ns and a <= to_ns]
    everything = [gap for stream in others for gap in gaps_ms(stream)]
    return ratio(max(touching), median(everything)) if touching and everything else None


def delivery_ms(written_ns: int, frames: Sequence[tuple[int, float]]) -> tuple[list[float], float]:
    """Token made → its bytes at the client, of one reply: (upper bounds, how much too high at most).

    A frame is (arrival on our clock, ``t`` ms since the server received the request). The server's
    origin on our clock is not told, but it lies after we wrote the request and before every
    arrival − t. The earliest origin gives upper bounds; the latest shows by how much they may err.
    """
    if not frames:
        return [], 0.0
    latest_ms = min(at_ns / 1e6 - t_ms for at_ns, t_ms in frames)
    return [at_ns / 1e6 - (written_ns / 1e6 + t_ms) for at_ns, t_ms in frames], latest_ms - written_ns / 1e6
