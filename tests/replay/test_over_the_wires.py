"""From a live reply to a file and back onto the wires: the same text at the same times."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
import pytest

from app.engine.scripted import ScriptedEngine
from app.events import AnyEvent
from app.prompt import Message
from app.replay import library
from app.replay.library import Library
from app.replay.player import Player
from app.replay.recorder import record
from app.replay.recording import Hardware, Model, Recording, load_recording, recording_bytes
from app.transports import reading
from tests.replay.hand_timers import HandTimers
from tests.replay.samples import sample
from tests.server import Running, run_server
from tests.socket.clients import HELLO, talk

T = TypeVar("T")
#: Half a frame of a screen with 60 of them a second.
STEP_MS = 8.0
SCRIPT = [(b"One", 60.0), (" été".encode(), 10.0), (b" \xf0\x9f", 20.0), (b"\xab\x96", 90.0), (b" end.", 5.0)]


async def recorded_live(url: str) -> Recording:
    """A recording of what the server at ``url`` says, over NDJSON."""
    ask = {"messages": HELLO, "pace": "token", "seed": 4}
    async with httpx.AsyncClient(base_url=url, timeout=10) as client:
        answer = await client.post("/api/replies", json=ask, headers={"accept": "application/x-ndjson"})
        about = (await client.get("/api/about")).json()
    events = [msgspec.json.decode(line, type=AnyEvent) for line in answer.content.splitlines()]
    return record(
        events,
        id="live",
        title="Live",
        made_at=datetime.now(UTC),
        made_by="firstword test",
        messages=[Message("user", "hello")],
        settings={"seed": 4},
        model=Model(about["model"]["name"], about["model"]["device"]),
        hardware=msgspec.convert(about["hardware"], Hardware),
    )


async def while_time_passes(timers: HandTimers, work: Awaitable[T]) -> T:
    """``work``, with the player's clock going on in small steps meanwhile."""
    task = asyncio.ensure_future(work)
    async with asyncio.timeout(20):
        while not task.done():
            timers.advance(STEP_MS)
            await asyncio.sleep(0.001)
    return task.result()


async def over_websocket(s: Running) -> list[dict[str, Any]]:
    async with talk(s.ws) as client:
        await client.start()
        return await client.hear_until("done")


async def over_sse(s: Running) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(base_url=s.url, timeout=10) as client:
        answer = await client.post(
            "/api/replies", json={"messages": HELLO}, headers={"accept": "text/event-stream"}
        )
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("wire", [over_websocket, over_sse], ids=["WebSocket", "SSE"])
async def test_a_live_reply_recorded_saved_and_read_back_plays_with_its_text_and_times(
    wire: Any, tmp_path: Path
) -> None:
    async with run_server(ScriptedEngine(SCRIPT)) as s:
        recording = await recorded_live(s.url)
    file = tmp_path / "live.json"
    file.write_bytes(recording_bytes(recording))
    recording = load_recording(file)
    assert recording.reply.text == "One été 🫖 end." and recording.model.name == "scripted"

    timers = HandTimers()
    async with run_server(Player(recording, clock=timers.now_ns, call_later=timers.call_later)) as s:
        s.replies._now_ns = timers.now_ns
        heard = await while_time_passes(timers, wire(s))
    deltas = [event for event in heard if event["type"] == "delta"]
    assert [d["text"] for d in deltas] == [d.text for d in recording.reply.deltas]
    assert [d["tokens"] for d in deltas] == [d.tokens for d in recording.reply.deltas]
    assert [d["t"] for d in deltas] == pytest.approx([d.t for d in recording.reply.deltas], abs=2 * STEP_MS)
    assert heard[-1]["t"] == pytest.approx(recording.reply.done.t, abs=2 * STEP_MS)
    assert heard[-1]["usage"] == msgspec.to_builtins(recording.reply.done.usage)
    (started,) = [event for event in heard if event["type"] == "started"]
    assert started["model"] == "scripted (recording)"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """A library of one short recording instead of those that ship."""
    short = sample([("Good ", 1, 30.0), ("morning, ", 2, 60.0), ("all.", 1, 70.0)], id="short")
    (tmp_path / "short.json").write_bytes(recording_bytes(short))
    shelf = Library(tmp_path)
    for module in (library, reading):
        monkeypatch.setattr(module, "shipped", lambda: shelf)
    monkeypatch.setattr("app.transports.recordings.shipped", lambda: shelf)
    return short


