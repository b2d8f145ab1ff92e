"""What a reply came to, told at its end: the tokens it used and where its time went. Pure.

The engine stamps when it did what; here the stamps become spans on the reader's clock, which begins
when the request was received. It refuses to know logs and readers.
"""

from __future__ import annotations

from app.events import Timings, Usage
from app.generation import Ended


def usage_of(ended: Ended) -> Usage:
    """Tokens of the prompt and of the text."""
    return Usage(
        ended.prompt_tokens,
        ended.completion_tokens,
        ended.prompt_tokens + ended.completion_tokens,
        ended.cached_tokens,
    )


def timings_of(ended: Ended, received_ns: int) -> Timings:
    """Milliseconds of each stage, as Timings tells them; None where a stage was not reached."""
    return Timings(
        queue_ms=_span_ms(received_ns, ended.begun_ns),
        prefill_ms=_span_ms(ended.begun_ns, ended.first_token_ns),
        first_token_ms=_span_ms(received_ns, ended.first_token_ns),
        decode_ms=_span_ms(ended.first_token_ns, ended.last_token_ns),
        paused_ms=round(ended.paused_ns / 1e6, 3),
        total_ms=round((ended.at_ns - received_ns) / 1e6, 3),
    )


# Private


def _span_ms(start_ns: int | None, end_ns: int | None) -> float | None:
    if start_ns is None or end_ns is None:
        return None
    return round((end_ns - start_ns) / 1e6, 3)
