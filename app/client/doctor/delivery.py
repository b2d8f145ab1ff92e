"""Delivery: does the text arrive as it is made, and if not, who keeps it? Pure.

The questions are asked in an order in which each answer is safe: everything at once; generated first
and dealt out later; in clumps, by size or by time. It refuses to know headers and contracts beyond what
names the culprit.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.client.doctor.finding import Finding, error, warning
from app.client.doctor.observations import Observations
from app.client.doctor.proxies import fix_on_the_way, seen_on_the_way
from app.client.doctor.rhythm import Rhythm, regular, rhythm_of
from app.client.exchange import Exchange

#: A moment with this share of the text brought all of it.
_ALL = 0.8
#: Text too short, or over too soon, to tell a burst from a fast model.
_MIN_CHARS, _MIN_MS = 60, 120.0
#: So many pieces, or words where a wire has no pieces, together are not how a model makes them …
_CLUMP_PIECES = 4
#: … when the pauses between are so long; and so long, when only the pauses are regular.
_CLUMP_MS, _TIMER_MS = 60.0, 150.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """``streams`` None: it could not be told, and a note says why."""

    streams: bool | None
    findings: list[Finding]
    notes: list[str]


def judge(seen: Observations) -> Delivery:
    """Everything about how the streamed answer arrived."""
    rhythm = rhythm_of(seen.streamed)
    if rhythm.first_ms is None or rhythm.last_ms is None:
        return Delivery(None, [], ["No text came, so that nothing can be said of its delivery."])
    if rhythm.chars < _MIN_CHARS or rhythm.last_ms < _MIN_MS:
        short = f"The reply had {rhythm.chars} characters and was over after {rhythm.last_ms:.0f} ms"
        return Delivery(None, [], [f"{short}: too little to tell. Ask for more with --max-tokens."])
    if all_at_once(seen.streamed):
        return Delivery(False, [_all_at_once(seen, rhythm)], [])
    fake = _fake(seen, rhythm)
    if fake is not None:
        return Delivery(False, [fake], [])
    clumps = _clumps(seen, rhythm)
    return Delivery(True, [clumps] if clumps is not None else [], [])


def all_at_once(exchange: Exchange) -> bool:
    """Whether one moment brought (nearly) all the text, and in larger portions than it was made in.

    A fast model behind a long prefill says everything in a moment, too, but piece by piece.
    """
    crowd = rhythm_of(exchange).crowd
    portions = max(crowd.pieces, len(exchange.text.split()) * crowd.share) / max(1, crowd.bursts)
    return crowd.share >= _ALL and portions >= _CLUMP_PIECES


# Private


def _all_at_once(seen: Observations, rhythm: Rhythm) -> Finding:
    head = seen.streamed.head
    crowd = rhythm.crowd
    what = (
        f"{crowd.share:.0%} of the text came in one burst after {crowd.at_ms / 1000:.2f} s; "
        f"the reply was over after {(rhythm.last_ms or 0) / 1000:.2f} s."
    )
    encoding = head.get("content-encoding") if head is not None else None
    plain = seen.uncompressed
    if encoding and plain is not None and not all_at_once(plain) and plain.deltas:
        first_ms = rhythm_of(plain).first_ms or 0.0
        return error(
            "compression-buffers",
            f"{what} It came compressed ({encoding}); without compression the first text comes after "
            f"{first_ms / 1000:.2f} s and streams.",
        )
    if seen.probe is not None and _probe_in_one_burst(seen.probe):
        fix = fix_on_the_way("buffered-on-the-way", head)
        return error(
            "buffered-on-the-way", f"{what} The server's own timed ticks came in one burst, too.", fix
        )
    length = head.get("content-length") if head is not None else None
    if length is not None:
        return error("content-length", f"{what} The head announced its length: {length} bytes.")
    chunks = sum(read.chunks for read in seen.streamed.reads)
    if chunks == 1:
        return error("one-chunk", f"{what} It was a single chunk of {rhythm.chars} characters.")
    fix = fix_on_the_way("buffers-everything", head)
    return error("buffers-everything", what + seen_on_the_way(head), fix)


def _probe_in_one_burst(probe: Exchange) -> bool:
    """Ticks are due evenly over seconds; half of them together were kept by somebody."""
    return probe.error is None and rhythm_of(probe).crowd.share >= 0.5


def _fake(seen: Observations, rhythm: Rhythm) -> Finding | None:
    """Generated first: the first word takes as long as the whole reply, and less for a shorter one."""
    assert rhythm.first_ms is not None and rhythm.last_ms is not None
    first_ms, whole_ms = rhythm.first_ms, _whole_ms(seen.whole)
    if first_ms < (0.7 * whole_ms if whole_ms is not None else 0.5 * rhythm.last_ms):
        return None
    if _many_in_one(seen, rhythm):
        # What is dealt out comes piece by piece; this is a buffer that has to fill first.
        return None
    short = rhythm_of(seen.short) if seen.short is not None else None
    if short is not None and short.first_ms is not None and short.chars <= 0.5 * rhythm.chars:
        # The server makes shorter replies when asked to: then the first word must not depend on it.
        grows = short.first_ms <= 0.6 * first_ms
        evidence = f"; asked for a shorter reply, already after {short.first_ms / 1000:.2f} s"
    elif whole_ms is not None:
        # It does not: then the dealing out comes on top of the time that the reply takes.
        grows = rhythm.last_ms - whole_ms >= 0.5 * (rhythm.last_ms - first_ms)
        evidence = ", and dealing it out comes on top"
    else:
        return None
    if not grows:
        return None
    whole = f" (the whole reply takes {whole_ms / 1000:.2f} s)" if whole_ms is not None else ""
    beat = regular(rhythm.intervals_ms, 0.15)
    even = f" Then it comes remarkably evenly, every {beat:.0f} ms." if beat is not None else ""
    return error(
        "fake-streaming", f"The first word comes after {first_ms / 1000:.2f} s{whole}{evidence}.{even}"
    )


def _whole_ms(whole: Exchange | None) -> float | None:
    return rhythm_of(whole).last_ms if whole is not None and whole.error is None else None


def _clumps(seen: Observations, rhythm: Rhythm) -> Finding | None:
    intervals, sizes = rhythm.intervals_ms, rhythm.sizes
    pause_ms = regular(intervals, tolerance=1e9)  # the median, where there are two or more
    if pause_ms is None or pause_ms < _CLUMP_MS or not _many_in_one(seen, rhythm):
        return None
    head = seen.streamed.head
    what = (
        f"{rhythm.pieces} pieces of text came in {len(rhythm.bursts)} bursts, about "
        f"{rhythm.pieces_per_burst:.0f} at a time, every {pause_ms:.0f} ms."
    )
    size = regular(sizes, tolerance=0.02)
    if size is not None and size >= 512:
        fix = fix_on_the_way("flushes-by-size", head)
        return error(
            "flushes-by-size", f"{what} Each burst has {size:.0f} bytes.{seen_on_the_way(head)}", fix
        )
    if pause_ms < _TIMER_MS:
        return None
    if regular(intervals, tolerance=0.12) is not None:
        return error("flushes-by-time", what + seen_on_the_way(head))
    return warning("arrives-in-clumps", what + seen_on_the_way(head))


def _many_in_one(seen: Observations, rhythm: Rhythm) -> bool:
    """Several frames in a burst; where a wire has no frames, several words."""
    if seen.dialect != "plain":
        return rhythm.pieces_per_burst >= _CLUMP_PIECES
    words = len(seen.streamed.text.split())
    return words / len(rhythm.bursts) >= _CLUMP_PIECES
