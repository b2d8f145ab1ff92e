"""Readers that do not read: generation waits, then ends; nobody else notices."""

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import SlowConsumer
from app.events import Paused
from app.generation import StepRecord
from app.reply.log import Reply
from tests.server import Running, run_server, until
from tests.socket.clients import HELLO, UPGRADE, Raw, http_request, raw, talk, text_frame

HIGH, LOW = 16, 4
#: A token that a 4 KiB receive buffer does not swallow by the dozen.
BIG = (b"x" * 1000, 0.0)
BODY = {"messages": HELLO, "ignore_eos": True, "max_tokens": 1000}
MESSAGE = {"model": "default", "messages": HELLO, "max_tokens": 1000, "stream": True}
SLEEPERS = {
    "sse": http_request("POST", "/api/replies", BODY, accept="text/event-stream"),
    "ndjson": http_request("POST", "/api/replies", BODY, accept="application/x-ndjson"),
    "plain": http_request("GET", "/generate-stream?prompt=x&ignore_eos=true&max_tokens=1000"),
    "openai": http_request("POST", "/v1/chat/completions", MESSAGE | {"ignore_eos": True}),
    "anthropic": http_request("POST", "/v1/messages", MESSAGE),
}


async def on_every_wire(check: Callable[[str], Awaitable[None]]) -> None:
    """Run ``check`` on all of them at once: they mostly wait. The exception's note names the wire."""

    async def on(name: str) -> None:
        try:
            await check(name)
        except BaseException as error:
            error.add_note(f"wire: {name}")
            raise

    async with asyncio.TaskGroup() as group:
        for name in (*SLEEPERS, "socket"):
            group.create_task(on(name))


async def fall_asleep(s: Running, c: Raw, request: bytes) -> Reply:
    """Ask and never read; returns the reply once its generation waits."""
    await c.send(request)
    return await waiting(s)


async def waiting(s: Running) -> Reply:
    """The only reply, once its generation waits for the reader."""
    await until(lambda: s.replies.running())
    reply = s.replies.running()[0]
    await until(lambda: reply.pause)
    return reply


async def test_a_reader_that_never_reads_is_waited_for_and_then_cut_off():
    async def check(name: str) -> None:
        engine = ScriptedEngine([BIG] * 1000)
        async with (
            run_server(engine, high_tokens=HIGH, low_tokens=LOW, stall_s=0.3, send_s=5.0) as s,
            raw(s.port, receive_buffer=4096) as c,
        ):
            await ask(c, name)
            reply = await waiting(s)
            made, read = engine.made[reply.id], reply.credit.read
            assert made - read <= HIGH
            # Read means: taken by buffers, which are small.
            assert read * len(BIG[0]) < 150_000
            await until(lambda: not reply.running)
            assert isinstance(reply.failure, SlowConsumer)
            assert engine.made[reply.id] == made, "nothing was made while nobody read"
            await until(lambda: not s.server.server_state.connections)
            await until(lambda: not s.replies.has_readers())

    await on_every_wire(check)


async def ask(c: Raw, name: str, **fields: Any) -> None:
    """Ask over a wire by its name; on the socket without acks."""
    if name == "socket":
        await c.send(UPGRADE)
        await c.read_until(b"\r\n\r\n")
        await c.send(text_frame({"type": "start", "id": "a", **BODY, **fields}))
    else:
        await c.send(SLEEPERS[name])


@pytest.mark.parametrize("per_second", [30, 200])
async def test_generation_pauses_soon_after_a_reader_has_stopped_and_goes_on_when_it_reads(per_second):
    # Counted in tokens, as a busy machine makes both sides late: a second's, or how many may be unread.
    async def check(name: str) -> None:
        engine = ScriptedEngine([(b"%04d " % n, 1000 / per_second) for n in range(1000)])
        async with run_server(engine) as s, raw(s.port, receive_buffer=4096) as c:
            await ask(c, name)
            heard = await c.read_until(b"0004 ")
            (reply,) = s.replies.running()
            made = engine.made[reply.id]
            await until(lambda: reply.pause)
            made_unread = engine.made[reply.id] - made
            assert made_unread <= max(per_second, 64)
            heard += await c.read_until(b"0120 ")
            assert [heard.count(b"%04d " % n) for n in range(121)] == [1] * 121
            assert reply.pause is None

    await on_every_wire(check)


