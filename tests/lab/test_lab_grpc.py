"""A reply over gRPC as the lab shows it: real frames on a real port, through the server's own client."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.lab.http2_frames import Frame, FrameSplitter

pytest.importorskip("grpc")

from app.settings import Settings
from app.transports.grpc_server import GrpcServer
from app.transports.lab_grpc import grpc_news
from tests.server import Running, run_server, until
from tests.socket.clients import HELLO

TEXT = "one two three four नमस्ते"


def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@asynccontextmanager
async def with_grpc(engine: ScriptedEngine, **settings: Any) -> AsyncIterator[Running]:
    """A server that speaks both, as `firstword serve --grpc-port` starts it."""
    port = settings.setdefault("grpc_port", free_port())
    async with run_server(engine, **settings) as running:
        grpc_server = GrpcServer(running.replies, Settings(drain_s=0.0, **settings), "127.0.0.1", port)
        await grpc_server.start()
        try:
            yield running
        finally:
            await grpc_server.stop()


async def lines_of(client: httpx.AsyncClient, reply: str) -> list[dict[str, Any]]:
    answer = await client.get(f"/api/lab/replies/{reply}/grpc", timeout=20)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def text_of(lines: list[dict[str, Any]]) -> str:
    events = [line["event"] for line in lines if line["type"] == "event"]
    return "".join(event["text"] for event in events if event["type"] == "delta")


async def test_the_same_reply_comes_over_grpc_with_the_frames_it_came_in() -> None:
    async with (
        with_grpc(ScriptedEngine(spoken(TEXT, 5))) as running,
        httpx.AsyncClient(base_url=running.url) as client,
    ):
        assert (await client.get("/api/lab/wires")).json() == {"grpc": True}
        start = {"messages": HELLO, "poll": True, "await_readers": 2}
        reply = (await client.post("/api/replies", json=start)).json()["reply"]
        lines = await lines_of(client, reply)
    assert text_of(lines) == TEXT
    assert lines[-1] == {"type": "status", "code": "OK", "message": ""}
    frames = [line for line in lines if line["type"] == "frame"]
    assert frames[0]["name"] == "SETTINGS"
    assert {"HEADERS", "DATA"} <= {frame["name"] for frame in frames}
    data = b"".join(base64.b64decode(frame["data"]) for frame in frames if frame["name"] == "DATA")
    assert all(word.encode() in data for word in TEXT.split()[:4])


async def test_a_failure_in_mid_sentence_is_told_by_event_and_status() -> None:
    async with (
        with_grpc(ScriptedEngine(spoken(TEXT, 5), fail_at=3)) as running,
        httpx.AsyncClient(base_url=running.url) as client,
    ):
        reply = (await client.post("/api/replies", json={"messages": HELLO, "poll": True})).json()["reply"]
        lines = await lines_of(client, reply)
    assert text_of(lines) == "one two three"
    assert lines[-1]["code"] == "INTERNAL"
    assert "The script failed here" in lines[-1]["message"]


async def test_a_page_that_leaves_ends_its_call_and_not_the_reply() -> None:
    async with (
        with_grpc(ScriptedEngine(spoken(TEXT * 9, 20)), api_key="secret") as running,
        httpx.AsyncClient(base_url=running.url, headers={"authorization": "Bearer secret"}) as client,
    ):
        asked = {"messages": HELLO, "poll": True}
        id = (await client.post("/api/replies", json=asked)).json()["reply"]
        reply = running.replies.get(id)
        async with client.stream("GET", f"/api/lab/replies/{id}/grpc") as stream:
            async for line in stream.aiter_lines():
                if json.loads(line)["type"] == "event":
                    break
            num_readers = len(reply.readers)
        await until(lambda: len(reply.readers) < num_readers)
        assert reply.failure is None


def taps() -> list[asyncio.Task[Any]]:
    """Connections that are being passed on."""
    return [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__name__", "") == "_pass_on"]


async def test_a_page_that_leaves_while_the_tap_waits_for_it_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The news fill up before the page has taken any; then it goes."""
    monkeypatch.setattr("app.transports.lab_grpc._MAX_NEWS", 1)
    settings = Settings(grpc_port=free_port())
    async with with_grpc(ScriptedEngine(spoken(TEXT, 0)), grpc_port=settings.grpc_port) as running:
        async with httpx.AsyncClient(base_url=running.url) as client:
            asked = {"messages": HELLO, "poll": True}
            id = (await client.post("/api/replies", json=asked)).json()["reply"]
        news = grpc_news(id, settings)
        await anext(news)
        queue = news.ag_frame.f_locals["news"]  # type: ignore[attr-defined]
        await until(lambda: queue._putters and taps())
        await news.aclose()  # type: ignore[attr-defined]
        assert not taps()


async def test_a_tap_that_reaches_nobody_says_so_and_leaves_nothing_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines = [line async for line in grpc_news("r", Settings(grpc_port=free_port()))]
    assert [line["type"] for line in lines] == ["status"] and lines[0]["code"] == "UNAVAILABLE"
    await until(lambda: not taps())
    assert not caplog.text


async def test_without_grpc_the_page_is_told_so(serve: Callable[..., Any]) -> None:
    running: Running = await serve(ScriptedEngine(manual=True))
    async with httpx.AsyncClient(base_url=running.url) as client:
        assert (await client.get("/api/lab/wires")).json() == {"grpc": False}
        reply = (await client.post("/api/replies", json={"messages": HELLO, "poll": True})).json()["reply"]
        refused = await client.get(f"/api/lab/replies/{reply}/grpc")
    assert refused.status_code == 404 and "--grpc-port" in refused.text


def frame(kind: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, 0]) + (1).to_bytes(4) + payload


@given(st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=40)), max_size=8), st.integers(1, 30))
def test_frames_are_the_same_however_their_bytes_are_cut(parts: list[tuple[int, bytes]], size: int) -> None:
    frames = [frame(*part) for part in parts]
    data = b"".join(frames)
    splitter = FrameSplitter()
    found: list[Frame] = []
    for at in range(0, len(data), size):
        found += splitter.feed(data[at : at + size])
    assert [each.data for each in found] == frames
    assert all(each.name == "DATA" for each, (kind, _) in zip(found, parts, strict=True) if kind == 0)
