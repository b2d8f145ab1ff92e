"""Recordings for tests, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from app.events import AnyEvent, Delta, Done, Queued, Started, Timings, Usage
from app.prompt import Message
from app.replay.recorder import record
from app.replay.recording import Hardware, Model, Recording, recording_bytes

#: (text, tokens, t in ms)
Pieces = Sequence[tuple[str, int, float]]
PIECES: Pieces = [("Hello", 1, 100.0), (", wide", 2, 180.0), (" world", 1, 1500.0), ("! 🫖", 3, 1600.0)]


def events_of(pieces: Pieces = PIECES, *, end_ms: float | None = None) -> list[AnyEvent]:
    """A whole reply that begins after 20 ms and ends 10 ms behind its last piece."""
    first_ms = pieces[0][2] if pieces else 20.0
    last_ms = pieces[-1][2] if pieces else 20.0
    total_ms = last_ms + 10 if end_ms is None else end_ms
    made = sum(tokens for _, tokens, _ in pieces)
    timings = Timings(20.0, first_ms - 20.0, first_ms, last_ms - first_ms, 0.0, total_ms)
    return [
        Queued("r", 0, 0.5),
        Started("r", "tiny", 7, 2, 20.0),
        *(Delta("r", seq, text, tokens, t) for seq, (text, tokens, t) in enumerate(pieces, 1)),
        Done("r", len(pieces), "stop", Usage(7, made, 7 + made, 2), timings, total_ms),
    ]


def sample(pieces: Pieces = PIECES, *, events: list[AnyEvent] | None = None, **changes: Any) -> Recording:
    """A recording of these pieces, or of these events."""
    return record(
        events_of(pieces) if events is None else events,
        **{
            "id": "sample",
            "title": "A sample",
            "made_at": datetime(2026, 5, 4, 12, 30, tzinfo=UTC),
            "made_by": "firstword 0.0.0",
            "messages": [Message("user", "Say hello.")],
            "settings": {"max_tokens": 50, "seed": 1},
            "model": Model("tiny", "cpu", "float32"),
            "hardware": Hardware("A processor", 2, 8.0, "Linux x86_64"),
            **changes,
        },
    )


def as_json(recording: Recording) -> dict[str, Any]:
    """The file's content, to be spoilt."""
    content = msgspec.json.decode(recording_bytes(recording))
    assert isinstance(content, dict)
    return content
