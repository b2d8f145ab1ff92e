"""Prometheus sees what happened to replies, under the names of the design."""

import json

import httpx
from websockets.asyncio.client import connect

from app.engine.scripted import ScriptedEngine


async def test_a_finished_reply_is_counted_with_the_fields_names(serve) -> None:
    running = await serve(ScriptedEngine([(b"one ", 1), (b"two ", 1), (b"three", 1)]))
    async with httpx.AsyncClient(base_url=running.url) as client:
        await client.get("/generate-full?prompt=hi")
        text = (await client.get("/metrics")).text
    assert "firstword_time_to_first_token_seconds_count 1.0" in text
    assert "firstword_inter_token_latency_seconds_count 2.0" in text
    assert "firstword_e2e_seconds_count 1.0" in text
    assert "firstword_running 0.0" in text
    for name in ("queue_seconds", "paused_seconds", "kv_used_ratio", "waiting", "aborted"):
        assert f"firstword_{name}" in text


async def test_a_failed_reply_is_counted_by_its_reason(serve) -> None:
    running = await serve(ScriptedEngine([(b"a", 1), (b"b", 1)], fail_at=1))
    async with httpx.AsyncClient(base_url=running.url) as client:
        await client.get("/generate-full?prompt=hi")
        text = (await client.get("/metrics")).text
    assert 'firstword_aborted_total{reason="engine_error"} 1.0' in text


async def test_a_pause_is_counted_also_when_its_reply_was_ended_by_it(serve) -> None:
    running = await serve(
        ScriptedEngine([(b"word ", 0)]), high_tokens=4, low_tokens=1, stall_s=0.2, slow_policy="pause"
    )
    async with connect(running.ws) as socket, httpx.AsyncClient(base_url=running.url) as client:
        start = {"type": "start", "id": "a", "messages": [{"role": "user", "content": "x"}], "acks": True}
        await socket.send(json.dumps({**start, "ignore_eos": True, "max_tokens": 100}))
        async for frame in socket:
            if json.loads(frame)["type"] == "error":
                break
        text = (await client.get("/metrics")).text
    assert 'firstword_aborted_total{reason="slow_consumer"} 1.0' in text
    assert "firstword_paused_seconds_count 1.0" in text
    assert "firstword_kv_used_ratio 0.0" in text
