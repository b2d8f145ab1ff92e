"""Numbers out of exchanges: by hand, and against the formulas of two other tools on one and the same wire."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import msgspec
import numpy as np
import pytest

from app.client.asking import ask
from app.client.detection import settled
from app.client.dialects.dialect import Question
from app.client.exchange import Delta, Exchange, Usage
from app.client.load import Load, in_turns, run
from app.client.measurement import arrivals_of, measured, tokens_of
from app.client.target import read_target
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine

MS = 1_000_000


def reply(
    *pieces: tuple[float, str, int | None], streamed: bool = True, usage: int | None = None, **more: Any
) -> Exchange:
    """An exchange due at 1 s whose pieces of text came at these ms."""
    deltas = tuple(Delta(1000 * MS + int(at_ms * MS), text, tokens) for at_ms, text, tokens in pieces)
    ended_ns = deltas[-1].at_ns if deltas else 1000 * MS
    stamps = (1000 * MS, 1001 * MS, 1003 * MS, ended_ns)
    return Exchange(*stamps, streamed, "complete", deltas=deltas, usage=Usage(3, usage), **more)


def test_the_result_has_exactly_the_agreed_shape() -> None:
    streamed = reply((100, "a ", 1), (150, "b ", 1), (250, "c", 1))
    whole = reply((245, "a b c", 3), streamed=False)
    assert json.loads(msgspec.json.encode(measured([streamed, whole]).result)) == {
        "streamed": {
            "ttft_ms": 100.0,
            "last_ms": 250.0,
            "gaps_ms": {"p50": 75.0, "p95": 97.5, "p99": 99.5, "max": 100.0},
            "tokens": 3,
            "chunks": 3,
        },
        "whole": {"total_ms": 245.0},
        "cost_of_streaming": 1.02,
        "qoe": 1.0,
        "fluidity": 1.0,
    }


def test_medians_are_over_replies_and_gaps_are_pooled() -> None:
    result = measured(
        [reply((at, "a ", 1), (at + gap, "b", 1)) for at, gap in ((10, 1), (20, 2), (90, 30))]
    ).result
    assert (result.streamed.ttft_ms, result.streamed.last_ms) == (20.0, 22.0)
    assert (result.streamed.gaps_ms.p50, result.streamed.gaps_ms.max) == (2.0, 30.0)
    assert result.whole.total_ms is None
    assert result.cost_of_streaming is None


def test_how_much_whole_replies_differ_is_told_for_a_cost_may_be_chance() -> None:
    wholes = [reply((at_ms, "a", 1), streamed=False) for at_ms in (90, 100, 120)]
    assert measured(wholes).whole_spread == pytest.approx(0.3)
    assert measured(wholes[:1]).whole_spread is None


def test_failed_replies_give_no_numbers_and_are_listed() -> None:
    failure = reply((5, "a", 1), error="cut off")
    measurement = measured([failure, reply((100, "a", 1))])
    assert measurement.result.streamed.ttft_ms == 100.0
    assert measurement.failures == (failure,)


def test_nothing_at_all_gives_no_numbers() -> None:
    result = measured([]).result
    assert (result.streamed.ttft_ms, result.streamed.tokens, result.qoe) == (None, 0, None)


def test_the_time_counts_from_when_a_question_was_due_and_the_lag_is_told() -> None:
    lag = measured([reply((100, "a", 1))]).lag
    assert lag is not None
    assert (lag.due_to_begun_ms, lag.begun_to_sent_ms) == ((1.0, 1.0), (2.0, 2.0))


def test_tokens_that_the_server_tells_of_each_piece_are_believed() -> None:
    exchange = reply((1, "ab", 2), (2, "c", 1), usage=9)
    assert [arrival.tokens for arrival in arrivals_of(exchange)] == [2, 1]


def test_a_replys_tokens_are_shared_out_by_length_and_none_is_lost() -> None:
    exchange = reply((1, "aaaaaaaa", None), (2, "b", None), (3, "ccc", None), usage=12)
    shares = [arrival.tokens for arrival in arrivals_of(exchange)]
    assert sum(shares) == 12
    assert shares[0] > shares[2] > shares[1] >= 1


@pytest.mark.parametrize("usage", [3, 4])
def test_an_end_sign_does_not_make_pieces_of_two_tokens(usage: int) -> None:
    exchange = reply((1, "a", None), (2, "bbbb", None), (3, "c", None), usage=usage)
    assert [arrival.tokens for arrival in arrivals_of(exchange)] == [1, 1, 1]


def test_without_any_count_each_piece_stands_for_a_token_and_that_is_told() -> None:
    exchange = reply((1, "a", None), (2, "b", None))
    assert tokens_of(exchange) is None
    assert [arrival.tokens for arrival in arrivals_of(exchange)] == [1, 1]
    assert not measured([exchange]).tokens_told


# Against other tools


@dataclass
class Overheard:
    """One answer as a relay on the wire saw it: stamps by its own clock reads, bytes not understood."""

    reads: list[tuple[float, bytes]] = field(default_factory=list)

    def content_times(self) -> list[float]:
        """When each chunk with content was whole, as a benchmark's client would stamp it."""
        times, held = [], b""
        for at_s, data in self.reads:
            held += data
            *events, held = held.split(b"\n\n")
            for event in events:
                start = event.find(b'data: {"id"')
                if start >= 0 and b'"content":"' in event and b'"content":""' not in event:
                    times.append(at_s)
        return times

    def completion_tokens(self) -> int:
        text = b"".join(data for _, data in self.reads)
        return int(text.rpartition(b'"completion_tokens":')[2].split(b",")[0])


