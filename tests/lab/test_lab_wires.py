"""The lab's routes on real sockets: steps while a reply is made, gzip flushed and not."""

import asyncio
import json
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from app.engine.script import Script, spoken
from app.engine.scripted import ScriptedEngine
from app.generation import Sink
from app.lab.experiments import EXPERIMENTS
from app.prompt import Prompt
from tests.server import Running, until
from tests.socket.clients import HELLO

Serve = Callable[..., Any]


async def test_steps_are_told_while_somebody_reads_them_and_not_longer(serve: Serve) -> None:
    engine = ScriptedEngine(spoken("one two three four five", 5))
    running: Running = await serve(engine)
    async with httpx.AsyncClient(base_url=running.url) as client:
        async with client.stream("GET", "/api/lab/steps") as stream:
            lines = stream.aiter_lines()
            limits = json.loads(await anext(lines))
            assert (limits["type"], limits["high_tokens"], limits["low_tokens"]) == ("limits", 64, 16)
            answer = await client.post("/api/replies", json={"messages": HELLO})
            assert answer.json()["text"] == "one two three four five"
            step = json.loads(await anext(lines))
            assert step["type"] == "step" and step["rows"][0][0] == 1
            assert answer.json()["reply"] not in json.dumps(step)
        await until(lambda: not engine._watchers)


@pytest.mark.parametrize("flush", ["each", "end"])
async def test_gzip_brings_the_same_lines_and_only_flushed_at_once(serve: Serve, flush: str) -> None:
    engine = ScriptedEngine(spoken("one two three four five", 5), manual=True)
    running: Running = await serve(engine)
    async with httpx.AsyncClient(base_url=running.url) as client:
        start = {"messages": HELLO, "poll": True, "await_readers": 2}
        reply = (await client.post("/api/replies", json=start)).json()["reply"]
        url = f"/api/lab/replies/{reply}/gzip?flush={flush}"
        async with client.stream("GET", url) as stream:
            assert stream.headers["content-encoding"] == "gzip"
            raw = stream.aiter_raw()
            gzip = zlib.decompressobj(wbits=31)
            text = b""
            for _ in range(3):
                engine.step()
                await asyncio.sleep(0)
            while flush == "each" and b" three" not in text:
                text += gzip.decompress(await anext(raw))
            for _ in range(5):
                engine.step()
                await asyncio.sleep(0)
            async for piece in raw:
                text += gzip.decompress(piece)
    events = [json.loads(line) for line in text.splitlines()]
    assert events[-1]["type"] == "done"
    assert "".join(e["text"] for e in events if e["type"] == "delta") == "one two three four five"


async def test_a_wrong_flush_is_refused_by_name(serve: Serve) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        reply = (await client.post("/api/replies", json={"messages": HELLO, "poll": True})).json()["reply"]
        answer = await client.get(f"/api/lab/replies/{reply}/gzip?flush=never")
    assert answer.status_code == 400 and "flush must be one of each, end" in answer.text


async def test_a_failing_reply_breaks_off_after_some_text(serve: Serve) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        answer = await client.post("/api/lab/replies", json={"kind": "failing"})
        assert answer.status_code == 202
        reply = answer.json()["reply"]
        lines = (await client.get(f"/api/replies/{reply}", headers={"accept": "application/x-ndjson"})).text
        events = [json.loads(line) for line in lines.splitlines()]
        assert events[-1]["type"] == "error" and events[-2]["type"] == "delta"
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"/api/replies/{reply}", headers={"accept": "text/plain"})


async def test_an_ambiguous_reply_ends_well_whatever_it_says(serve: Serve) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        reply = (await client.post("/api/lab/replies", json={"kind": "ambiguous"})).json()["reply"]
        whole = (await client.get(f"/api/replies/{reply}")).json()
        refused = await client.post("/api/lab/replies", json={"kind": "other"})
    assert "ERROR: the engine was lost" in whole["text"] and whole["finish_reason"] == "stop"
    assert refused.status_code == 400


