"""A simulated link on every wire of ours: later, in the same order, the same text; and it can be left."""

import asyncio
import json

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, http_request, raw, talk

WORDS = [(b"One", 0.0), (b" two", 0.0), (b" three", 0.0), (b".", 0.0)]
TEXT = "One two three."
FAR = {"latency_ms": 120}
KINDS = ("text/event-stream", "application/x-ndjson", "text/plain", "application/json")


def clock() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("accept", KINDS)
async def test_http_wires_come_later_and_say_the_same(accept):
    async with run_server(ScriptedEngine(WORDS)) as s, httpx.AsyncClient(base_url=s.url) as c:
        began = clock()
        posted = await c.post(
            "/api/replies", json={"messages": HELLO, "link": FAR}, headers={"accept": accept}
        )
        assert clock() - began >= 0.12
        path = f"/api/replies/{posted.headers['x-reply-id']}"
        began = clock()
        far = await c.get(path, params={"link": json.dumps(FAR)}, headers={"accept": accept})
        assert clock() - began >= 0.12
        near = await c.get(path, headers={"accept": accept})
        assert far.content == near.content and near.status_code == 200
        lesson = await c.get("/generate-stream", params={"prompt": "x", "link": json.dumps(FAR)})
        assert lesson.text == TEXT


async def test_a_websocket_reads_one_reply_near_and_another_far():
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as ws:
        await ws.start("far", link=FAR)
        await ws.start("near")
        events = await ws.hear_until("done", id="near")
        assert not any(e.get("id") == "far" for e in events)
        far = await ws.hear_until("done")
        assert far[-1]["id"] == "far" and "".join(e.get("text", "") for e in far) == TEXT
        # The stamps are the server's: the way is none of its time.
        assert far[-1]["t"] < 120
        await ws.say("attach", reply=far[-1]["reply"], after=2, link={"latency_ms": 1, "seed": 3})
        assert "".join(e.get("text", "") for e in await ws.hear_until("done")) == " three."


async def test_a_buffering_proxy_makes_a_stream_one_piece():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, heartbeat_s=0.1) as s, raw(s.port) as c:
        body = {"messages": HELLO, "link": {"flush_bytes": 4096}}
        await c.send(http_request("POST", "/api/replies", body, accept="text/event-stream"))
        await until(lambda: s.replies.running())
        for _ in range(3):
            engine.step()
        # Only the real connection's sign of life comes through meanwhile.
        held = await c.read_until(b'"type":"ping"')
        assert b"delta" not in held
        engine.step()
        rest = await c.read_until(b"\r\n0\r\n\r\n")
        assert rest.count(b'"type":"delta"') == 4


async def test_a_narrow_line_holds_the_generation_up_and_loses_nothing():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine, high_tokens=8, low_tokens=2) as s, talk(s.ws) as ws:
        # About 90 bytes an event: some hundred events a second.
        await ws.start("a", ignore_eos=True, max_tokens=60, link={"kbps": 80})
        events = await ws.hear_until("done")
        assert "".join(e.get("text", "") for e in events) == "word " * 60
        assert {"paused", "resumed"} <= {e["type"] for e in events}
        assert events[-1]["timings"]["paused_ms"] > 100


async def test_a_stop_is_felt_at_once_however_far_the_reader_is():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine) as s, talk(s.ws) as ws:
        began = clock()
        await ws.start("a", ignore_eos=True, link={"latency_ms": 5000})
        await until(lambda: s.replies.running() and s.replies.running()[0].pause)
        await ws.say("stop", reply=s.replies.running()[0].id)
        events = await ws.hear_until("done")
        assert events[-1]["finish_reason"] == "cancelled" and clock() - began < 2
        assert "".join(e.get("text", "") for e in events) == "word " * 64


@pytest.mark.parametrize("accept", KINDS)
async def test_who_leaves_while_everything_is_on_its_way_is_noticed(accept):
    async with run_server(ScriptedEngine(WORDS)) as s:
        before = len(asyncio.all_tasks())
        async with raw(s.port) as c:
            body = {"messages": HELLO, "link": {"latency_ms": 5000}}
            await c.send(http_request("POST", "/api/replies", body, accept=accept))
            await until(lambda: s.replies.has_readers() and not s.replies.running())
        await until(lambda: not s.replies.has_readers() and len(asyncio.all_tasks()) <= before)


async def test_a_wrong_link_is_refused_by_name_and_starts_nothing():
    async with run_server(ScriptedEngine(WORDS)) as s, httpx.AsyncClient(base_url=s.url) as c:
        answer = await c.post("/api/replies", json={"messages": HELLO, "link": {"latency_ms": 9999}})
        assert (answer.status_code, answer.json()["param"]) == (400, "link.latency_ms")
        answer = await c.get("/generate-stream?prompt=x&link=slow")
        assert (answer.status_code, answer.json()["param"]) == (400, "link")
        assert len(s.replies) == 0
