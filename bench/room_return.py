"""A class that loses its server and comes back, for the room load.

Each phone follows the page's own rule (static/js/rooms/room_status.js): a first try within a time that
grows with the class, then tries spread over twenty seconds. It refuses to know how the server
is killed and started.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.room_phone import Head, Phone

_FIRST_S, _SOON_S, _EACH_S, _LONGEST_S = 0.5, 2.0, 0.033, 20.0


@dataclass(slots=True)
class Return:
    """What a class's way back was like; times in s after its server was gone."""

    back_s: list[float] = field(default_factory=list)
    #: Whole second in which a connection was asked for that was accepted -> how many there were.
    connects: Counter[int] = field(default_factory=Counter)
    epochs: set[str] = field(default_factory=set)


async def come_back(phones: Sequence[Phone], port: int, code: str, chance: random.Random) -> Return:
    """All phones, whose sockets are gone or going, until the last one has the room's state again."""
    found = Return()
    began_s = time.monotonic()
    soon_s = min(_LONGEST_S, max(_SOON_S, _EACH_S * len(phones)))

    async def one(old: Phone) -> None:
        await old.closed.wait()
        failures = 0
        while True:
            most_s = soon_s if failures == 0 else _LONGEST_S
            await asyncio.sleep(chance.uniform(_FIRST_S, most_s))
            phone = Phone(port, code, _noting(found))
            phone.id = old.id
            asked_s = time.monotonic() - began_s
            try:
                await phone.join()
            except OSError:
                failures += 1
                continue
            found.back_s.append(time.monotonic() - began_s)
            found.connects[int(asked_s)] += 1
            phone.leave()
            return

    await asyncio.gather(*[one(phone) for phone in phones])
    return found


# Private


def _noting(found: Return) -> Callable[[Phone, Head, bytes, int], None]:
    def note(phone: Phone, head: Head, frame: bytes, now_ns: int) -> None:
        if head.type == "room":
            found.epochs.add(head.epoch)

    return note
