"""SOAK (E2's slice) and E1: clients come and go for minutes; memory, descriptors, tasks and KV stay.

One socket is opened first, says nothing for the whole time, and is asked for a reply at the end. A
class is in a room meanwhile, whose phones come and go too. Longer than most: it has a visitor of every kind.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from drill.case import Finding, Scale
from drill.classroom import Classroom, classroom
from drill.served import Served, served
from drill.streams import QUESTION

NUM_CLIENTS = 50
NUM_PHONES = 10
_SAMPLE_S = 2.0
#: The first part fills caches, allocators and the window of replies that can be resumed.
_WARM_UP = 0.4
#: A megabyte an hour (E2) cannot be told from noise within minutes, so a slice allows this much growth
#: from the end of its warm-up to its own end, however long it is.
_MOST_MIB = 2.0
_SETTLED_S = 8.0


async def soak(scale: Scale, *, model: bool = False) -> Finding:
    """Clients of every kind, some of whom leave in the middle."""
    minutes = scale.lasting(1.0, 2.0)
    # A short slice has to be busy to show anything; an hour is long enough to leave others the machine.
    pause_s = max(0.5, minutes / 4) * (2 if model else 1)
    # Few replies kept, and not for long, so that the plateau is reached within the slice.
    few = {"FIRSTWORD_MAX_REPLIES": "100", "FIRSTWORD_RESUME_S": "5", "FIRSTWORD_MAX_WAITING": "100"}
    async with served(model=model, environ=few) as server, classroom(server) as room:
        before, tasks_before = server.cost(), await server.meter("firstword_tasks")
        end_s = time.monotonic() + minutes * 60
        idle = asyncio.ensure_future(_silent_then_asks(server, minutes * 60 + 1))
        tokens = 8 if model else 60
        visits = Visits()
        clients = [_client(server, number, end_s, pause_s, tokens, visits) for number in range(NUM_CLIENTS)]
        phones = [_phone(room, number, end_s, pause_s, visits) for number in range(NUM_PHONES)]
        everybody = asyncio.gather(*clients, *phones)
        samples = await _watch(server, end_s)
        await everybody
        answered = await idle
        # Replies without a reader live for their window.
        await asyncio.sleep(_SETTLED_S)
        clean = await server.clean(before)
        tasks = await server.meter("firstword_tasks") - tasks_before
        lag_ms = await server.late_ms(0.99)
    grown = _slope(samples[int(len(samples) * _WARM_UP) :]) * minutes * (1 - _WARM_UP) / 2**20
    return Finding(
        f"{NUM_CLIENTS} clients and {NUM_PHONES} phones for {minutes:g} min, {visits}: {grown:+.2f} MiB "
        f"in the last {minutes * (1 - _WARM_UP):g} min, {tasks:+.0f} tasks, clean: {clean}, "
        f"a socket silent all the time was answered: {answered}, event loop late p99 <= {lag_ms:g} ms",
        grown <= _MOST_MIB
        and clean
        and tasks <= 0
        and answered
        and visits.made > NUM_CLIENTS
        and len(visits.failed) <= visits.made / 1000,
    )


soak_model = partial(soak, model=True)


# Private


class Visits:
    """How many were made, and what those that failed died of."""

    def __init__(self) -> None:
        self.made = 0
        self.failed: list[str] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        self.made += 1
        try:
            yield
        except (OSError, TimeoutError, WebSocketException, httpx.HTTPError) as error:
            self.failed.append(type(error).__name__)

    def __str__(self) -> str:
        return f"{self.made} visits, {len(self.failed)} failed {dict(Counter(self.failed))}"


async def _watch(server: Served, end_s: float) -> list[tuple[float, int]]:
    """Minutes and resident bytes until the end."""
    samples: list[tuple[float, int]] = []
    began_s, told = time.monotonic(), -1
    while (now_s := time.monotonic()) < end_s:
        samples.append((now_s / 60, server.cost().rss))
        if (minute := int((now_s - began_s) / 60)) != told:
            told = minute
            print(f"  {minute} min: {samples[-1][1] / 2**20:.1f} MiB", file=sys.stderr, flush=True)
        await asyncio.sleep(_SAMPLE_S)
    return samples


async def _client(
    server: Served, number: int, end_s: float, pause_s: float, most_tokens: int, visits: Visits
) -> None:
    """One client's visits until the end."""
    chance = random.Random(number)
    async with httpx.AsyncClient(base_url=server.url, timeout=120, verify=False) as http:
        while time.monotonic() < end_s:
            await asyncio.sleep(chance.random() * 2 * pause_s)
            body = {"messages": QUESTION, "max_tokens": chance.randint(1, most_tokens)}
            with visits.one():
                if chance.random() < 0.5:
                    await _talk(server.ws, {"type": "start", "id": str(number), **body}, chance)
                else:
                    await _stream(http, body, chance)