@asynccontextmanager
async def relay(port: int) -> AsyncIterator[tuple[str, list[Overheard]]]:
    """A wire with an ear: passes every byte on at once and keeps its own stamps."""
    overheard: list[Overheard] = []
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        heard = Overheard()
        overheard.append(heard)
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", port)

        async def up() -> None:
            while data := await reader.read(65536):
                behind_writer.write(data)
            behind_writer.close()

        going_up = asyncio.ensure_future(up())
        while data := await behind_reader.read(65536):
            heard.reads.append((time.perf_counter(), data))
            writer.write(data)
        await going_up
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", overheard
    finally:
        server.close()
        await asyncio.gather(*tasks)


async def test_our_numbers_are_those_of_vllm_bench_and_guidellm_within_5_ms(serve: Any) -> None:
    """Their formulas, written down here anew, over stamps that are not ours."""
    running = await serve(
        ScriptedEngine([(b"one ", 60.0), *spoken("two three four five six seven ", 15) * 5])
    )
    async with relay(running.port) as (url, overheard):
        target, question = await settled(read_target(f"{url}/v1/chat/completions", None), Question("Hi", 40))
        overheard.clear()

        starts: list[float] = []

        async def one(streamed: bool, due_ns: int) -> Exchange:
            starts.append(time.perf_counter())
            return await ask(target, question, streamed=streamed, scheduled_ns=due_ns)

        exchanges = await run(in_turns(5, whole=False), Load(), one)
    measurement = measured(exchanges)
    assert measurement.failures == ()
    ours = measurement.result.streamed
    times = [heard.content_times() for heard in overheard]
    tokens = [heard.completion_tokens() for heard in overheard]
    assert ours.chunks == len(times[0])
    assert ours.tokens == tokens[0] > 30

    # vllm bench serve: TTFT is start to the first chunk with content; ITL is every gap between chunks;
    # TPOT of a request is (latency - TTFT) / (tokens - 1).
    vllm_ttft = [(each[0] - start) * 1e3 for each, start in zip(times, starts, strict=True)]
    vllm_itl = [(b - a) * 1e3 for each in times for a, b in zip(each, each[1:], strict=False)]
    vllm_latency = [(each[-1] - start) * 1e3 for each, start in zip(times, starts, strict=True)]
    vllm_tpot = [
        (latency - ttft) / (count - 1)
        for latency, ttft, count in zip(vllm_latency, vllm_ttft, tokens, strict=True)
    ]
    # A busy machine hands a piece on late now and then: the formula is compared over our own stamps, and
    # those with the others'; an error of ours would move all of them.
    for at, ours_ms in ((0, ours.ttft_ms), (-1, ours.last_ms)):
        stamps_ms = [exchange.deltas[at].at_ns / 1e6 for exchange in exchanges]
        since_start = [stamp - start * 1e3 for stamp, start in zip(stamps_ms, starts, strict=True)]
        assert ours_ms == pytest.approx(median(since_start), abs=5)
        assert min(abs(stamp - each[at] * 1e3) for stamp, each in zip(stamps_ms, times, strict=True)) < 5
    assert ours.gaps_ms.p50 == pytest.approx(median(vllm_itl), abs=5)
    # Its percentiles are NumPy's. On a busy machine one late read moves a tail by more than 5 ms, so the
    # tails are compared over the same stamps, to the last digit.
    same = [np.diff([delta.at_ns / 1e6 for delta in exchange.deltas]) for exchange in exchanges]
    for share, value in ((95, ours.gaps_ms.p95), (99, ours.gaps_ms.p99), (100, ours.gaps_ms.max)):
        assert value == pytest.approx(np.percentile(np.concatenate(same), share), abs=0.002)

    # GuideLLM: inter-token latency of a request is (last - first) / (tokens - 1); its
    # time per output token counts the wait for the first, too: (last - start) / tokens.
    guide_itl = [(each[-1] - each[0]) * 1e3 / (count - 1) for each, count in zip(times, tokens, strict=True)]
    guide_tpot = [latency / count for latency, count in zip(vllm_latency, tokens, strict=True)]
    assert measurement.tokens_per_second is not None
    assert 1000 / measurement.tokens_per_second == pytest.approx(median(guide_itl), abs=5)
    assert 1000 / measurement.tokens_per_second == pytest.approx(median(vllm_tpot), abs=5)
    assert (ours.last_ms or 0) / ours.tokens == pytest.approx(median(guide_tpot), abs=5)
