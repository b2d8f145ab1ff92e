"""Load: many questions to one server, in a closed or an open loop.

Closed: so many users, each asking again as soon as it was answered. Open: questions are due at a fixed
rate, whatever the server does; one that cannot be sent in time, because too many are under way, still
counts from when it was due. It refuses to know what is asked and what the answers mean.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from app.client.asking import failed
from app.client.exchange import CannotConnect, Exchange

Clock = Callable[[], int]
#: One question: ask(job, due_ns), where a job says whether its answer is streamed.
Ask = Callable[[bool, int], Awaitable[Exchange]]


@dataclass(frozen=True, slots=True)
class Load:
    """``rate_per_s`` None: a closed loop. ``concurrency`` bounds what is under way in both."""

    concurrency: int = 1
    rate_per_s: float | None = None


def in_turns(pairs: int, *, whole: bool) -> list[bool]:
    """Jobs: streamed and whole in turns, so that a machine that gets slower is slower for both."""
    return [streamed for _ in range(pairs) for streamed in ((True, False) if whole else (True,))]


async def run(
    jobs: Sequence[bool],
    load: Load,
    ask: Ask,
    on_answer: Callable[[Exchange], None] = lambda answer: None,
    now_ns: Clock = time.monotonic_ns,
) -> list[Exchange]:
    """Ask all jobs; the answers in the order in which they came. A refused connection is an answer."""
    answers: list[Exchange] = []
    origin_ns = now_ns()
    waiting = deque(enumerate(jobs))

    async def one(streamed: bool, due_ns: int) -> None:
        began_ns = now_ns()
        try:
            answer = await ask(streamed, due_ns)
        except CannotConnect as error:
            answer = failed(error, due_ns, began_ns, streamed, now_ns())
        answers.append(answer)
        on_answer(answer)

    async def user() -> None:
        while waiting:
            number, streamed = waiting.popleft()
            due_ns = now_ns()
            if load.rate_per_s is not None:
                due_ns = origin_ns + int(number / load.rate_per_s * 1e9)
                await asyncio.sleep(max(0.0, (due_ns - now_ns()) / 1e9))
            await one(streamed, due_ns)

    async with asyncio.TaskGroup() as users:
        for _ in range(min(load.concurrency, len(jobs))):
            users.create_task(user())
    return answers
