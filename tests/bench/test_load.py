"""Prompts, dialects and the load itself, over a real server with the scripted engine."""

import asyncio
from typing import Any

from bench.client import exchange, get
from bench.dialects import Stream, chat, read_stream, user
from bench.load import Load
from bench.peers import Peer
from bench.prompts import KINDS, prompt
from bench.scene import Milestone
from bench.servers import Running

SCRIPTED = Peer("firstword (scripted)", "ignore_eos", "default", "/readyz", lambda port: [], own_wire=True)


def load_on(running: Any) -> Load:
    return Load(Running(SCRIPTED, running.port, pid=0, spawned_ns=0), tokens=12, limit_s=20.0)


def test_no_two_prompts_begin_alike():
    for kind in KINDS:
        beginnings = {prompt(kind, number)[:16] for number in range(100, 400)}
        assert len(beginnings) == 300


def test_prompts_are_the_same_for_every_server():
    assert prompt("long", 7) == prompt("long", 7)
    assert 8 < len(prompt("short", 7).split()) < 25
    assert 340 < len(prompt("long", 7).split()) < 520


def test_transformers_is_told_to_go_on_by_a_token_that_never_comes():
    body = chat("transformers", "m", user("hello"), 96, stream=True)
    assert '"eos_token_id": 5' in body["generation_config"] and "ignore_eos" not in body


async def test_all_users_get_all_their_answers_with_a_stamp_for_each_piece(serve):
    running = await serve()
    streams = await load_on(running).closed_loop("short", users=3, rounds=2)
    assert len(streams) == 6
    for stream in streams:
        assert stream.error is None and stream.tokens == 12
        assert 1 < len(stream.arrivals_ns) <= 12
        assert stream.began_ns < stream.arrivals_ns[0]
        assert list(stream.arrivals_ns) == sorted(stream.arrivals_ns)
        assert stream.arrivals_ns[-1] <= stream.ended_ns


async def test_streamed_and_whole_say_the_same_number_of_tokens(serve):
    load = load_on(await serve())
    answer = await load.total(user("hello"), streamed=False)
    assert answer.error is None and b'"completion_tokens":12' in answer.lines[-1][1].replace(b" ", b"")
    streamed = await load.total(user("hello"), streamed=True)
    assert streamed.error is None and read_stream(streamed).tokens == 12
    assert len({at_ns for at_ns, _ in streamed.lines}) == 1, "its client was woken once, at the end"


async def test_a_refusal_is_an_error_with_the_servers_words(serve):
    running = await serve()
    answer = await exchange(running.port, get("/nothing-here"), limit_s=5.0)
    assert answer.error is not None and answer.error.startswith("HTTP 404")
    assert read_stream(answer) == Stream(answer.began_ns, answer.ended_ns, (), 0, error=answer.error)


async def test_nobody_listening_is_an_error_and_no_exception():
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    assert (await exchange(port, get("/"), limit_s=5.0)).error is not None


async def test_a_stalled_reader_reads_no_further(serve):
    load = load_on(await serve())
    begun, more = Milestone(answers=1, lines=2), []
    count = begun.counter()

    def note(lines: int) -> bool:
        more.append(lines)
        count(lines)
        return True

    asleep = asyncio.ensure_future(
        load.stream(user("hello"), 600, on_line=note, stall_after_lines=2),
    )
    assert await begun.or_end_of(asleep)
    # Another answer takes longer than many pieces of the first one would.
    await load.stream(user("and I?"), 12)
    # One read that was under way when reading stopped may still be delivered.
    assert len(more) <= 3
    asleep.cancel()
    await asyncio.gather(asleep, return_exceptions=True)
