"""Streams: honest readers whose gaps say whether a fault is felt by others.

It refuses to know which fault is played.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from websockets.asyncio.client import connect

NUM_OTHERS = 8
Message = dict[str, str]
QUESTION = [{"role": "user", "content": "hello"}]


class Gaps:
    """Gaps between arrivals in milliseconds; ``mark`` begins a new stretch."""

    def __init__(self) -> None:
        self._all: list[float] = []

    def add(self, gap_ms: float) -> None:
        self._all.append(gap_ms)

    def mark(self) -> list[float]:
        """The gaps since the last mark."""
        taken, self._all = self._all, []
        return taken


def p95(values: list[float]) -> float:
    """The value that 95 of 100 do not exceed; of none it is infinite."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] if ordered else float("inf")


def unharmed(calm: list[float], during: list[float], ratio: float = 1.10, grace_ms: float = 5.0) -> bool:
    """Whether p95 rose by no more than the ratio, or the grace where that is more."""
    return p95(during) <= max(p95(calm) * ratio, p95(calm) + grace_ms)


@asynccontextmanager
async def others(ws: str, num: int = NUM_OTHERS) -> AsyncIterator[Gaps]:
    """So many streams that go on for as long as the block is open."""
    gaps = Gaps()
    readers = [asyncio.ensure_future(_read(ws, f"other-{place}", gaps)) for place in range(num)]
    try:
        yield gaps
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply as its reader had it: its text, how it ended (a finish reason or an error's code), and when."""

    text: str
    end: str
    first_s: float
    total_s: float


async def heard(
    ws: str, messages: list[Message], body: dict[str, object], begun: asyncio.Event | None = None
) -> Heard:
    """Ask and read to the end; ``begun`` is set at the first text."""
    text, began_s, first_s = "", time.monotonic(), float("inf")
    async with connect(ws, open_timeout=60, ping_interval=None) as socket:
        await socket.send(json.dumps({"type": "start", "id": "a", "messages": messages, **body}))
        async for message in socket:
            event = json.loads(message)
            match event["type"]:
                case "delta":
                    text += event["text"]
                    first_s = min(first_s, time.monotonic() - began_s)
                    if begun is not None:
                        begun.set()
                case "done":
                    return Heard(text, event["finish_reason"], first_s, time.monotonic() - began_s)
                case "error":
                    return Heard(text, event["code"], first_s, time.monotonic() - began_s)
    return Heard(text, "closed", first_s, time.monotonic() - began_s)


# Private


async def _read(ws: str, id: str, gaps: Gaps) -> None:
    turn = 0
    async with connect(ws) as socket:
        while True:
            turn += 1
            start = {"type": "start", "id": f"{id}-{turn}", "messages": QUESTION, "ignore_eos": True}
            await socket.send(json.dumps(start | {"max_tokens": 1000}))
            last_ns: int | None = None
            async for message in socket:
                event = json.loads(message)
                if event["type"] == "delta":
                    now_ns = time.monotonic_ns()
                    if last_ns is not None:
                        gaps.add((now_ns - last_ns) / 1e6)
                    last_ns = now_ns
                elif event["type"] in ("done", "error"):
                    break
