"""F09 with a crowd, and F12: a server that goes tells everybody, and who is cut off twice loses nothing."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO, http_request, raw, talk

WORDS = [(f"{number} ".encode(), 0.0) for number in range(10)]
SSE = http_request("POST", "/api/replies", {"messages": HELLO}, accept="text/event-stream")


async def test_eight_sockets_and_four_streams_all_hear_one_end():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, drain_s=0.2) as s, AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(talk(s.ws)) for _ in range(8)]
        streams = [await stack.enter_async_context(raw(s.port)) for _ in range(4)]
        for place, socket in enumerate(sockets):
            await socket.start(f"r{place}")
        for stream in streams:
            await stream.send(SSE)
        await until(lambda: len(s.replies.running()) == 12)
        engine.step()
        s.server.handle_exit(signal.SIGTERM, None)
        told = await asyncio.gather(*(socket.hear_until("error") for socket in sockets))
        for events in told:
            assert events[-1]["code"] == "server_shutdown"
            assert [e["text"] for e in events if e["type"] == "delta"] == ["0 "]
        await asyncio.gather(*(socket.connection.wait_closed() for socket in sockets))
        assert {socket.connection.close_code for socket in sockets} == {4012}
        for data in await asyncio.gather(*(stream.read_until(b"\r\n0\r\n\r\n") for stream in streams)):
            assert data.count(b'"type":"error"') == 1 and b"server_shutdown" in data
            assert data.count(b'"type":"delta"') == 1
        await until(lambda: not s.replies.running())


async def test_cut_off_again_before_the_first_new_event_the_cursor_is_still_good():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine) as s:
        async with talk(s.ws) as ws:
            await ws.start("a")
            await until(lambda: s.replies.running())
            for _ in range(3):
                engine.step()
            events = await ws.hear_until("delta", seq=3)
            text, reply = "".join(e["text"] for e in events if e["type"] == "delta"), events[-1]["reply"]
            ws.connection.transport.abort()
        for _ in range(3):
            await until(lambda: not s.replies.has_readers())
            async with talk(s.ws) as ws:
                await ws.say("attach", reply=reply, after=3)
                await until(lambda: s.replies.has_readers())
                ws.connection.transport.abort()
        for _ in range(7):
            engine.step()
        async with talk(s.ws) as ws:
            await ws.say("attach", reply=reply, after=3)
            events = await ws.hear_until("done")
        assert all(event.get("recovered") is not False for event in events)
        deltas = [event for event in events if event["type"] == "delta"]
        assert [event["seq"] for event in deltas] == list(range(4, 11))
        assert text + "".join(event["text"] for event in deltas) == b"".join(w for w, _ in WORDS).decode()
