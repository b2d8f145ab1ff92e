"""Member: what one connection has still to be told, merged until it takes it.

There is no queue. Of each kind of state frame only the newest is kept, and of each lane only how far
this member is. So what a member costs does not grow with how slow it is: at most one frame a kind,
a few answers, and two numbers. A phone that takes nothing at all is waited for by nobody. It refuses
to know sockets and what frames mean.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from app.rooms.lane import Lane
from app.rooms.permission import Actor

#: In the order in which they go out when several wait.
Kind = Literal["room", "me", "pong", "line", "engine"]
_ORDER: tuple[Kind, ...] = ("room", "me", "pong", "line", "engine")
#: Refusals that may wait; a client that does not listen loses the oldest.
_MAX_ANSWERS = 8


class Member:
    """One socket of one actor. ``next`` gives its frames, one at a time, for as long as it lives."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        #: The short way for text when nothing waits: takes a frame at once, or says that it cannot.
        self.push: Callable[[str], bool] = lambda frame: False
        #: The revision of the room's state, and the private view, that this member was told last.
        self.revision = 0
        self.shown = b""
        #: (close code, reason) once the room has shown it out.
        self.dismissed: tuple[int, str] | None = None
        self._latest: dict[Kind, str] = {}
        self._answers: deque[str] = deque(maxlen=_MAX_ANSWERS)
        self._lanes: list[Lane] = []
        self._places: list[int] = []
        self._wake = asyncio.Event()

    def tell(self, kind: Kind, frame: str) -> None:
        """State of a kind: it replaces what of this kind has not gone out yet."""
        self._latest[kind] = frame
        self._wake.set()

    def answer(self, frame: str) -> None:
        """An answer to something that this member has said."""
        self._answers.append(frame)
        self._wake.set()

    def follow(self, lanes: Sequence[Lane]) -> None:
        """Read these lanes from their beginning; what was read before is over."""
        self._lanes = list(lanes)
        self._places = [0] * len(lanes)
        self._wake.set()

    def poke(self) -> None:
        """A lane has more. Who keeps up gets it at once; waking five hundred tasks would take longer."""
        waits = self._latest or self._answers or self.dismissed is not None
        if waits or not self._push_text():
            self._wake.set()

    def dismiss(self, code: int, reason: str) -> None:
        """Show this member out, after what it is still to be told."""
        self.dismissed = (code, reason)
        self._wake.set()

    async def next(self) -> str | None:
        """The next frame; waits for one. None: it was dismissed."""
        while (frame := self._take()) is None:
            if self.dismissed is not None:
                return None
            self._wake.clear()
            await self._wake.wait()
        return frame

    # Private

    def _push_text(self) -> bool:
        """Whether everything went."""
        for index, lane in enumerate(self._lanes):
            place = self._places[index]
            if place < lane.head:
                if not self.push(lane.frame(place)):
                    return False
                self._places[index] = lane.head
        return True

    def _take(self) -> str | None:
        # Answers come after the state that they may be about, and never starve text.
        for kind in _ORDER[:2]:
            if (frame := self._latest.pop(kind, None)) is not None:
                return frame
        if self._answers:
            return self._answers.popleft()
        for index, lane in enumerate(self._lanes):
            if self._places[index] < lane.head:
                frame = lane.frame(self._places[index])
                self._places[index] = lane.head
                return frame
        for kind in _ORDER[2:]:
            if (frame := self._latest.pop(kind, None)) is not None:
                return frame
        return None