async def test_a_reader_that_reads_slowly_but_steadily_is_not_waited_for_longer_than_it_needs():
    async def check(name: str) -> None:
        engine = ScriptedEngine([(b"%04d " % n, 5.0) for n in range(1000)])
        async with run_server(engine, stall_s=1.0) as s, raw(s.port, receive_buffer=4096) as c:
            await ask(c, name)
            heard = b""
            while b"0200 " not in heard:
                heard += await c.read(512)
                await asyncio.sleep(0.02)
            assert [heard.count(b"%04d " % n) for n in range(200)] == [1] * 200

    await on_every_wire(check)


async def test_a_reader_that_reads_all_is_never_waited_for_however_small_its_buffer():
    engine = ScriptedEngine([(b"word ", 5.0)] * 1000)
    async with run_server(engine) as s, AsyncExitStack() as stack:
        readers = []
        for name in [*SLEEPERS, "socket"]:
            c = await stack.enter_async_context(raw(s.port, receive_buffer=4096))
            await ask(c, name)
            readers.append(asyncio.ensure_future(c.read_until(b"nothing of the kind")))
        await until(lambda: len(s.replies.running()) == len(readers))
        replies = s.replies.running()
        await until(lambda: all(engine.made[reply.id] >= 200 for reply in replies))
        assert not [event for reply in replies for event in reply.log if isinstance(event, Paused)]
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


async def test_acks_that_stop_coming_pause_generation_soon():
    engine = ScriptedEngine([(b"word ", 10.0)])
    async with run_server(engine) as s, raw(s.port, receive_buffer=4096) as c:
        await ask(c, "socket", acks=True)
        await c.read_until(b'"seq":5,')
        (reply,) = s.replies.running()
        await c.send(text_frame({"type": "ack", "reply": reply.id, "seq": 5}))
        await until(lambda: reply.credit.read == 5)
        made = engine.made[reply.id]
        await until(lambda: reply.pause)
        assert engine.made[reply.id] - made < 64


async def test_every_answer_that_is_not_taken_in_time_ends_its_connection():
    engine = ScriptedEngine([(b"x" * 20_000, 0.0)])
    whole = BODY | {"max_tokens": 500, "ignore_eos": True}
    for request in (
        http_request("POST", "/api/replies", whole, accept="application/json"),
        http_request("GET", "/generate-full?prompt=x&ignore_eos=true&max_tokens=500"),
        http_request("POST", "/v1/chat/completions", MESSAGE | {"stream": False, "ignore_eos": True}),
        http_request("GET", "/static/js/events.js") * 200,
    ):
        async with run_server(engine, send_s=0.3) as s, raw(s.port, receive_buffer=4096) as c:
            await c.send(request)
            await until(lambda: s.server.server_state.connections)
            await until(lambda: not s.server.server_state.connections)


async def test_a_reader_that_stops_reading_is_ended_after_the_limit_and_its_memory_is_back():
    engine = ScriptedEngine([(b"word ", 1.0)], slots=2)
    async with (
        run_server(engine, stall_s=0.3) as s,
        raw(s.port, receive_buffer=4096) as c,
        talk(s.ws) as neighbour,
    ):
        await c.send(SLEEPERS["sse"])
        await c.read_until(b'"seq":5,')
        reply = s.replies.running()[0]
        await until(lambda: reply.pause)
        made = engine.made[reply.id]
        steps: list[StepRecord] = []
        engine.watch_steps(steps.append)
        await neighbour.start(ignore_eos=True, max_tokens=500)
        done = (await neighbour.hear_until("done"))[-1]
        # Ended after the limit while the neighbour spoke, and its memory back in the same moment.
        assert isinstance(reply.failure, SlowConsumer) and engine.made[reply.id] == made
        assert done["usage"]["completion_tokens"] == 500
        # No step of the neighbour's held a row of the sleeper's: it cost it nothing at all.
        assert {id for step in steps for id, _, _ in step.rows} == {done["reply"]}
        sleeping, alone = steps[0], steps[-2]
        assert (sleeping.paused, alone.paused) == (1, 0)
        assert sleeping.kv_used_blocks > made // 16 and alone.kv_used_blocks == -(-(1 + 499) // 16)


