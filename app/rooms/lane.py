"""Lane: one lane's released text, kept once and encoded once for everybody who reads it.

A reader is nothing but a place in it: how many pieces it has had. Who keeps up gets each piece in
the very frame that all others get; who is behind gets everything it misses as one piece. So a slow
phone, a late one and one that comes back cost no memory of their own. Bounded by the reply's
length. Pure; it refuses to know sockets and where the text comes from.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.rooms.ballot import LaneId


class Text(msgspec.Struct, frozen=True, tag="text", omit_defaults=True):
    """``pieces`` pieces of a lane, the last of which is number ``seq``; ``t`` ms after the beginning.

    ``end`` is there when nothing follows: a finish reason, or ``failed``.
    """

    stimulus: str
    lane: LaneId
    seq: int
    pieces: int
    text: str
    tokens: int
    t: float
    end: Literal["stop", "length", "cancelled", "failed"] | None = None


class Lane:
    """One lane of one playing of a stimulus."""

    def __init__(self, stimulus: str, id: LaneId) -> None:
        self.stimulus = stimulus
        self.id = id
        self._pieces: list[Text] = []
        #: Frames from a place to the present end; forgotten as soon as there is more.
        self._frames: dict[int, str] = {}

    @property
    def head(self) -> int:
        """How many pieces there are: the place of a reader that has everything."""
        return len(self._pieces)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self._pieces)

    @property
    def ended(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].end is not None

    def append(self, text: str, tokens: int, t: float) -> None:
        """A piece more."""
        assert not self.ended
        self._add(Text(self.stimulus, self.id, self.head + 1, 1, text, tokens, t))

    def end(self, how: Literal["stop", "length", "cancelled", "failed"], t: float) -> None:
        """Nothing follows; idempotent."""
        if not self.ended:
            self._add(Text(self.stimulus, self.id, self.head + 1, 1, "", 0, t, how))

    def frame(self, place: int) -> str:
        """All after ``place`` as one frame; there has to be something."""
        assert 0 <= place < self.head
        if (frame := self._frames.get(place)) is None:
            frame = self._frames[place] = msgspec.json.encode(_merge(self._pieces[place:])).decode()
        return frame

    # Private

    def _add(self, piece: Text) -> None:
        self._pieces.append(piece)
        self._frames.clear()


def _merge(pieces: list[Text]) -> Text:
    if len(pieces) == 1:
        return pieces[0]
    return msgspec.structs.replace(
        pieces[-1],
        pieces=len(pieces),
        text="".join(piece.text for piece in pieces),
        tokens=sum(piece.tokens for piece in pieces),
    )
