"""Loads: who is asked when, without a server."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.client.exchange import CannotConnect, Exchange
from app.client.load import Load, in_turns, run


def exchange(streamed: bool, due_ns: int, began_ns: int) -> Exchange:
    return Exchange(due_ns, began_ns, began_ns, time.monotonic_ns(), streamed, "complete")


def test_streamed_and_whole_come_in_turns() -> None:
    assert in_turns(2, whole=True) == [True, False, True, False]
    assert in_turns(2, whole=False) == [True, True]


async def test_a_closed_loop_has_so_many_users_and_no_more() -> None:
    under_way, most = 0, 0

    async def ask(streamed: bool, due_ns: int) -> Exchange:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return exchange(streamed, due_ns, due_ns)

    answers = await run(in_turns(10, whole=True), Load(concurrency=3), ask)
    assert (len(answers), most) == (20, 3)
    assert sum(answer.streamed for answer in answers) == 10


async def test_an_open_loop_keeps_to_its_rate_and_counts_the_wait_of_late_questions() -> None:
    """One at a time and 50 ms each, but due every 10 ms: the fifth is late, and says so."""

    async def ask(streamed: bool, due_ns: int) -> Exchange:
        began_ns = time.monotonic_ns()
        await asyncio.sleep(0.05)
        return exchange(streamed, due_ns, began_ns)

    answers = await run([True] * 5, Load(concurrency=1, rate_per_s=100), ask)
    due = [answer.scheduled_ns for answer in answers]
    assert [later - earlier for earlier, later in zip(due, due[1:], strict=False)] == pytest.approx(
        [10**7] * 4
    )
    late_ms = [(answer.began_ns - answer.scheduled_ns) / 1e6 for answer in answers]
    assert late_ms[0] < late_ms[-1]
    assert late_ms[-1] >= 4 * 40 * 0.9


async def test_an_open_loop_with_room_sends_on_time_whatever_the_server_does() -> None:
    async def ask(streamed: bool, due_ns: int) -> Exchange:
        began_ns = time.monotonic_ns()
        await asyncio.sleep(0.2)
        return exchange(streamed, due_ns, began_ns)

    answers = await run([True] * 8, Load(concurrency=8, rate_per_s=100), ask)
    assert max(answer.began_ns - answer.scheduled_ns for answer in answers) < 150e6


async def test_a_refused_connection_is_an_answer_and_the_others_go_on() -> None:
    async def ask(streamed: bool, due_ns: int) -> Exchange:
        if streamed:
            raise CannotConnect("nobody there")
        return exchange(streamed, due_ns, due_ns)

    heard: list[Exchange] = []
    answers = await run(in_turns(2, whole=True), Load(), ask, heard.append)
    assert [answer.error for answer in answers] == ["nobody there", None, "nobody there", None]
    assert [answer.end for answer in answers if answer.streamed] == ["failed", "failed"]
    assert heard == answers
