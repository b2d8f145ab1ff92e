from app.events import Timings, Usage
from app.generation import Ended
from app.reply.ending import timings_of, usage_of

MS = 1_000_000


def test_spans_are_measured_from_when_the_request_was_received():
    ended = Ended(
        "x",
        "stop",
        12,
        3,
        1100 * MS,
        cached_tokens=8,
        begun_ns=1020 * MS,
        first_token_ns=1050 * MS,
        last_token_ns=1090 * MS,
        paused_ns=15 * MS,
    )
    assert usage_of(ended) == Usage(12, 3, 15, 8)
    assert timings_of(ended, 1000 * MS) == Timings(
        queue_ms=20.0, prefill_ms=30.0, first_token_ms=50.0, decode_ms=40.0, paused_ms=15.0, total_ms=100.0
    )


def test_what_was_not_reached_has_no_span():
    ended = Ended("x", "cancelled", 12, 0, 1100 * MS, begun_ns=1020 * MS)
    assert timings_of(ended, 1000 * MS) == Timings(20.0, None, None, None, 0.0, 100.0)
