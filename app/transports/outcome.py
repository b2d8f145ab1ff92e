"""What became of one reply: the error it ended by, or its text and how it came to its end. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import EngineFailed, FirstwordError, from_code
from app.events import AnyEvent, Delta, Done, Error
from app.generation import TokenInfo


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text of a reply that came to its own end, and how."""

    text: str
    info: list[TokenInfo]
    done: Done


def failure(event: AnyEvent) -> FirstwordError | None:
    """The error that ``event`` tells of, if it does.

    Being stopped by somebody is one: the vendors have no word for it, and it is no success.
    """
    match event:
        case Error():
            return from_code(event.code, event.message, event.param)
        case Done(finish_reason="cancelled"):
            return EngineFailed("The generation was stopped before it had come to an end.")
    return None


def outcome(events: Iterable[AnyEvent]) -> Outcome:
    """Sum up the events of a reply that has not failed."""
    text, info, done = "", [], None
    for event in events:
        match event:
            case Delta():
                text += event.text
                info += event.info
            case Done():
                done = event
    assert done is not None, "the reply is over"
    return Outcome(text, info, done)
