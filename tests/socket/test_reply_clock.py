"""A ping that names a reply is answered on that reply's clock, so that a page can place it on its own."""

from __future__ import annotations

import json
from typing import Any

from websockets.asyncio.client import connect

from app.engine.scripted import ScriptedEngine


async def test_a_ping_that_names_a_reply_is_answered_on_its_clock(serve: Any) -> None:
    running = await serve(ScriptedEngine([(b"a", 20.0), (b" b", 20.0), (b" c", 200.0)]))
    async with connect(running.ws) as socket:
        start = {
            "type": "start",
            "id": "mine",
            "messages": [{"role": "user", "content": "x"}],
            "pace": "token",
        }
        await socket.send(json.dumps(start))
        reply, last_t = "", 0.0
        pong: dict[str, Any] | None = None
        async for text in socket:
            event = json.loads(text)
            if event["type"] == "delta" and pong is None:
                reply, last_t = event["reply"], event["t"]
                await socket.send(json.dumps({"type": "ping", "t": 5, "reply": reply}))
            if event["type"] == "pong":
                pong = event
            if event["type"] == "done":
                break
        assert pong is not None
        assert pong["echo"] == 5 and pong["reply"] == reply
        assert 20 <= last_t <= pong["t"] <= event["t"]


async def test_a_ping_that_names_no_known_reply_is_refused_and_the_socket_stays(serve: Any) -> None:
    running = await serve(ScriptedEngine())
    async with connect(running.ws) as socket:
        await socket.send(json.dumps({"type": "ping", "reply": "nobody"}))
        assert json.loads(await socket.recv())["code"] == "not_found"
        await socket.send(json.dumps({"type": "ping", "t": 1}))
        pong = json.loads(await socket.recv())
        assert pong["type"] == "pong" and pong["echo"] == 1 and "reply" not in pong
