"""``python -m bench.lab_runs URL``: record the lab's own runs, for servers that have no model ready.

Asks a running Firstword with the real model what the pages of the experiments on batching and on
the first token ask with their knobs as they stand, and writes static/runs/. It refuses to know how
the pages show them.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from pathlib import Path
from typing import Any

import httpx

from bench.machine import machine

_FOLDER = Path(__file__).parent.parent / "static" / "runs"
_BATCHINGS = ("single", "request", "iteration")
_PREFILLS = ("pieces", "at_once")
#: As static/js/components/lab_batching.js begins.
_CROWD = {
    "users": 8,
    "per_second": 3,
    "prompt_words": 30,
    "long_words": 250,
    "group": 4,
    "least_tokens": 8,
    "most_tokens": 48,
    "seed": 1,
}
#: As static/js/components/lab_apart.js begins.
_FILLER = (
    "The ship left the harbour in the early morning, and nobody on board knew yet what the day would bring. "
)
_AHEAD = 6
_TRIES = 20


async def main(url: str) -> None:
    """Record both, one run after the other."""
    async with httpx.AsyncClient(base_url=url, timeout=180) as client:
        model = (await client.get("/v1/models")).json()["data"][0]["id"]
        here = machine()
        about = {"made_at": here.date, "model": model, "cpu": here.cpu, "cores": here.cores}
        runs = {f"{b}-{p}": await _crowd(client, b, p) for b in _BATCHINGS for p in _PREFILLS}
        _write("batching", {**about, "runs": runs})
        _write("apart", {**about, "parts": await _apart(client)})


async def _crowd(client: httpx.AsyncClient, batching: str, prefill: str) -> list[Any]:
    wish = {**_CROWD, "batching": batching, "prefill": prefill}
    answer = await client.post("/api/lab/users", json=wish)
    for _ in range(_TRIES):
        if answer.status_code != 503:
            break
        # The lab has one crowd at a time, and the last one's users are just leaving.
        await asyncio.sleep(1.0)
        answer = await client.post("/api/lab/users", json=wish)
    answer.raise_for_status()
    return [json.loads(line) for line in answer.text.splitlines()]


async def _apart(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    salt = uuid.uuid4().hex[:8]
    long = [_user(f"{salt} {_FILLER * 12}")]
    first = await _ask(client, "long", long)
    turn = [*long, {"role": "assistant", "content": first.pop("text")}, _user("And who stayed behind?")]
    parts = [await _ask(client, "short", [_user(f"{salt} Why?")]), first]
    parts += [await _ask(client, "again", long), await _ask(client, "second", turn)]
    others = [
        asyncio.create_task(_ask(client, "other", [_user(f"{salt} {i} {_FILLER * 3}")], 96))
        for i in range(_AHEAD)
    ]
    # The others' requests go out first; the server takes them in the order in which they come.
    await asyncio.sleep(0.05)
    parts.append(await _ask(client, "queued", [_user(f"{salt} And why not?")]))
    await asyncio.gather(*others)
    return [{name: value for name, value in part.items() if name != "text"} for part in parts]


async def _ask(client: httpx.AsyncClient, name: str, messages: list[Any], tokens: int = 8) -> dict[str, Any]:
    body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
    answer = await client.post("/api/replies", json=body, headers={"accept": "application/json"})
    answer.raise_for_status()
    said = answer.json()
    timings, usage = said["timings"], said["usage"]
    return {
        "name": name,
        "text": said["text"],
        "queue_ms": timings["queue_ms"],
        "prefill_ms": timings["prefill_ms"],
        "first_ms": timings["first_token_ms"],
        "prompt": usage["prompt_tokens"],
        "cached": usage["cached_tokens"],
    }


def _user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


def _write(name: str, value: dict[str, Any]) -> None:
    (_FOLDER / f"{name}.json").write_text(json.dumps(value, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