async def test_a_start_may_name_a_recording_and_race_it_at_two_paces_on_any_server(
    shipped: Recording,
) -> None:
    async with run_server(ScriptedEngine(manual=True)) as s, talk(s.ws) as one, talk(s.ws) as two:
        race = {"type": "start", "id": "race", "recording": "short", "await_readers": 2}
        await one.connection.send(json.dumps({**race, "pace": "token"}))
        await two.connection.send(json.dumps({**race, "pace": "whole"}))
        streamed, whole = await one.hear_until("done"), await two.hear_until("done")
        assert s.engine.made.total() == 0, "the model had nothing to do with it"
    texts = [[event["text"] for event in heard if event["type"] == "delta"] for heard in (streamed, whole)]
    assert texts == [["Good ", "morning, ", "all."], ["Good morning, all."]]
    assert streamed[-1]["reply"] == whole[-1]["reply"]


async def test_the_same_id_plays_a_recording_or_asks_the_model_and_never_mixes_them(
    shipped: Recording,
) -> None:
    async with run_server(ScriptedEngine([(b"live", 0.0)])) as s, talk(s.ws) as client:
        prompt = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}
        await client.start("same", **prompt)
        live = await client.hear_until("done")
        await client.connection.send(json.dumps({"type": "start", "id": "same", "recording": "short"}))
        played = await client.hear_until("done")
    assert live[-1]["reply"] != played[-1]["reply"]
    assert [e["text"] for e in played if e["type"] == "delta"] == ["Good ", "morning, ", "all."]


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"recording": "short", "messages": HELLO}, 400, "messages"),
        ({"recording": "short", "temperature": 0}, 400, "temperature"),
        ({"recording": "short", "max_tokens": 5}, 400, "max_tokens"),
        ({"recording": "short", "mood": "good"}, 400, "mood"),
        ({"recording": "other"}, 404, "recording"),
        ({"recording": 5}, 400, "recording"),
    ],
)
async def test_what_a_recording_has_itself_is_refused_by_name(
    shipped: Recording, body: dict[str, Any], status: int, param: str
) -> None:
    async with run_server() as s, httpx.AsyncClient(base_url=s.url) as client:
        answer = await client.post("/api/replies", json=body)
    assert (answer.status_code, answer.json()["param"]) == (status, param)


async def test_recordings_are_listed_and_each_is_the_file_it_is(shipped: Recording) -> None:
    async with run_server() as s, httpx.AsyncClient(base_url=s.url) as client:
        listed = (await client.get("/api/recordings")).json()
        one = await client.get("/api/recordings/short")
        none = await client.get("/api/recordings/other")
    card = {
        "id": "short",
        "title": "A sample",
        "model": "tiny",
        "tokens": 4,
        "first_ms": 30.0,
        "total_ms": 80.0,
    }
    assert listed == {"recordings": [card]}
    assert one.content == recording_bytes(shipped) and one.headers["content-type"] == "application/json"
    assert none.status_code == 404 and "short" in none.json()["message"]


async def test_a_played_recording_is_not_counted_as_the_servers_own_work(shipped: Recording) -> None:
    async with run_server() as s, httpx.AsyncClient(base_url=s.url) as client:
        assert (await client.post("/api/replies", json={"recording": "short"})).status_code == 200
        meters = (await client.get("/metrics")).text
    assert "firstword_time_to_first_token_seconds_count 0.0" in meters