async def test_only_the_experiments_that_are_there_have_a_page(serve: Serve) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        index = await client.get("/lab")
        for name in EXPERIMENTS:
            assert f'href="/lab/{name}"' in index.text
            page = await client.get(f"/lab/{name}")
            assert page.status_code == 200 and f'data-experiment="{name}"' in page.text
        assert (await client.get("/lab/other")).status_code == 404


CROWD = {"users": 4, "per_second": 20, "least_tokens": 3, "most_tokens": 6, "prompt_words": 4}


class Listening(ScriptedEngine):
    """Remembers what it is asked."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.asked: list[Prompt] = []

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        self.asked.append(prompt)
        super().submit(prompt, sink)


async def crowd(running: Running, **changes: Any) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(base_url=running.url) as client:
        answer = await client.post("/api/lab/users", json={**CROWD, **changes}, timeout=20)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.parametrize("batching", ["iteration", "request", "single"])
async def test_all_users_are_answered_and_counted(serve: Serve, batching: str) -> None:
    running: Running = await serve(ScriptedEngine(spoken("la " * 50, 5)))
    news = await crowd(running, batching=batching, group=2)
    plan, totals = news[0], news[-1]
    asked = {user["number"]: user["answer_tokens"] for user in plan["users"]}
    ended = {item["number"]: item["tokens"] for item in news if item.get("what") == "ended"}
    assert ended == asked
    assert (totals["answered"], totals["tokens"]) == (4, sum(asked.values()))
    assert totals["first_p50_ms"] <= totals["first_p95_ms"]
    rows = {item["row"] for item in news if item.get("what") == "admitted"}
    seen = {row[0] for item in news if item["type"] == "step" for row in item["rows"]}
    assert seen == rows
    inside = [{"admitted": 1, "ended": -1}.get(item.get("what", ""), 0) for item in news]
    at_once = max(sum(inside[: i + 1]) for i in range(len(inside)))
    assert at_once <= {"iteration": 4, "request": 2, "single": 1}[batching]


@pytest.mark.parametrize(("prefill", "at_once"), [("pieces", False), ("at_once", True)])
async def test_questions_are_read_in_pieces_or_at_once_as_the_knob_says(
    serve: Serve, prefill: str, at_once: bool
) -> None:
    engine = Listening(spoken("la " * 50, 5))
    news = await crowd(await serve(engine), prefill=prefill, long_words=60)
    assert {prompt.prefill_at_once for prompt in engine.asked} == {at_once}
    assert [user["prompt_words"] for user in news[0]["users"]] == [4, 4, 60, 4]
    totals = news[-1]
    assert 4 <= totals["gap_p50_ms"] <= totals["gap_most_ms"]


async def test_a_crowd_ends_with_its_page_and_leaves_nothing_behind(serve: Serve) -> None:
    engine = ScriptedEngine(spoken("la " * 50, 200))
    running: Running = await serve(engine)
    async with httpx.AsyncClient(base_url=running.url) as client:
        async with client.stream("POST", "/api/lab/users", json=CROWD) as stream:
            async for line in stream.aiter_lines():
                if json.loads(line).get("what") == "first":
                    break
            other = await client.post("/api/lab/users", json=CROWD)
            assert other.status_code == 503 and "two crowds" in other.text
        await until(lambda: not running.replies.running() and not engine._watchers)
        again = await client.post(
            "/api/lab/users", json={**CROWD, "users": 1, "least_tokens": 1, "most_tokens": 1}
        )
        assert again.status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [("users", 25), ("per_second", 21), ("most_tokens", 129), ("long_words", 401), ("prefill", "never")],
)
async def test_a_crowd_has_limits(serve: Serve, field: str, value: Any) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        answer = await client.post("/api/lab/users", json={**CROWD, field: value})
    assert answer.status_code == 400 and field in answer.text
