"""A hall of phones in one room and its teacher, for the room load.

It drives a round and collects when each phone had each token. It refuses to know how the server is
started and what the numbers are for.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bench.room_phone import Head, Phone

_LIMIT_S = 120.0
_PINGS = 20


@dataclass(slots=True)
class Round:
    """What the phones heard of lane a of one stimulus. Times in ms on the server's clock."""

    started_ms: float = 0.0
    #: seq -> when it was made, ms after the beginning
    made_ms: dict[int, float] = field(default_factory=dict)
    #: phone -> [(first seq of a frame, last seq, when it came)]
    came: dict[Phone, list[tuple[int, int, float]]] = field(default_factory=lambda: defaultdict(list))
    ended: set[Phone] = field(default_factory=set)
    #: Who is slow or frozen on purpose: its own delays are no news.
    aside: set[Phone] = field(default_factory=set)

    def delays_ms(self) -> list[float]:
        """Of every token on every other phone; a merged frame counts for each of its tokens."""
        return [
            at_ms - self.started_ms - self.made_ms[seq]
            for phone, frames in self.came.items()
            if phone not in self.aside
            for first, last, at_ms in frames
            for seq in range(first, last + 1)
            if seq in self.made_ms
        ]

    def merged(self) -> float:
        """Share of tokens that came in one frame with others."""
        sizes = [last - first + 1 for frames in self.came.values() for first, last, _ in frames]
        return sum(size for size in sizes if size > 1) / max(1, sum(sizes))

    def is_whole(self, phone: Phone) -> bool:
        """Whether it had every token, in order, once: each frame begins behind the last."""
        ends = [0, *(last for _, last, _ in self.came[phone])]
        begins = [first for first, _, _ in self.came[phone]]
        return phone in self.ended and begins == [end + 1 for end in ends[:-1]]


class Hall:
    """All phones of one room, and the teacher."""

    def __init__(self, port: int, code: str, cookie: str) -> None:
        self._port = port
        self.code = code
        self._cookie = cookie
        self._round = Round()
        self._origin_ns: int | None = None
        self._round_trip_ns = 0
        self._pinged_ns = 0
        self._state: dict[str, Any] = {}
        self._changed = asyncio.Event()
        self._teacher = Phone(port, code, self._teacher_heard)
        self._frozen: set[Phone] = set()
        self._slow: set[Phone] = set()
        self.phones: list[Phone] = []

    async def open(self) -> None:
        """The teacher comes in, and finds out what the server's clock says."""
        await self._teacher.join({"type": "hello", "role": "host"}, self._cookie)
        for _ in range(_PINGS):
            self._pinged_ns = time.monotonic_ns()
            self._teacher.say({"type": "ping", "t": 0})
            await asyncio.sleep(0.02)

    async def storm(self, count: int, seconds: float) -> list[float]:
        """So many join within so long; how long each took until it had the state, in ms."""

        async def one(number: int) -> float:
            await asyncio.sleep(seconds * number / count)
            began_ns = time.monotonic_ns()
            phone = Phone(self._port, self.code, self._heard)
            await phone.join()
            self.phones.append(phone)
            return (time.monotonic_ns() - began_ns) / 1e6

        return await asyncio.gather(*[one(number) for number in range(count)])

    def freeze(self, phone: Phone) -> None:
        """This one reads nothing any more and is not waited for."""
        phone.freeze()
        self._frozen.add(phone)

    def thaw(self) -> None:
        """The frozen ones read again."""
        for phone in self._frozen:
            phone.thaw()
        self._frozen.clear()

    async def add_slow(self, bytes_per_s: float) -> Phone:
        """One more, which reads so little from its first byte on; it is waited for."""
        phone = Phone(self._port, self.code, self._heard, bytes_per_s)
        await phone.join()
        self.phones.append(phone)
        self._slow.add(phone)
        return phone

    async def play(self, tokens: int) -> Round:
        """One stimulus, to its end on every phone that reads."""
        self._round = Round(aside=self._frozen | self._slow)
        plan = {"prompt": "Count.", "max_tokens": tokens, "ignore_eos": True}
        self._teacher.say({"type": "open_round", "plan": plan})
        await self._until(lambda: self._state["phase"] == "predict")
        self._teacher.say({"type": "advance", "to": "watch", "since": "predict"})
        await self._until(lambda: len(self._round.ended) == len(self.phones) - len(self._frozen))
        await self._until(lambda: self._state["round"]["stimulus"]["state"] == "ended")
        self._round.started_ms = self._state["round"]["stimulus"]["started_ms"]
        self._teacher.say({"type": "advance", "to": "idle", "since": "watch"})
        await self._until(lambda: self._state["phase"] == "idle")
        return self._round

    def close(self) -> None:
        for phone in (*self.phones, self._teacher):
            phone.leave()

    # Private

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(_LIMIT_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    def _heard(self, phone: Phone, head: Head, frame: bytes, now_ns: int) -> None:
        if head.type != "text" or head.lane != "a":
            return
        assert self._origin_ns is not None
        if head.pieces == 1:
            self._round.made_ms.setdefault(head.seq, head.t)
        at_ms = (now_ns - self._origin_ns) / 1e6
        self._round.came[phone].append((head.seq - head.pieces + 1, head.seq, at_ms))
        if head.end is not None:
            self._round.ended.add(phone)
            self._changed.set()

    def _teacher_heard(self, phone: Phone, head: Head, frame: bytes, now_ns: int) -> None:
        if head.type == "pong":
            round_trip_ns = now_ns - self._pinged_ns
            if self._origin_ns is None or round_trip_ns < self._round_trip_ns:
                self._round_trip_ns = round_trip_ns
                self._origin_ns = (now_ns + self._pinged_ns) // 2 - round(head.t * 1e6)
        elif head.type == "room":
            self._state = msgspec.json.decode(frame)
            self._changed.set()
