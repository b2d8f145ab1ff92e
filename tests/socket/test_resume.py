"""Drop and come back, at any offset: nothing lost, nothing doubled."""

import json
import random

import httpx

from app.engine.scripted import ScriptedEngine
from tests.server import run_server
from tests.socket.clients import HELLO, sse_events, talk

NUM = 40
SCRIPT = [(b"%d " % n, 1.0) for n in range(NUM)]
TEXT = "".join(f"{n} " for n in range(NUM))


async def test_a_finished_reply_is_resumed_at_every_offset():
    async with run_server(ScriptedEngine(SCRIPT)) as s, talk(s.ws) as ws:
        await ws.start("a")
        reply = (await ws.hear_until("done"))[-1]["reply"]
        for after in range(NUM + 1):
            await ws.say(
                "attach", reply=reply, after=after, pace=random.Random(after).choice(["token", "whole"])
            )
            events = await ws.hear_until("done")
            assert "".join(e["text"] for e in events if e["type"] == "delta") == "".join(
                f"{n} " for n in range(after, NUM)
            )


async def test_two_hundred_drops_at_random_offsets_lose_and_double_nothing():
    chance = random.Random(7)
    engine = ScriptedEngine([(data, 0.2) for data, _ in SCRIPT])
    async with run_server(engine, ws_messages_per_minute=10_000) as s:
        drops = turn = 0
        while drops < 200:
            turn += 1
            text, after, ended, name = "", 0, False, f"nobody-guesses-{turn}"
            while not ended:
                async with talk(s.ws) as ws:
                    if after == 0:
                        await ws.start(name, pace=chance.choice(["token", "word"]))
                    else:
                        await ws.say("attach", reply=name, after=after, pace=chance.choice(["token", "word"]))
                    leave_at = after + chance.randint(1, NUM // 2)
                    while not ended and after < leave_at:
                        event = await ws.hear()
                        if event["type"] == "delta":
                            assert event["seq"] > after
                            text, after = text + event["text"], event["seq"]
                        assert event.get("recovered") is not False
                        ended = event["type"] == "done"
                    if not ended:
                        drops += 1
                        ws.connection.transport.abort()
            assert text == TEXT
        assert list(engine.made.values()) == [NUM] * turn


async def test_an_event_source_that_is_cut_again_and_again_reads_all():
    chance = random.Random(11)
    async with run_server(ScriptedEngine(SCRIPT)) as s, httpx.AsyncClient(base_url=s.url) as c:
        first = await c.post(
            "/api/replies", json={"messages": HELLO}, headers={"accept": "text/event-stream"}
        )
        path = f"/api/replies/{first.headers['x-reply-id']}"
        assert sse_events(first.text)[-1]["type"] == "done"
        text, last_id = "", ""
        while True:
            headers = {"accept": "text/event-stream"} | ({"last-event-id": last_id} if last_id else {})
            async with c.stream("GET", path, headers=headers) as answer:
                if answer.status_code == 204:
                    break
                frames_left = chance.randint(1, 9)
                id = ""
                async for line in answer.aiter_lines():
                    if line.startswith("id: "):
                        id = line[4:]
                    elif line.startswith("data: ") and id:
                        event = json.loads(line[6:])
                        text, last_id = text + event.get("text", ""), id
                        frames_left -= 1
                        if frames_left == 0:
                            break
        assert text == TEXT and last_id == f"{NUM}.end"
