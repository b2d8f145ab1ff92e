"""The gate: which of the waiting users may go to the engine now, under three ways of batching. Pure.

    iteration   whoever comes goes in at once: the engine looks at its batch before every step
    request     a group goes in together, and the next one when the last of it has finished
    single      one after another

The engine itself always works by iterations; the gate takes that away from it, so the three can be
compared on the same engine. It refuses to know time and replies.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

Batching = Literal["iteration", "request", "single"]
BATCHINGS: tuple[Batching, ...] = ("iteration", "request", "single")


class Gate:
    """Users by number: ``arrive``, then once let in by ``admit``, then ``leave``."""

    def __init__(self, batching: Batching, group: int) -> None:
        self._batching = batching
        self._group = group
        self._waiting: deque[int] = deque()
        self._inside: set[int] = set()

    def arrive(self, number: int) -> None:
        """A user stands at the gate."""
        self._waiting.append(number)

    def leave(self, number: int) -> None:
        """A user's answer is over."""
        self._inside.discard(number)

    def admit(self) -> list[int]:
        """Whom to let in now, the longest waiting first."""
        if self._batching != "iteration" and self._inside:
            return []
        room = {"iteration": len(self._waiting), "request": self._group, "single": 1}[self._batching]
        going = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
        self._inside.update(going)
        return going
