"""gRPC with a real client on a real port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import StartupError
from app.events import Delta
from app.reply.log import Reply
from app.reply.registry import Replies
from app.settings import Settings

pytest.importorskip("grpc")

import grpc
import grpc.aio

from app.transports.grpc_messages import SERVICE, Event, GenerateRequest
from app.transports.grpc_server import GrpcServer

SCRIPT = [
    (text.encode(), 0.0) for text in ["One", " word", ",", " then", " another", ".", " 👩", "🏽", " नम", "स्ते"]
]
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}


class Wire:
    """A server with its engine, and a client's stub."""

    def __init__(self, engine: ScriptedEngine, settings: Settings) -> None:
        self.engine = engine
        self.replies = Replies(engine, settings)
        self.server = GrpcServer(self.replies, settings, "127.0.0.1", 0)
        #: All replies ever, as the registry forgets those that nobody can resume.
        self.seen: dict[str, Reply] = {}
        self.replies.on_event = lambda reply, event: self.seen.update({reply.id: reply})

    def connect(self, *options: tuple[str, int]) -> Any:
        return grpc.aio.insecure_channel(f"127.0.0.1:{self.server.port}", options=options)

    @property
    def reply(self) -> Reply:
        (reply,) = self.seen.values()
        return reply


def generate(channel: Any, request: dict[str, Any], **how: Any) -> Any:
    stub = channel.unary_stream(
        f"/{SERVICE}/Generate",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=Event.FromString,
    )
    return stub(GenerateRequest(**request), **how)


@pytest.fixture
async def wired() -> AsyncIterator[Callable[..., Any]]:
    """``await wired(engine, **settings)`` gives a Wire whose server runs and whose engine is ready."""
    async with AsyncExitStack() as stack:

        async def start(engine: ScriptedEngine | None = None, **settings: Any) -> tuple[Wire, Any]:
            wire = Wire(engine or ScriptedEngine(SCRIPT), Settings(**{"drain_s": 0.0, **settings}))
            await wire.engine.start()
            stack.push_async_callback(wire.engine.stop)
            await wire.server.start()
            stack.push_async_callback(wire.server.stop)
            channel = await stack.enter_async_context(wire.connect())
            return wire, channel

        yield start


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what the other end of a socket brings about; the test's timeout is the limit."""
    while not condition():  # noqa: ASYNC110  (nobody would set an event)
        await asyncio.sleep(0.005)


async def rest(call: Any) -> list[Any]:
    """What comes after some reads; grpc does not let us mix them with iterating."""
    events = []
    while (event := await call.read()) is not grpc.aio.EOF:
        events.append(event)
    return events


