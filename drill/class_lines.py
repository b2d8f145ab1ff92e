"""F03 and F05: a class of which one phone has hardly a line, and a class that comes all at once, twice."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from drill.case import Finding, Scale
from drill.classroom import LANES, Classroom, Member, classroom
from drill.network import GOOD, HERE, Quality, line
from drill.served import served, within
from drill.streams import p95, unharmed

_SLOW = Quality(kbit_s=8)
#: As many as a stimulus may have; a narrow line takes longer for them than they last.
_WORDS: list[list[object]] = [[f"word{number} ", 100.0] for number in range(160)]
_ALL_READ_S = 120.0
_TEXT = "".join(str(text) for text, _ in _WORDS)
_PLAN = {"prompt": "Count.", "ask_prediction": False, "ask_felt": False}
#: The criterion is 128 KiB for the slow phone; the whole process is what can be measured.
_MOST_KIB = 1024
#: Tries to connect in a second after the restart.
_MOST_CONNECTS = 60


async def slow_phone(scale: Scale) -> Finding:
    """F03: one stimulus for everybody on good lines, then again with one phone at 8 kbit/s."""
    num = 100 if scale.quick else 300
    async with (
        line() as way,
        served(host=HERE, script_tokens=_WORDS) as server,
        classroom(server) as room,
        AsyncExitStack() as stack,
    ):
        teacher = await stack.enter_async_context(room.teacher())
        ids = [await room.join() for _ in range(num)]
        sock = way.socket()
        await asyncio.get_running_loop().sock_connect(sock, (HERE, server.port))
        slow = await stack.enter_async_context(room.phone(ids[0], sock))
        others = [await stack.enter_async_context(room.phone(id)) for id in ids[1:]]
        await teacher.say("open_round", plan=_PLAN)
        await teacher.until(lambda: teacher.room["round"])
        calm = await _watch(teacher, slow, others)
        way.quality = _SLOW
        before = server.cost()
        during = await _watch(teacher, slow, others)
        kib = (server.cost().rss - before.rss) / 1024
        got = len(slow.heard_ms)
        same = all(member.text == dict.fromkeys(LANES, _TEXT) for member in [slow, *others])
        way.quality = GOOD
    # The server's clock begins somewhere; the quickest frame of both plays counts as without a lag.
    least = min(*calm, *during)
    calm, during = ([lag - least for lag in lags] for lags in (calm, during))
    return Finding(
        f"{num} phones, {len(_WORDS)} tokens in 16 s: the others' lag p95 {p95(calm):.0f} ms, then "
        f"{p95(during):.0f} ms; the slow phone got {got} frames, all the same text: {same}; "
        f"server {kib:+.0f} KiB",
        same and unharmed(calm, during) and kib <= _MOST_KIB,
    )


async def storm(scale: Scale) -> Finding:
    """F05: so many phones in ten seconds; then the server is started again and all come back."""
    num = 200 if scale.quick else 500
    with tempfile.TemporaryDirectory() as folder:
        again = {"FIRSTWORD_ROOMS_FILE": f"{folder}/rooms"}
        async with AsyncExitStack() as stack:
            async with served(environ=again) as server, classroom(server) as room:
                chance = random.Random(5)
                phones = [_Phone(room, chance.random()) for _ in range(num)]
                running = [asyncio.ensure_future(phone.run(chance.random() * 10)) for phone in phones]
                stack.push_async_callback(_end, running)
                joined = await _until_all(phones, lambda phone: phone.joined_s is not None, 30)
                first = {phone.epoch for phone in phones}
            port = server.port
            went_s = time.monotonic()
            async with served(port=port, environ=again) as server:
                back = await _until_all(phones, lambda phone: phone.epoch not in first, 45)
                back_s = time.monotonic() - went_s
                lag_ms = await server.late_ms(0.99)
    took = [phone.joined_s for phone in phones if phone.joined_s is not None]
    busiest = max(Counter(int(at_s) for phone in phones for at_s in phone.tried_s if at_s > went_s).values())
    return Finding(
        f"{num} phones in 10 s: all in the room {joined}, p95 {p95(took):.2f} s; after a restart all back: "
        f"{back}, within {back_s:.0f} s, {busiest} tries in the busiest second, "
        f"event loop late p99 <= {lag_ms:g} ms",
        joined and p95(took) <= 5 and back and back_s <= 30 and busiest <= _MOST_CONNECTS,
    )


# Private


class _Phone:
    """A phone of the storm; it waits between tries as static/js/rooms/room_status.js does."""

    def __init__(self, room: Classroom, seed: float) -> None:
        self._room = room
        self._chance = random.Random(seed)
        self.joined_s: float | None = None
        self.epoch = ""
        self.tried_s: list[float] = []

    async def run(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        began_s = time.monotonic()
        id = await self._room.join()
        failures, code, people = 0, None, 0
        while True:
            self.tried_s.append(time.monotonic())
            try:
                async with self._room.phone(id) as member:
                    failures = 0
                    self.epoch = member.epoch
                    self.joined_s = self.joined_s or time.monotonic() - began_s
                    await member.connection.wait_closed()
                    code, people = member.connection.close_code, member.room["class_size"]
            except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
                failures += 1
            soon_s = min(20.0, max(2.0, people * 0.033))
            most_s = soon_s if failures == 0 and code != 1012 else 20.0
            await asyncio.sleep(0.5 + self._chance.random() * (most_s - 0.5))


async def _watch(teacher: Member, slow: Member, others: list[Member]) -> list[float]:
    """Play the stimulus (again) until everybody has all of it; the others' lags in milliseconds."""
    everybody = [slow, *others]
    seen = {member.stimulus for member in everybody}
    for member in everybody:
        member.heard_ms.clear()
    await teacher.say("advance", to="watch", since=teacher.room["phase"])
    for member in everybody:
        await member.until(partial(_has_all, member, seen), _ALL_READ_S)
    began_ms = teacher.room["round"]["stimulus"]["started_ms"]
    return [heard_ms - began_ms for member in others for heard_ms in member.heard_ms]


def _has_all(member: Member, seen: set[str]) -> bool:
    """Whether a stimulus that was not ``seen`` has come to its end here."""
    return member.stimulus not in seen and set(member.ends) == set(LANES)


async def _until_all(phones: list[_Phone], holds: Callable[[_Phone], bool], seconds: float) -> bool:
    return await within(seconds, lambda: all(holds(phone) for phone in phones))


async def _end(running: Sequence[asyncio.Future[None]]) -> None:
    for each in running:
        each.cancel()
    await asyncio.gather(*running, return_exceptions=True)
