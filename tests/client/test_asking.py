"""Questions over real sockets: every dialect, known write times, every way an exchange can end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.client.asking import ask
from app.client.connection import Patience
from app.client.detection import settled
from app.client.dialects.dialect import Question
from app.client.dialects.known import DIALECTS
from app.client.exchange import CannotConnect, Exchange
from app.client.target import read_target
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.broken_servers import catalogue
from tests.broken_servers.wire import Asked, Out, serving

TEXT = "one two three नमस्ते 🫖 ten."
PATIENCE = Patience(silence_s=5.0, tail_s=0.2)


async def asked(url: str, dialect: str | None = None, *, streamed: bool = True, **more: Any) -> Exchange:
    target, question = await settled(read_target(url, dialect), Question("Hello there", 60))
    return await ask(target, question, streamed=streamed, **{"patience": PATIENCE, **more})


@pytest.mark.parametrize("dialect", list(DIALECTS))
async def test_every_dialect_hears_the_same_text_streamed_and_whole(serve: Any, dialect: str) -> None:
    running = await serve(ScriptedEngine(spoken(TEXT, 2)))
    streamed = await asked(running.url, dialect)
    whole = await asked(running.url, dialect, streamed=False)
    for exchange in (streamed, whole):
        assert (exchange.text, exchange.error, exchange.end) == (TEXT, None, "complete")
        assert exchange.scheduled_ns <= exchange.began_ns < exchange.sent_ns < exchange.deltas[0].at_ns
    assert len(streamed.deltas) > 3
    assert len(whole.deltas) == 1
    if dialect != "plain":  # which has no way to say them
        assert streamed.usage == whole.usage
        assert streamed.finish_reason == whole.finish_reason


async def test_a_compressed_answer_is_understood() -> None:
    async def stream(asked: Asked, out: Out) -> None:
        assert asked.takes_gzip
        await catalogue.gzip_buffers(asked, out)

    async with serving(catalogue.openai(stream)) as url:
        target, question = await settled(read_target(url), Question("Hello", 12, compression=True))
        exchange = await ask(target, question, patience=PATIENCE)
    assert exchange.text.startswith("The kettle")
    assert sum(read.wire_bytes for read in exchange.reads) < len(exchange.body)


async def test_stamps_are_those_of_the_servers_writes_one_read_each() -> None:
    """Known writes: each comes as a read of its own, stamped soon after and never before it was written."""
    written: list[int] = []

    async def answer(asked: Asked, out: Out) -> None:
        await out.head("text/plain")
        for number in range(20):
            await asyncio.sleep(0.01)
            written.append(time.monotonic_ns())
            await out.write(b"word%d " % number)
        await out.end()

    async with serving(answer) as url:
        exchange = await asked(f"{url}/say", "plain")
    assert [delta.text for delta in exchange.deltas] == [f"word{number} " for number in range(20)]
    late_ms = [(delta.at_ns - at_ns) / 1e6 for delta, at_ns in zip(exchange.deltas, written, strict=True)]
    assert min(late_ms) >= 0
    assert sorted(late_ms)[10] < 5
    assert [read.chunks for read in exchange.reads] == [1] * 20


async def test_chunks_that_come_in_one_read_are_still_counted() -> None:
    async def answer(asked: Asked, out: Out) -> None:
        await out.head("text/plain")
        await out.raw(b"3\r\nab \r\n3\r\ncd \r\n0\r\n\r\n")

    async with serving(answer) as url:
        exchange = await asked(f"{url}/say", "plain")
    assert (exchange.text, sum(read.chunks for read in exchange.reads)) == ("ab cd ", 2)


ENDS: list[tuple[Callable[[Asked, Out], Awaitable[None]], str, str | None]] = [
    (catalogue.healthy, "complete", None),
    (catalogue.http_1_0, "closed", None),
    (catalogue.cuts_off, "cut", "cut off"),
    (catalogue.never_ends, "lingering", None),
    (catalogue.error_then_silence, "silent", "out of memory"),
]


@pytest.mark.parametrize(("stream", "end", "error"), ENDS, ids=[row[1] for row in ENDS])
async def test_every_end_is_told_from_the_others(
    stream: Callable[[Asked, Out], Awaitable[None]], end: str, error: str | None
) -> None:
    async with serving(catalogue.openai(stream)) as url:
        exchange = await asked(url, patience=Patience(silence_s=1.0, tail_s=0.1))
    assert exchange.end == end
    assert (error is None) == (exchange.error is None)
    assert error is None or error in str(exchange.error)


async def test_an_answer_that_goes_on_for_ever_is_given_up() -> None:
    async def answer(asked: Asked, out: Out) -> None:
        await out.head("text/plain")
        while True:
            await out.write(b"more ")
            await asyncio.sleep(0.01)

    async with serving(answer) as url:
        exchange = await asked(f"{url}/say", "plain", patience=Patience(total_s=0.3))
    assert exchange.end == "overlong"
    assert exchange.error is not None


@pytest.mark.parametrize("dialect", ["ndjson", "websocket", "openai"])
async def test_enough_ends_it_and_the_server_sees_the_disconnect(serve: Any, dialect: str) -> None:
    engine = ScriptedEngine(spoken("word " * 500, 5))
    running = await serve(engine)
    exchange = await asked(running.url, dialect, enough=lambda hearing: len(hearing.deltas) >= 3)
    assert exchange.end == "stopped"
    assert 3 <= len(exchange.deltas) < 60


async def test_a_refusal_is_told_in_the_servers_words(serve: Any) -> None:
    running = await serve(ScriptedEngine(), api_key="secret")
    exchange = await asked(running.url, "openai")
    assert "HTTP 401" in str(exchange.error)
    assert exchange.deltas == ()
    target = read_target(running.url, "openai")
    keyed = await ask(target, Question("Hi", 5, key="secret"), patience=PATIENCE)
    assert keyed.error is None


async def test_a_socket_that_is_none_says_so() -> None:
    async with serving(catalogue.openai(catalogue.healthy)) as url:
        exchange = await asked(url, "websocket")
    assert "HTTP 404" in str(exchange.error)


async def test_a_redirect_is_not_followed_but_told() -> None:
    async def answer(asked: Asked, out: Out) -> None:
        await out.head("text/plain", status=307, chunked=False, content_length="0", location="https://h/v1")

    async with serving(answer) as url:
        exchange = await asked(f"{url}/say", "plain")
    assert "redirects to https://h/v1" in str(exchange.error)


async def test_nobody_there_is_an_error_of_its_own() -> None:
    async with serving(catalogue.plain()) as url:
        pass
    with pytest.raises(CannotConnect, match="cannot connect to 127.0.0.1"):
        await asked(f"{url}/say", "plain")