async def test_a_frame_that_is_not_taken_in_time_ends_the_connection():
    engine = ScriptedEngine([BIG])
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW, stall_s=60.0, send_s=0.3) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        reply = await fall_asleep(s, c, SLEEPERS["sse"])
        await until(lambda: not s.server.server_state.connections)
        await until(lambda: not reply.readers)
        # Nobody has left who could come back: the generation must not run on.
        assert isinstance(reply.failure, SlowConsumer)
        assert engine.made[reply.id] <= reply.credit.read + HIGH


async def test_a_sleeping_websocket_is_cut_off_too():
    engine = ScriptedEngine([BIG])
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW, stall_s=60.0, send_s=0.3) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        await c.send(UPGRADE)
        await c.read_until(b"\r\n\r\n")
        reply = await fall_asleep(s, c, text_frame({"type": "start", "id": "a", **BODY}))
        assert engine.made[reply.id] - reply.credit.read <= HIGH
        await until(lambda: not s.server.server_state.connections)
        await until(lambda: not reply.readers)
        assert isinstance(reply.failure, SlowConsumer)


async def test_a_stalled_socket_leaves_a_reply_alone_that_another_reads():
    engine = ScriptedEngine([BIG])
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW, stall_s=60.0, send_s=0.3) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        reply = await fall_asleep(s, c, SLEEPERS["sse"])
        awake = reply.attach("whole")
        text = [event async for event in awake]
        assert text[-1].finish_reason == "length"  # type: ignore[union-attr]
        awake.close()


async def test_a_reader_that_wakes_up_in_time_gets_everything():
    engine = ScriptedEngine([(b"%03d " % n + b"y" * 1000, 0.0) for n in range(100)])
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        request = http_request("GET", "/generate-stream?prompt=x&max_tokens=1000")
        reply = await fall_asleep(s, c, request)
        assert engine.made[reply.id] < 100
        data = await c.read_until(b"\r\n0\r\n\r\n")
        assert [data.count(b"%03d yyy" % n) for n in range(100)] == [1] * 100


async def test_a_sleepers_neighbour_is_not_held_up():
    engine = ScriptedEngine([BIG], slots=2)
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW) as s,
        raw(s.port, receive_buffer=4096) as sleeper,
        talk(s.ws) as neighbour,
    ):
        asleep = await fall_asleep(s, sleeper, SLEEPERS["sse"])
        await neighbour.start(ignore_eos=True, max_tokens=300)
        events = await neighbour.hear_until("done")
        assert events[-1]["usage"]["completion_tokens"] == 300
        assert events[-1]["timings"]["paused_ms"] < 1000
        assert asleep.running and asleep.pause


async def test_missing_acks_end_the_reply_but_not_the_socket():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine, high_tokens=4, low_tokens=1, stall_s=0.2) as s, talk(s.ws) as ws:
        await ws.start("a", acks=True, ignore_eos=True, max_tokens=50)
        error = (await ws.hear_until("error"))[-1]
        assert (error["code"], error["id"]) == ("slow_consumer", "a")
        await ws.start("b", max_tokens=2, ignore_eos=True)
        await ws.hear_until("done")


async def test_the_four_policies():
    async def run(policy: str) -> tuple[int, list[str], int]:
        engine = ScriptedEngine([(b"word ", 0.0)])
        async with run_server(engine, high_tokens=4, low_tokens=1, stall_s=0.1) as s, talk(s.ws) as ws:
            await ws.start("a", acks=True, ignore_eos=True, max_tokens=50, slow_policy=policy)
            reply = (await ws.hear_until("queued"))[-1]["reply"]
            kinds: list[str] = []
            while not kinds or kinds[-1] not in ("done", "error"):
                kinds.append((await ws.hear())["type"])
            return engine.made[reply], kinds, kinds.count("delta")

    made, kinds, _ = await run("pause")
    assert made == 4 and "paused" in kinds and kinds[-1] == "error"
    made, kinds, _ = await run("abort")
    assert made <= 6 and kinds[-1] == "error"
    made, kinds, deltas = await run("buffer")
    assert made == 50 and kinds[-1] == "done" and deltas == 50
    made, kinds, _ = await run("coalesce")
    assert made == 50 and kinds[-1] == "done"


