"""Rhythm: in which bursts an answer's text arrived. Pure.

A burst is what arrives without a pause that a person or a model could have made. Frames in one burst
were written, or handed on, together. It refuses to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from app.client.exchange import Exchange

#: Reads closer than this belong together: the fastest models need as long for one token.
_PAUSE_NS = 1_500_000


@dataclass(frozen=True, slots=True)
class Burst:
    """``pieces``: pieces of text in it; ``chars``: their length; ``wire_bytes``: of the body, all of it."""

    at_ns: int
    wire_bytes: int
    pieces: int
    chars: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """A moment of a reply: its share of the text, its bursts and pieces, and when it began."""

    share: float
    bursts: int
    pieces: int
    at_ms: float


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Times in ms since the question was sent; None: no text came."""

    sent_ns: int
    bursts: tuple[Burst, ...]
    pieces: int
    chars: int
    head_ms: float | None
    first_ms: float | None
    last_ms: float | None

    @property
    def crowd(self) -> Crowd:
        """The moment that brought most of the text: as long as fifty such moments make the reply."""
        best = Crowd(0.0, 0, 0, 0.0)
        moment_ns = max(_PAUSE_NS, (self.last_ms or 0.0) * 1e6 / 50)
        for begin, first in enumerate(self.bursts):
            inside = [burst for burst in self.bursts[begin:] if burst.at_ns - first.at_ns <= moment_ns]
            share = sum(burst.chars for burst in inside) / self.chars
            if share > best.share:
                pieces = sum(burst.pieces for burst in inside)
                best = Crowd(share, len(inside), pieces, (first.at_ns - self.sent_ns) / 1e6)
        return best

    @property
    def sizes(self) -> list[int]:
        """Bytes of the bursts but the last, which holds whatever was left."""
        return [burst.wire_bytes for burst in self.bursts[:-1]]

    @property
    def intervals_ms(self) -> list[float]:
        """Between successive bursts, but the last, which comes when the answer ends, if there are others."""
        inner = self.bursts[:-1] if len(self.bursts) > 3 else self.bursts
        return [(later.at_ns - earlier.at_ns) / 1e6 for earlier, later in pairwise(inner)]

    @property
    def pieces_per_burst(self) -> float:
        """The median."""
        return median([burst.pieces for burst in self.bursts[:-1]]) if len(self.bursts) > 1 else self.pieces


def rhythm_of(exchange: Exchange) -> Rhythm:
    """The rhythm of an answer; bursts without text (a head's frames, the end) are left out."""
    pieces: dict[int, tuple[int, int]] = {}
    for delta in exchange.deltas:
        count, chars = pieces.get(delta.at_ns, (0, 0))
        pieces[delta.at_ns] = (count + 1, chars + len(delta.text))
    bursts: list[Burst] = []
    last_ns = None
    for read in exchange.reads:
        count, chars = pieces.pop(read.at_ns, (0, 0))
        if last_ns is not None and read.at_ns - last_ns < _PAUSE_NS:
            before = bursts.pop()
            bursts.append(
                Burst(
                    before.at_ns,
                    before.wire_bytes + read.wire_bytes,
                    before.pieces + count,
                    before.chars + chars,
                )
            )
        else:
            bursts.append(Burst(read.at_ns, read.wire_bytes, count, chars))
        last_ns = read.at_ns
    sent_ns, deltas = exchange.sent_ns, exchange.deltas
    return Rhythm(
        sent_ns,
        tuple(burst for burst in bursts if burst.pieces),
        len(deltas),
        sum(len(delta.text) for delta in deltas),
        (exchange.head.at_ns - sent_ns) / 1e6 if exchange.head is not None else None,
        (deltas[0].at_ns - sent_ns) / 1e6 if deltas else None,
        (deltas[-1].at_ns - sent_ns) / 1e6 if deltas else None,
    )


def regular(values: Sequence[float], tolerance: float, share: float = 0.8) -> float | None:
    """The beat when ``share`` of the values lie within ``tolerance`` of one or two beats, else None."""
    if len(values) < 2:
        return None
    beat = median(values)
    close = sum(any(abs(value - k * beat) <= tolerance * k * beat for k in (1, 2)) for value in values)
    return beat if beat > 0 and close >= share * len(values) else None
