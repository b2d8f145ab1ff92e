"""The recorder: what was asked, what was told, and by what, become a recording. Pure.

It refuses to know where the events are from and where the file goes; it takes the clock's reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from app.errors import BadRequest
from app.events import AnyEvent, Delta, Done, Paused, Queued, Resumed, Started
from app.prompt import Message
from app.replay import recording as file
from app.replay.recording import Asked, Event, Hardware, Model, Recording, Said

_KEPT = (Queued, Started, Delta, Paused, Resumed, Done)


def record(
    events: Sequence[AnyEvent],
    *,
    id: str,
    title: str,
    made_at: datetime,
    made_by: str,
    messages: Sequence[Message],
    settings: Mapping[str, Any],
    model: Model,
    hardware: Hardware,
) -> Recording:
    """A recording of one whole reply, read at pace token; pings and the like are left out.

    Raises BadRequest when the reply did not end well, or when it could not be read back.
    """
    kept: list[Event] = [event for event in events if isinstance(event, _KEPT)]
    if not kept or not isinstance(kept[-1], Done):
        raise BadRequest("only a reply that is over and did not fail can be recorded")
    text = "".join(event.text for event in kept if isinstance(event, Delta))
    made = Recording(
        format=file.FORMAT,
        version=file.VERSION,
        id=id,
        title=title,
        made_at=made_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        made_by=made_by,
        prompt=Asked(list(messages), dict(settings)),
        model=model,
        hardware=hardware,
        reply=Said(kept[-1].reply, text, file.sha256_of(text), kept),
    )
    # What is written has to be readable: better told now than when a class is waiting.
    return file.read_recording(file.recording_bytes(made))