async def test_the_memory_of_a_sleeping_connection_is_bounded():
    engine = ScriptedEngine([BIG])
    async with (
        run_server(engine, high_tokens=HIGH, low_tokens=LOW) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        await fall_asleep(s, c, SLEEPERS["sse"])
        (connection,) = s.server.server_state.connections
        await asyncio.sleep(0)
        buffered = connection.transport.get_write_buffer_size()
        assert buffered < 65_536


async def test_a_reader_that_never_reads_costs_at_most_256_kib():
    sleepers = 4
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine) as s, AsyncExitStack() as stack:
        # What is made once for all of them shall not be counted.
        async with raw(s.port, receive_buffer=4096) as first:
            await fall_asleep(s, first, SLEEPERS["sse"])
            s.replies.running()[0].stop()
        await until(lambda: not s.replies.has_readers() and not s.replies.running())
        tracemalloc.start()
        try:
            for n in range(sleepers):
                c = await stack.enter_async_context(raw(s.port, receive_buffer=4096))
                await c.send(SLEEPERS["sse"])
                await until(lambda: len(s.replies.running()) == n + 1)  # noqa: B023 - used within this turn
            await until(lambda: all(r.pause for r in s.replies.running()))
            gc.collect()
            bytes_each = tracemalloc.get_traced_memory()[0] / sleepers
        finally:
            tracemalloc.stop()
        assert 10_000 < bytes_each < 256 * 1024


async def test_a_slow_but_living_reader_is_never_cut_off():
    engine = ScriptedEngine([(b"word ", 0.0)])
    async with run_server(engine, high_tokens=4, low_tokens=1, stall_s=0.5) as s, talk(s.ws) as ws:
        await ws.start("a", acks=True, ignore_eos=True, max_tokens=12)
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] != "done":
            events.append(await ws.hear())
            if events[-1]["type"] == "delta":
                await ws.say("ack", reply=events[-1]["reply"], seq=events[-1]["seq"])
        assert len([e for e in events if e["type"] == "delta"]) == 12


@pytest.mark.parametrize("token_bytes", [5, 60, 100, 1000])
async def test_a_sleeper_is_cut_off_also_where_no_write_is_ever_blocked(token_bytes):
    # What is said after the limit waits in some buffer: the kernel's, or behind longer tokens our own.
    async def check(name: str) -> None:
        engine = ScriptedEngine([(b"x" * token_bytes, 5.0)] * 1000)
        async with (
            run_server(engine, high_tokens=32, low_tokens=LOW, stall_s=0.3, send_s=60.0) as s,
            raw(s.port, receive_buffer=4096) as c,
        ):
            await ask(c, name)
            await until(lambda: s.replies.running())
            (reply,) = s.replies.running()
            await until(lambda: not reply.running)
            assert isinstance(reply.failure, SlowConsumer)
            await until(lambda: not s.server.server_state.connections)

    await on_every_wire(check)


async def test_a_slow_reader_that_takes_its_error_keeps_its_connection():
    engine = ScriptedEngine([(b"word ", 5.0)] * 1000)
    async with (
        run_server(engine, high_tokens=32, low_tokens=LOW, stall_s=0.3) as s,
        raw(s.port, receive_buffer=4096) as c,
    ):
        await ask(c, "sse")
        await until(lambda: [r for r in s.replies._replies.values() if r.failure])
        assert b"slow_consumer" in await c.read_until(b"0\r\n\r\n")
        # Longer than a sleeper is given.
        await asyncio.sleep(1.5)
        await c.send(http_request("GET", "/healthz"))
        assert b"alive" in await c.read_until(b"}")
