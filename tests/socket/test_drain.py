"""Shutdown: new work is refused, running replies may finish, what is left ends with a clear word."""

import asyncio
import contextlib
import os
import signal
import sys

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import StartupError
from app.server import listen
from app.settings import Settings
from tests.server import run_server, until
from tests.socket.clients import HELLO, http_request, raw, sse_events, talk

WORDS = [(b"One", 0.0), (b" two", 0.0)]


async def test_running_replies_finish_and_new_ones_are_refused():
    engine = ScriptedEngine(WORDS, manual=True)
    async with run_server(engine, drain_s=10.0) as s, talk(s.ws) as ws, raw(s.port) as sse:
        await ws.start("a")
        await ws.hear_until("started")
        await sse.send(http_request("POST", "/api/replies", {"messages": HELLO}, accept="text/event-stream"))
        await sse.read_until(b'"started"')
        s.server.handle_exit(signal.SIGTERM, None)
        await until(lambda: s.replies.draining)
        async with httpx.AsyncClient(base_url=s.url) as c:
            ready = await c.get("/readyz")
            assert (ready.status_code, ready.json()["state"]) == (503, "draining")
            refused = await c.get("/generate-full?prompt=x")
            assert (refused.status_code, refused.json()["code"]) == (503, "server_shutdown")
            assert int(refused.headers["retry-after"]) >= 1
            assert (await c.get("/healthz")).status_code == 200
        await ws.start("b")
        assert (await ws.hear())["code"] == "server_shutdown"
        engine.step()
        engine.step()
        assert (await ws.hear_until("done"))[-1]["finish_reason"] == "stop"
        await ws.connection.wait_closed()
        assert (ws.connection.close_code, ws.connection.close_reason) == (4012, "server_shutdown")
        assert b'"done"' in await sse.read_until(b"\r\n0\r\n\r\n")


async def test_what_does_not_finish_in_time_ends_with_one_error_everywhere():
    engine = ScriptedEngine(WORDS, manual=True)
    async with (
        run_server(engine, drain_s=0.1) as s,
        talk(s.ws) as ws,
        raw(s.port) as sse,
        raw(s.port) as whole,
    ):
        await ws.start("a")
        await ws.hear_until("started")
        await sse.send(http_request("POST", "/api/replies", {"messages": HELLO}, accept="text/event-stream"))
        await sse.read_until(b'"started"')
        await whole.send(http_request("GET", "/generate-full?prompt=x"))
        await until(lambda: len(s.replies.running()) == 3)
        engine.step()
        s.server.handle_exit(signal.SIGTERM, None)
        events = await ws.hear_until("error")
        assert events[0]["text"] == "One" and events[-1]["code"] == "server_shutdown"
        await ws.connection.wait_closed()
        assert ws.connection.close_code == 4012
        data = await sse.read_until(b"\r\n0\r\n\r\n")
        assert data.count(b'"type":"error"') == 1 and b"server_shutdown" in data
        assert (await whole.read_until(b"}")).startswith(b"HTTP/1.1 503 ")


async def test_a_socket_that_reads_nothing_is_told_why_it_is_closed():
    async with run_server(ScriptedEngine(WORDS)) as s, talk(s.ws) as ws:
        await ws.say("ping")
        await ws.hear_until("pong")
        s.server.handle_exit(signal.SIGTERM, None)
        await ws.connection.wait_closed()
        assert (ws.connection.close_code, ws.connection.close_reason) == (4012, "server_shutdown")


async def start_process(*args: str, **environ: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "serve", "--engine", "scripted", *args,
        env=os.environ | environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def url_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        line = await process.stdout.readline()
    return line.decode().split()[-1]


async def test_sigterm_ends_the_process_well_after_the_last_word():
    process = await start_process("--port", "0", FIRSTWORD_DRAIN_S="5")
    try:
        url = await url_of(process)
        body = {"messages": HELLO, "max_tokens": 12}
        async with httpx.AsyncClient(base_url=url, timeout=20) as c:
            async with c.stream(
                "POST", "/api/replies", json=body, headers={"accept": "text/event-stream"}
            ) as answer:
                chunks = answer.aiter_text()
                text = await anext(chunks)
                process.send_signal(signal.SIGTERM)
                async for chunk in chunks:
                    text += chunk
            done = sse_events(text)[-1]
            assert (done["type"], done["usage"]["completion_tokens"]) == ("done", 12)
        async with asyncio.timeout(20):
            _, errors = await process.communicate()
        assert process.returncode == 0, errors
        assert b"Traceback" not in errors
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_a_second_signal_does_not_wait():
    process = await start_process("--port", "0", FIRSTWORD_DRAIN_S="60")
    try:
        url = await url_of(process)
        async with talk(url.replace("http", "ws") + "/ws") as ws:
            await ws.start(ignore_eos=True, max_tokens=1000)
            await ws.hear_until("delta")
            process.send_signal(signal.SIGTERM)
            async with httpx.AsyncClient(base_url=url) as c:
                while (await c.get("/readyz")).status_code != 503:
                    pass
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                await process.wait()
        assert process.returncode == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_a_port_in_use_is_one_clear_line_and_a_failure():
    with listen(Settings(port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartupError, match=f"cannot listen on 127.0.0.1:{port}"):
            listen(Settings(port=port))
        process = await start_process("--port", str(port))
        async with asyncio.timeout(60):
            output, errors = await process.communicate()
    assert process.returncode == 1
    assert output == b"" and len(errors.splitlines()) == 1
    assert b"address already in use" in errors


async def test_a_grpc_port_in_use_is_one_clear_line_too():
    pytest.importorskip("grpc")
    with listen(Settings(port=0)) as taken:
        port = taken.getsockname()[1]
        process = await start_process("--port", "0", "--grpc-port", str(port))
        async with asyncio.timeout(60):
            output, errors = await process.communicate()
    assert process.returncode == 1
    assert output == b"" and errors.decode().splitlines() == [
        f"firstword: gRPC cannot listen on 127.0.0.1:{port}: is another program using that port?"
    ]
