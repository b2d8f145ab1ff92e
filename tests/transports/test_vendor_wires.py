"""What only a socket shows of the vendors' wires: bytes, headers, silence, and clients that leave."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.events import AnyEvent
from app.generation import Begun, Output, Sink
from app.prompt import Prompt
from app.reply.log import Reply
from tests.server import Running

Serve = Callable[..., Awaitable[Running]]
CHAT: dict[str, Any] = {"model": "default", "messages": [{"role": "user", "content": "Hi"}]}
MESSAGE = {**CHAT, "max_tokens": 100}
TEXT = {"model": "default", "prompt": "Hi"}
STREAMED = [("/v1/chat/completions", CHAT), ("/v1/completions", TEXT), ("/v1/messages", MESSAGE)]


class WatchedEngine(ScriptedEngine):
    """Makes a token when told to, and says when prompts begin and end."""

    def __init__(self, text: str = "one two three", **options: Any) -> None:
        super().__init__(spoken(text, 0.0), manual=True, **options)
        self.begun = asyncio.Event()
        self.cancelled: asyncio.Queue[str] = asyncio.Queue()

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        def watch(output: Output) -> None:
            sink(output)
            if isinstance(output, Begun):
                self.begun.set()

        super().submit(prompt, watch)

    def cancel(self, id: str) -> None:
        super().cancel(id)
        self.cancelled.put_nowait(id)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=30) as client:
        yield client


@pytest.mark.parametrize(("path", "body"), STREAMED)
async def test_headers_keep_proxies_from_holding_frames_back(
    serve: Serve, http: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    running = await serve(ScriptedEngine(spoken("one two", 0.0)))
    answer = await http.post(running.url + path, json={**body, "stream": True})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "content-encoding" not in answer.headers and "content-length" not in answer.headers
    request_id = "request-id" if path == "/v1/messages" else "x-request-id"
    assert answer.headers[request_id].startswith("req_")
    assert answer.content.endswith(b"\n\n")
    # Either field would break the official OpenAI SDK.
    assert b"\nid:" not in answer.content and b"\nretry:" not in answer.content


@pytest.mark.parametrize(("path", "body"), STREAMED)
async def test_whole_answers_are_json_with_a_length(
    serve: Serve, http: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    running = await serve(ScriptedEngine(spoken("one two", 0.0)))
    answer = await http.post(running.url + path, json=body)
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(("path", "body"), STREAMED)
async def test_each_token_is_sent_when_it_is_made(
    serve: Serve, http: httpx.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    engine = WatchedEngine()
    running = await serve(engine)
    stepping = asyncio.create_task(_step_when_begun(engine))
    async with http.stream("POST", running.url + path, json={**body, "stream": True}) as answer:
        await stepping
        heard = b""
        chunks = answer.aiter_bytes()
        for word in (b"one", b" two", b" three"):
            while b'"' + word + b'"' not in heard:
                heard += await anext(chunks)
            engine.step()
        async for chunk in chunks:
            heard += chunk
    assert heard.rstrip().endswith((b"[DONE]", b'{"type":"message_stop"}'))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
async def test_silence_is_broken_by_pings_that_the_sdks_skip(
    serve: Serve, http: httpx.AsyncClient, path: str
) -> None:
    engine = WatchedEngine("one")
    running = await serve(engine, vendor_ping_s=0.1)
    ping = b'event: ping\ndata: {"type":"ping"}\n\n' if path == "/v1/messages" else b": ping\n\n"
    async with http.stream("POST", running.url + path, json={**MESSAGE, "stream": True}) as answer:
        heard = b""
        async for chunk in answer.aiter_bytes():
            heard += chunk
            if heard.count(ping) == 3:
                break
    if path == "/v1/messages":
        assert heard.startswith(b"event: message_start\n")
    else:
        assert heard == ping * 3


async def test_the_openai_sdk_hears_nothing_of_pings(serve: Serve) -> None:
    engine = WatchedEngine("one two")
    running = await serve(engine, vendor_ping_s=0.1)
    async with AsyncOpenAI(base_url=f"{running.url}/v1", api_key="any", max_retries=0) as client:
        # The first ping opens the response; only then the SDK gives the stream.
        stream = await client.chat.completions.create(**CHAT, stream=True)
        engine.step()
        engine.step()
        engine.step()
        assert "".join([c.choices[0].delta.content or "" async for c in stream]) == "one two"


async def test_the_anthropic_sdk_hears_nothing_of_pings(serve: Serve) -> None:
    engine = WatchedEngine("one two", slots=1)
    running = await serve(engine, vendor_ping_s=0.1)
    other: list[Output] = []
    engine.submit(Prompt(id="other", text="first", ignore_eos=True), other.append)
    async with AsyncAnthropic(base_url=running.url, api_key="any", max_retries=0) as client:
        # In line behind the other one: what opens the response now is a comment.
        stream = await client.messages.create(**MESSAGE, stream=True)
        engine.cancel("other")
        kinds = []
        async for event in stream:
            kinds.append(event.type)
            engine.step()
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop"


@pytest.mark.parametrize("n", [1, 2])
async def test_leaving_a_stream_ends_the_work(serve: Serve, n: int) -> None:
    engine = WatchedEngine("one two three four five six", slots=2)
    running = await serve(engine)
    async with AsyncOpenAI(base_url=f"{running.url}/v1", api_key="any", max_retries=0) as client:
        stepping = asyncio.create_task(_step_when_begun(engine))
        stream = await client.chat.completions.create(**CHAT, n=n, stream=True)
        await stepping
        await anext(aiter(stream))
        await stream.close()
        cancelled = [await asyncio.wait_for(engine.cancelled.get(), 10) for _ in range(n)]
    await _settled()
    made = dict(engine.made)
    assert set(cancelled) == set(made)
    engine.step()
    assert engine.made == made and len(made) == n
    assert len(running.replies) == 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("phase", ["in line", "in prefill"])
@pytest.mark.parametrize(("path", "body"), STREAMED)
async def test_leaving_before_anything_was_written_ends_the_work(
    serve: Serve, http: httpx.AsyncClient, path: str, body: dict[str, Any], phase: str, stream: bool
) -> None:
    engine = WatchedEngine(slots=1)
    running = await serve(engine)
    if phase == "in line":
        engine.submit(Prompt(id="other", text="first"), lambda output: None)
    waiting = _waiting(running)
    asking = asyncio.create_task(http.post(running.url + path, json={**body, "stream": stream}))
    await (waiting if phase == "in line" else engine.begun.wait())
    asking.cancel()
    assert await asyncio.wait_for(engine.cancelled.get(), 10) != "other"
    assert len(running.replies) == 0


async def test_a_reader_that_stops_reading_pauses_the_engine_and_is_cut_off(serve: Serve) -> None:
    engine = ScriptedEngine(spoken("word " * 200, 0.0))
    running = await serve(engine, stall_s=0.2, high_tokens=16, low_tokens=4, send_buffer_bytes=4096)
    told: list[str] = []
    ended = asyncio.Event()

    def watch(reply: Reply, event: AnyEvent) -> None:
        told.append(type(event).__name__)
        if reply.failure is not None:
            told.append(reply.failure.code)
        if reply.end is not None:
            ended.set()

    running.replies.on_event = watch
    body = b'{"model":"default","prompt":"Hi","max_tokens":1000,"ignore_eos":true,"stream":true}'
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(sock, ("127.0.0.1", running.port))
        request = b"POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-length: %d\r\n\r\n%b"
        await loop.sock_sendall(sock, request % (running.port, len(body), body))
        await asyncio.wait_for(ended.wait(), 20)
    assert told[-1] == "slow_consumer" and "Paused" in told
    assert sum(engine.made.values()) < 500


async def _step_when_begun(engine: WatchedEngine) -> None:
    await engine.begun.wait()
    engine.step()


async def _settled() -> None:
    """Let what is due on this loop happen."""
    for _ in range(5):
        await asyncio.sleep(0)


def _waiting(running: Running) -> asyncio.Future[None]:
    """Resolved when a reply is told its place in line."""
    told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    running.replies.on_event = lambda reply, event: None if told.done() else told.set_result(None)
    return told
