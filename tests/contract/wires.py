"""All wires, each as one function: ask, read to the end, say what was read.

A new wire joins the contract by one entry in WIRES.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.server import Running
from tests.socket.clients import HELLO, sse_events, talk


@dataclass(frozen=True, slots=True)
class Asked:
    """What every wire can be asked for."""

    pace: str = "token"
    stop: tuple[str, ...] = ()
    max_tokens: int = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read; None where the wire has no word for it."""

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    pieces: int | None = None


Wire = Callable[[Running, Asked], Awaitable[Answer]]


async def websocket(s: Running, asked: Asked) -> Answer:
    async with talk(s.ws) as ws:
        await ws.start("a", **_body(asked))
        return _of_events(await ws.hear_until("done"))


async def sse(s: Running, asked: Asked) -> Answer:
    return _of_events(sse_events((await _post(s, "/api/replies", asked, "text/event-stream")).text))


async def ndjson(s: Running, asked: Asked) -> Answer:
    answer = await _post(s, "/api/replies", asked, "application/x-ndjson")
    # By bytes: other ways of counting lines know more line ends than there are.
    return _of_events([json.loads(line) for line in answer.content.split(b"\n")[:-1]])


async def plain(s: Running, asked: Asked) -> Answer:
    return Answer((await _post(s, "/api/replies", asked, "text/plain")).content.decode())


async def whole(s: Running, asked: Asked) -> Answer:
    return _of_whole((await _post(s, "/api/replies", asked, "application/json")).json())


async def resumed(s: Running, asked: Asked) -> Answer:
    """Started on one wire and read again, in full, from another."""
    started = (await _post(s, "/api/replies", asked, "application/json")).json()
    async with talk(s.ws) as ws:
        await ws.say("attach", reply=started["reply"], pace=asked.pace)
        return _of_events(await ws.hear_until("done"))


async def polling(s: Running, asked: Asked) -> Answer:
    async with httpx.AsyncClient(base_url=s.url, timeout=30) as c:
        started = await c.post("/api/replies", json=_body(asked) | {"poll": True})
        path, after = f"/api/replies/{started.json()['reply']}/poll", 0
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] != "done":
            for event in (await c.get(path, params={"after": after})).json()["events"]:
                events.append(event)
                after = event.get("seq", after)
        return _of_events(events)


async def over_a_link(s: Running, asked: Asked) -> Answer:
    """A WebSocket with everything on its way that a link can put there."""
    link = {"latency_ms": 2, "jitter_ms": 3, "kbps": 20_000, "loss_percent": 5, "stall_ms": 5, "flush_ms": 2}
    async with talk(s.ws) as ws:
        await ws.start("far", **_body(asked), link=link)
        return _of_events(await ws.hear_until("done"))


async def generate_stream(s: Running, asked: Asked) -> Answer:
    return Answer((await _lesson(s, "/generate-stream", asked)).content.decode())


async def generate_full(s: Running, asked: Asked) -> Answer:
    return _of_whole((await _lesson(s, "/generate-full", asked)).json())


WIRES: dict[str, Wire] = {
    "websocket": websocket,
    "sse": sse,
    "ndjson": ndjson,
    "plain": plain,
    "whole": whole,
    "resumed": resumed,
    "polling": polling,
    "over a link": over_a_link,
}
#: They take no stop strings.
LESSON_WIRES: dict[str, Wire] = {"generate-stream": generate_stream, "generate-full": generate_full}


# Private


def _body(asked: Asked) -> dict[str, Any]:
    return {"messages": HELLO, "pace": asked.pace, "stop": list(asked.stop), "max_tokens": asked.max_tokens}


async def _post(s: Running, path: str, asked: Asked, accept: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=s.url, timeout=30) as c:
        answer = await c.post(path, json=_body(asked), headers={"accept": accept})
    assert answer.status_code == 200, answer.text
    return answer


async def _lesson(s: Running, path: str, asked: Asked) -> httpx.Response:
    query: dict[str, str | int] = {"prompt": "hello", "pace": asked.pace, "max_tokens": asked.max_tokens}
    async with httpx.AsyncClient(base_url=s.url, timeout=30) as c:
        answer = await c.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer


def _of_events(events: list[dict[str, Any]]) -> Answer:
    deltas = [event for event in events if event["type"] == "delta"]
    done = events[-1]
    assert done["type"] == "done"
    return Answer(
        "".join(delta["text"] for delta in deltas),
        done["finish_reason"],
        done["usage"]["prompt_tokens"],
        done["usage"]["completion_tokens"],
        len(deltas),
    )


def _of_whole(answer: dict[str, Any]) -> Answer:
    usage = answer["usage"]
    return Answer(answer["text"], answer["finish_reason"], usage["prompt_tokens"], usage["completion_tokens"])