async def refused(call: Any) -> tuple[Any, str, dict[str, str]]:
    """How a call failed: status, details, trailing metadata."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await rest(call)
    return failure.value.code(), failure.value.details(), dict(failure.value.trailing_metadata())


@pytest.mark.parametrize("pace", ["token", "word", "sentence", "whole"])
async def test_its_text_is_the_log_s_at_every_pace(wired, pace):
    wire, channel = await wired()
    told = [event async for event in generate(channel, {**ASKED, "pace": pace, "id": "mine"})]
    deltas = [event.delta for event in told if event.WhichOneof("event") == "delta"]
    assert "".join(d.text for d in deltas) == b"".join(data for data, _ in SCRIPT).decode() == wire.reply.text
    assert [event.WhichOneof("event") for event in told[:2]] == ["queued", "started"]
    assert told[1].started.id == "mine"
    done = told[-1].done
    assert (done.finish_reason, done.seq) == ("stop", len(wire.reply.deltas))
    assert done.usage.completion_tokens == sum(d.tokens for d in deltas) == len(SCRIPT)
    assert done.timings.HasField("first_token_ms")
    if pace == "whole":
        assert len(deltas) == 1


async def test_a_cancelled_call_stops_the_engine(wired):
    wire, channel = await wired(ScriptedEngine([(b"x", 1.0)]))
    call = generate(channel, {**ASKED, "ignore_eos": True, "max_tokens": 1000})
    async for event in call:
        if event.WhichOneof("event") == "delta":
            break
    call.cancel()
    await until(lambda: not wire.reply.running)
    assert wire.reply.end.finish_reason == "cancelled"
    assert len(wire.replies) == 0


async def test_a_call_cancelled_in_line_leaves_it(wired):
    wire, channel = await wired(ScriptedEngine(SCRIPT, slots=1, manual=True))
    first, second = generate(channel, ASKED), generate(channel, ASKED)
    await first.read()
    await second.read()
    second.cancel()
    await until(lambda: len(wire.replies) == 1)
    first.cancel()
    await until(lambda: len(wire.replies) == 0)
    assert sum(wire.engine.made.values()) == 0


async def test_a_deadline_stops_the_engine(wired):
    wire, channel = await wired(ScriptedEngine([(b"x", 1.0)]))
    call = generate(channel, {**ASKED, "ignore_eos": True, "max_tokens": 1000}, timeout=0.3)
    status, _, _ = await refused(call)
    assert status == grpc.StatusCode.DEADLINE_EXCEEDED
    await until(lambda: all(not reply.running for reply in wire.seen.values()))
    assert len(wire.replies) == 0


#: A client that takes 64 KiB ahead of its reader, and no more however fast the line is.
SMALL_WINDOW = (("grpc.http2.lookahead_bytes", 65536), ("grpc.http2.bdp_probe", 0))
#: Tokens of 16 KiB fill that, and what lies between, with some tens of them.
LARGE = [(b"x" * 16384, 0.0)]


async def asleep(wire: Wire) -> int:
    """Wait until the only reply has paused for good; returns the tokens it has made."""
    made = -1
    while wire.reply.pause is None or made != wire.engine.made[wire.reply.id]:
        made = wire.engine.made[wire.reply.id]
        await asyncio.sleep(0.2)
    return made


async def test_a_client_that_does_not_read_makes_the_engine_pause_and_nobody_else(wired):
    wire, channel = await wired(ScriptedEngine(LARGE), high_tokens=8, low_tokens=2)
    async with wire.connect(*SMALL_WINDOW) as sleepy:
        call = generate(sleepy, {**ASKED, "ignore_eos": True, "max_tokens": 400})
        await call.read()
        await until(lambda: bool(wire.seen))
        reply = wire.reply
        made = await asleep(wire)
        assert made < 100
        neighbour = generate(channel, {**ASKED, "ignore_eos": True, "max_tokens": 20})
        assert [event async for event in neighbour][-1].done.finish_reason == "length"
        assert wire.engine.made[reply.id] == made
        # It wakes up, and nothing is lost.
        assert sum(len(event.delta.text) for event in await rest(call)) == 400 * 16384
        assert wire.engine.made[reply.id] == 400


async def test_a_client_that_never_reads_is_given_up(wired):
    wire, _ = await wired(ScriptedEngine(LARGE), high_tokens=8, low_tokens=2, stall_s=0.3, send_s=0.3)
    async with wire.connect(*SMALL_WINDOW) as sleepy:
        call = generate(sleepy, {**ASKED, "ignore_eos": True, "max_tokens": 1000})
        await call.read()
        await until(lambda: bool(wire.seen) and not wire.reply.running)
        assert wire.engine.made[wire.reply.id] < 100
        await until(lambda: len(wire.replies) == 0)
        status, _, _ = await refused(call)
        assert status == grpc.StatusCode.ABORTED


async def test_errors_before_the_first_event_are_the_call_s_status(wired):
    _, channel = await wired(max_waiting=1)
    for request, param, words in [
        ({}, "messages", "messages is missing"),
        ({**ASKED, "max_tokens": 0}, "max_tokens", "whole number from 1 to 1024"),
        ({**ASKED, "temperature": 3.0}, "temperature", "from 0 to 2"),
        ({**ASKED, "temperature": float("nan")}, "temperature", "from 0 to 2"),
        ({**ASKED, "pace": "slow"}, "pace", "token, word, sentence, whole"),
        ({"messages": [{"role": "nobody", "content": "Hi"}]}, "messages[0].role", "system, user, assistant"),
    ]:
        status, details, metadata = await refused(generate(channel, request))
        assert status == grpc.StatusCode.INVALID_ARGUMENT
        assert words in details
        assert (metadata["firstword-code"], metadata["firstword-param"]) == ("invalid_request", param)


async def test_a_prompt_that_is_too_long_is_refused_with_both_numbers(wired):
    _, channel = await wired(ScriptedEngine(SCRIPT, context_tokens=4))
    long = {"messages": [{"role": "user", "content": "one two three four five six"}]}
    status, details, metadata = await refused(generate(channel, long))
    assert status == grpc.StatusCode.INVALID_ARGUMENT
    assert metadata["firstword-code"] == "prompt_too_long"
    assert "4" in details and "6" in details


async def test_a_full_line_is_resource_exhausted(wired):
    wire, channel = await wired(ScriptedEngine(SCRIPT, slots=1, manual=True), max_waiting=1)
    running, waiting = generate(channel, ASKED), None
    await running.read()
    await until(lambda: wire.replies.waiting() == 0)
    waiting = generate(channel, ASKED)
    await waiting.read()
    status, _, metadata = await refused(generate(channel, ASKED))
    assert status == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert metadata["firstword-code"] == "overloaded"
    assert int(metadata["firstword-retry-after-s"]) > 0
    running.cancel()
    waiting.cancel()


async def test_an_engine_that_is_not_there_is_unavailable(wired):
    wire, channel = await wired()
    await wire.engine.stop()
    status, _, _ = await refused(generate(channel, ASKED))
    assert status == grpc.StatusCode.UNAVAILABLE


async def test_an_error_in_mid_reply_is_an_event_and_then_the_status(wired):
    _, channel = await wired(ScriptedEngine(SCRIPT, fail_at=3))
    told: list[Any] = []
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        async for event in generate(channel, ASKED):
            told.append(event)
    assert "".join(event.delta.text for event in told) == "One word,"
    assert told[-1].error.code == "engine_error"
    assert failure.value.code() == grpc.StatusCode.INTERNAL
    assert dict(failure.value.trailing_metadata())["firstword-code"] == "engine_error"


async def test_a_reply_stopped_by_somebody_else_ends_well(wired):
    wire, channel = await wired(ScriptedEngine(SCRIPT, manual=True))
    call = generate(channel, ASKED)
    await call.read()
    wire.reply.stop()
    assert (await rest(call))[-1].done.finish_reason == "cancelled"


async def test_with_a_key_set_calls_need_it(wired):
    _, channel = await wired(api_key="secret")
    for metadata in [(), (("authorization", "Bearer wrong"),), (("authorization", "secret"),)]:
        status, _, _ = await refused(generate(channel, ASKED, metadata=metadata))
        assert status == grpc.StatusCode.UNAUTHENTICATED
    call = generate(channel, ASKED, metadata=(("authorization", "Bearer secret"),))
    assert [event async for event in call][-1].done.finish_reason == "stop"


async def test_a_taken_port_is_one_clear_line(wired):
    wire, _ = await wired()
    second = GrpcServer(wire.replies, Settings(), "127.0.0.1", wire.server.port)
    with pytest.raises(StartupError, match=f"gRPC cannot listen on 127.0.0.1:{wire.server.port}"):
        await second.start()
    await second.stop()


async def test_deltas_leave_one_by_one_as_they_are_made(wired):
    wire, channel = await wired(ScriptedEngine(SCRIPT, manual=True))
    call = generate(channel, ASKED)
    assert (await call.read()).queued.position == 0
    assert (await call.read()).started.prompt_tokens == 1
    for step in range(1, 4):
        wire.engine.step()
        assert (await call.read()).delta.seq == step
    assert [d.text for d in wire.reply.deltas if isinstance(d, Delta)] == ["One", " word", ","]
    call.cancel()