async def _talk(ws: str, start: dict[str, object], chance: random.Random) -> None:
    """A reply on a socket, which some leave in the middle and some of those come back to."""
    leave_at, reply = chance.randint(1, 80), ""
    async with connect(ws, open_timeout=60) as socket:
        await socket.send(json.dumps(start))
        async for message in socket:
            event = json.loads(message)
            leave_at -= 1
            if event["type"] in ("done", "error"):
                return
            reply = event.get("reply", reply)
            if leave_at == 0:
                break
    if reply and chance.random() < 0.5:
        async with connect(ws, open_timeout=60) as socket:
            await socket.send(json.dumps({"type": "attach", "reply": reply}))
            async for message in socket:
                if json.loads(message)["type"] in ("done", "error"):
                    return


async def _stream(http: httpx.AsyncClient, body: dict[str, object], chance: random.Random) -> None:
    path, kind = chance.choice(
        [
            ("/api/replies", "text/event-stream"),
            ("/api/replies", "text/plain"),
            ("/api/replies", "application/json"),
            ("/v1/chat/completions", "text/event-stream"),
            ("/v1/messages", "text/event-stream"),
        ]
    )
    if path.startswith("/v1"):
        models = (await http.get("/v1/models")).json()["data"]
        body = {"model": models[0]["id"], "stream": True, **body}
    async with http.stream("POST", path, json=body, headers={"accept": kind}) as answer:
        answer.raise_for_status()
        async for _ in answer.aiter_bytes():
            if chance.random() < 0.05:
                return


async def _phone(room: Classroom, number: int, end_s: float, pause_s: float, visits: Visits) -> None:
    """One phone of the class, which comes back to the room again and again."""
    chance = random.Random(1000 + number)
    id = await room.join()
    while time.monotonic() < end_s:
        pause = chance.random() * 2 * pause_s
        with visits.one():
            async with room.phone(id) as phone:
                await phone.say("nickname")
                await asyncio.sleep(pause)
                pause = 0.0
        # Whom the server sent away does not knock without end.
        await asyncio.sleep(pause)


async def _silent_then_asks(server: Served, seconds: float) -> bool:
    """Whether a socket that said nothing for so long is answered at its first word."""
    async with connect(server.ws, ping_interval=None) as socket:
        try:
            async with asyncio.timeout(seconds):
                async for _ in socket:
                    pass
                return False  # The server has ended it.
        except TimeoutError:
            pass
        await socket.send(json.dumps({"type": "start", "id": "late", "messages": QUESTION, "max_tokens": 4}))
        async with asyncio.timeout(60):
            async for message in socket:
                if json.loads(message)["type"] == "done":
                    return True
    return False


def _slope(samples: list[tuple[float, int]]) -> float:
    """Least squares: bytes a minute."""
    mean_x = sum(x for x, _ in samples) / len(samples)
    mean_y = sum(y for _, y in samples) / len(samples)
    above = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    return above / sum((x - mean_x) ** 2 for x, _ in samples)
