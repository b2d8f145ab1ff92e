"""The library: the recordings that ship with Firstword, each with a player of its own.

So a lesson works while the model loads, or without one. It refuses to know how they were made and
who asks for them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from app.errors import NotFound
from app.replay.player import Player
from app.replay.recording import Recording, load_recording

_FOLDER = Path(__file__).parent / "recordings"


class Card(msgspec.Struct, frozen=True):
    """What a list of recordings says about each; times in ms since the request was received."""

    id: str
    title: str
    model: str
    tokens: int
    first_ms: float | None
    total_ms: float


class Library:
    """The recordings of one folder, by id, read once. Raises BadRequest when one is no good."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        found = [load_recording(path) for path in sorted(folder.glob("*.json"))]
        self._players = {recording.id: Player(recording) for recording in found}

    def cards(self) -> list[Card]:
        """All of them, in the order of their file names."""
        return [card_of(player.recording) for player in self._players.values()]

    def recording(self, id: str) -> Recording:
        """Raises NotFound, naming those there are."""
        return self.player(id).recording

    def player(self, id: str) -> Player:
        """The engine that plays it; always the same one. Raises NotFound."""
        player = self._players.get(id)
        if player is None:
            known = ", ".join(self._players) or "none"
            raise NotFound(f"no recording {id[:64]!r}; there are: {known}", param="recording")
        return player


@cache
def shipped() -> Library:
    """The recordings of this installation."""
    return Library()


def card_of(recording: Recording) -> Card:
    """A recording in one line."""
    deltas, done = recording.reply.deltas, recording.reply.done
    return Card(
        recording.id,
        recording.title,
        recording.model.name,
        done.usage.completion_tokens,
        deltas[0].t if deltas else None,
        done.t,
    )
