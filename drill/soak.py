"""Soak (E2's slice): clients come and go for minutes; memory, descriptors and KV stay where they were."""

from __future__ import annotations

import asyncio
import json
import random
import time

import httpx
from websockets.asyncio.client import connect

from drill.case import Finding, Scale
from drill.served import Served, served
from drill.streams import QUESTION

NUM_CLIENTS = 50
_SAMPLE_S = 2.0
#: The first part fills caches and the window of replies that can be resumed.
_WARM_UP = 0.4
#: A megabyte an hour cannot be told from noise within minutes, so the slice allows more.
_MOST_MIB_PER_MINUTE = 1.0


async def soak(scale: Scale) -> Finding:
    """Clients of every kind, some of whom leave in the middle."""
    minutes = scale.lasting(1.0, 3.0)
    # Few replies kept, and not for long, so that the plateau is reached within the slice.
    async with served(
        FIRSTWORD_MAX_REPLIES="100", FIRSTWORD_RESUME_S="5", FIRSTWORD_MAX_WAITING="100"
    ) as server:
        before = server.cost()
        end_s = time.monotonic() + minutes * 60
        clients = [asyncio.ensure_future(_client(server, number, end_s)) for number in range(NUM_CLIENTS)]
        samples: list[tuple[float, int]] = []
        while time.monotonic() < end_s:
            samples.append((time.monotonic() / 60, server.cost().rss))
            await asyncio.sleep(_SAMPLE_S)
        done = sum(await asyncio.gather(*clients))
        # Replies without a reader live for their window.
        await asyncio.sleep(8)
        clean = await server.clean(before)
        grown = (server.cost().rss - before.rss) / 2**20
    slope = _slope(samples[int(len(samples) * _WARM_UP) :]) / 2**20
    return Finding(
        f"{NUM_CLIENTS} clients for {minutes:g} min, {done} replies: {slope:+.2f} MiB a minute after the "
        f"warm-up, {grown:+.0f} MiB in all, clean: {clean}",
        slope <= _MOST_MIB_PER_MINUTE and clean and done > NUM_CLIENTS,
    )


# Private


async def _client(server: Served, number: int, end_s: float) -> int:
    """One client's visits until the end; how many replies it asked for."""
    chance = random.Random(number)
    asked = 0
    async with httpx.AsyncClient(base_url=server.url, timeout=60, verify=False) as http:
        while time.monotonic() < end_s:
            body = {"messages": QUESTION, "max_tokens": chance.randint(1, 60)}
            if chance.random() < 0.5:
                await _talk(server.ws, {"type": "start", "id": f"{number}-{asked}", **body}, chance)
            else:
                await _stream(http, body, chance)
            asked += 1
            await asyncio.sleep(chance.random() * 0.5)
    return asked


async def _talk(ws: str, start: dict[str, object], chance: random.Random) -> None:
    leave_at = chance.randint(1, 80)
    async with connect(ws, open_timeout=60) as socket:
        await socket.send(json.dumps(start))
        async for message in socket:
            leave_at -= 1
            if json.loads(message)["type"] in ("done", "error") or leave_at == 0:
                return


async def _stream(http: httpx.AsyncClient, body: dict[str, object], chance: random.Random) -> None:
    headers = {"accept": chance.choice(["text/event-stream", "text/plain", "application/json"])}
    async with http.stream("POST", "/api/replies", json=body, headers=headers) as answer:
        async for _ in answer.aiter_bytes():
            if chance.random() < 0.05:
                return


def _slope(samples: list[tuple[float, int]]) -> float:
    """Least squares: bytes a minute."""
    mean_x = sum(x for x, _ in samples) / len(samples)
    mean_y = sum(y for _, y in samples) / len(samples)
    above = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    return above / sum((x - mean_x) ** 2 for x, _ in samples)
