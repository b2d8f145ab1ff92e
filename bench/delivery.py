"""Delivery: how long a made token takes to reach its reader, while 16 replies stream.

Over Firstword's own NDJSON wire, since only its frames carry the time at which their token was
made. It refuses to know the engine.
"""

from __future__ import annotations

import asyncio
import json
from statistics import median

from bench.client import Exchange, exchange, post
from bench.formulas import delivery_ms, percentile
from bench.load import Load
from bench.scene import Milestone, Scene

_REPLIES = 16
_TOKENS = 192
#: The server's clock of a reply begins when it has the request; taking a connection is not in it then.
_CONNECTED_S = 0.05
_NAME = f"token made → its bytes at a client, {_REPLIES} replies streaming, p99"
_FORMULA = (
    "arrival − (request written + t) over NDJSON, one monotonic clock, while all of them stream; an upper "
    "bound, since the server's t begins a little after we wrote"
)


async def delivery(load: Load) -> Scene:
    """16 replies at once, each frame's age on arrival."""
    if not load.server.peer.own_wire:
        return Scene(_NAME, _FORMULA, None, "ms", "its frames do not tell when their token was made")
    answers = await _replies(load)
    if failed := [answer.error for answer in answers if answer.error]:
        return Scene(_NAME, _FORMULA, None, "ms", failed[0])
    replies = [(answer.written_ns, _deltas(answer)) for answer in answers]
    from_ns = max(frames[0][0] for _, frames in replies)
    to_ns = min(frames[-1][0] for _, frames in replies)
    delays: list[float] = []
    doubts: list[float] = []
    for written_ns, frames in replies:
        ages, doubt = delivery_ms(written_ns, frames)
        delays += [age for age, (at_ns, _) in zip(ages, frames, strict=True) if from_ns <= at_ns <= to_ns]
        doubts.append(doubt)
    p50 = percentile(delays, 0.5) or 0.0
    note = (
        f"p50 {p50:.2f} ms; {len(delays)} tokens; too high by at most {median(doubts):.2f} ms (median reply)"
    )
    return Scene(_NAME, _FORMULA, percentile(delays, 0.99), "ms", note)


# Private


async def _replies(load: Load) -> list[Exchange]:
    """The answer of each, asked for one after another.

    So no request waits in the server behind another one's start, which would loosen the bound.
    """
    tasks: list[asyncio.Future[Exchange]] = []
    for _ in range(_REPLIES):
        begun = Milestone(answers=1, lines=1)
        tasks.append(asyncio.ensure_future(_reply(load, begun)))
        await begun.or_end_of(tasks[-1])
    return await asyncio.gather(*tasks)


async def _reply(load: Load, begun: Milestone) -> Exchange:
    body = {
        "messages": load.question("short"),
        "max_tokens": _TOKENS,
        "temperature": 0,
        "ignore_eos": True,
    }
    request = post("/api/replies", body, "application/x-ndjson")
    return await exchange(
        load.server.port, request, limit_s=load.limit_s, on_line=begun.counter(), connected_s=_CONNECTED_S
    )


def _deltas(answer: Exchange) -> list[tuple[int, float]]:
    """(arrival, milliseconds from the request's arrival to the token) of each delta."""
    events = [(at_ns, json.loads(line)) for at_ns, line in answer.lines]
    return [(at_ns, float(event["t"])) for at_ns, event in events if event.get("type") == "delta"]
