"""Scene: what one scene found, and waiting for the moment at which a scene turns. Pure values."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scene:
    """``value`` None: it could not be played; ``note`` says why, or gives the numbers behind it."""

    name: str
    formula: str
    value: float | None
    unit: str
    note: str = ""


class Milestone:
    """The moment when each of several answers has so many lines."""

    def __init__(self, answers: int, lines: int) -> None:
        self._lines = [0] * answers
        self._enough = lines
        self._reached = asyncio.Event()

    def counter(self, answer: int = 0) -> Callable[[int], bool]:
        """What is to be told the number of lines of ``answer``; it returns whether it wants to hear more."""

        def count(lines: int) -> bool:
            self._lines[answer] = lines
            if min(self._lines) >= self._enough:
                self._reached.set()
            return lines < self._enough

        return count

    async def or_end_of(self, answers: asyncio.Future[Any]) -> bool:
        """Wait for the milestone or the end of ``answers``; True when they still go on."""
        reached = asyncio.ensure_future(self._reached.wait())
        waited: list[asyncio.Future[Any]] = [reached, answers]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()
        return not answers.done()
