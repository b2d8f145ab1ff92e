"""Frames that are filled up: who sees their lengths behind TLS learns nothing of the tokens."""

import json

import httpx

from app.engine.scripted import ScriptedEngine
from tests.server import run_server
from tests.socket.clients import HELLO, talk

#: From one byte to forty, and a character that JSON writes longer.
WORDS = [
    (b"A", 1.0),
    (b" considerably", 1.0),
    (b' "quoted"', 1.0),
    ("नमस्ते ".encode(), 1.0),
    (b" " + b"x" * 40, 1.0),
]
TEXT = b"".join(word for word, _ in WORDS).decode()
FRAME_BYTES = 256
ASKED = {"messages": HELLO, "pace": "token"}


async def test_every_delta_on_a_socket_has_the_same_length():
    async with run_server(ScriptedEngine(WORDS), frame_bytes=FRAME_BYTES) as s, talk(s.ws) as a:
        await a.start(pace="token")
        frames: list[str] = []
        while not frames or json.loads(frames[-1])["type"] != "done":
            frames.append(str(await a.connection.recv()))
    deltas = [frame for frame in frames if json.loads(frame)["type"] == "delta"]
    assert len(deltas) == len(WORDS)
    assert {len(frame.encode()) for frame in deltas} == {FRAME_BYTES}
    assert "".join(json.loads(frame)["text"] for frame in deltas) == TEXT


async def test_so_has_every_frame_of_events_and_lines():
    async with (
        run_server(ScriptedEngine(WORDS), frame_bytes=FRAME_BYTES) as s,
        httpx.AsyncClient(base_url=s.url) as http,
    ):
        for media_type, end in (("text/event-stream", "\n\n"), ("application/x-ndjson", "\n")):
            answer = await http.post("/api/replies", json=ASKED, headers={"accept": media_type})
            frames = [frame + end for frame in answer.text.split(end) if '"delta"' in frame]
            assert len(frames) == len(WORDS)
            assert {len(frame.encode()) for frame in frames} == {FRAME_BYTES}
            events = [json.loads(frame.rpartition("data: ")[2]) for frame in frames]
            assert "".join(event["text"] for event in events) == TEXT


async def test_plain_text_and_the_usual_frames_are_not_filled():
    async with (
        run_server(ScriptedEngine(WORDS), frame_bytes=FRAME_BYTES) as s,
        httpx.AsyncClient(base_url=s.url) as http,
    ):
        plain = await http.post("/api/replies", json=ASKED, headers={"accept": "text/plain"})
        assert plain.text == TEXT
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as a:
        await a.start(pace="token")
        assert not str(await a.connection.recv()).endswith(" ")
