"""Observations: all that an examination has seen, and nothing of what it means. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from app.client.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Leaving:
    """What became of a generation whose reader left; times in ms.

    ``remaining_ms`` is how long it would have gone on, at least. ``stopped_ms``: after so long the
    server's own count of running generations was back where it was; None with ``counted``: not within the
    time that we looked. Without a count, questions tell: one asked alone, one after leaving, one beside a
    reader who stays.
    """

    remaining_ms: float
    counted: bool = False
    stopped_ms: float | None = None
    alone_ms: float | None = None
    after_ms: float | None = None
    beside_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """``dialect`` by name. Every exchange but ``streamed`` may be missing."""

    dialect: str
    #: Asked as a browser or an SDK asks: compression welcome.
    streamed: Exchange
    #: The same without compression; only when ``streamed`` came compressed.
    uncompressed: Exchange | None = None
    #: The same and much shorter, asked first.
    short: Exchange | None = None
    #: The same in one piece.
    whole: Exchange | None = None
    #: A request that has to be refused.
    refusal: Exchange | None = None
    leaving: Leaving | None = None
    #: Why there is no ``leaving``.
    leaving_note: str | None = None
    #: Firstword's own timed ticks.
    probe: Exchange | None = None
