"""The crowd: virtual users who really ask, through a gate, and what became of each of them.

It gives one stream of news: who comes, who was let in, each first token and each end, the engine's
steps between them, and the totals. Whoever stops reading it ends it, and with it all its replies;
there is one crowd at a time, since two would measure each other. It refuses to know HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from app.errors import FirstwordError
from app.events import Delta, Done, Error
from app.lab.gate import Batching, Gate
from app.lab.steps import Listener
from app.lab.users import User, question
from app.prompt import Message, Prompt, Sampling
from app.reply.registry import Replies
from app.timeline.gaps import percentile

#: News that wait for a slow reader; then the steps are merged and the users wait.
_MAX_NEWS = 64
LONGEST_S = 120.0


class News(msgspec.Struct, frozen=True, tag="user", tag_field="type"):
    """``what``: arrived, admitted, first (token), ended or failed; ``row``: its number in the steps."""

    number: int
    what: str
    t: float
    row: int = 0
    tokens: int = 0


class Totals(msgspec.Struct, frozen=True, tag="totals", tag_field="type"):
    """Of all users who got an answer; first tokens count from arriving, so the gate is in them.

    Gaps are those between a user's tokens as the engine made them, all users' together.
    """

    answered: int
    failed: int
    first_p50_ms: float | None
    first_p95_ms: float | None
    gap_p50_ms: float | None
    gap_most_ms: float | None
    tokens: int
    total_ms: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class Order:
    """In what order the work is done: who goes in when, and whether a question is read in pieces."""

    batching: Batching
    group: int
    prefill_at_once: bool


class Crowd:
    """One run. Iterate ``news`` once; ``close`` ends everything, whenever it is called."""

    def __init__(
        self,
        users: list[User],
        order: Order,
        replies: Replies,
        listener: Listener,
        new_id: Callable[[], str],
    ) -> None:
        self._users = users
        self._order = order
        self._gate = Gate(order.batching, order.group)
        self._replies = replies
        self._listener = listener
        self._new_id = new_id
        self._salt = new_id()[:6]
        self._news: asyncio.Queue[Any] = asyncio.Queue(_MAX_NEWS)
        self._admitted = {user.number: asyncio.Event() for user in users}
        self._tasks: list[asyncio.Task[None]] = []
        self._firsts_ms: list[float] = []
        self._gaps_ms: list[float] = []
        self._tokens = 0
        self._failed = 0
        self.closed = False
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()

    async def news(self) -> AsyncIterator[Any]:
        """Everything that happens, to the totals."""
        yield {"type": "plan", "users": self._users}
        self._began_s = self._loop.time()
        pump = self._loop.create_task(self._tell_steps())
        people = [self._loop.create_task(self._live(user)) for user in self._users]
        ending = self._loop.create_task(self._tell_end(people))
        self._tasks = [pump, *people, ending]
        while True:
            item = await self._news.get()
            if item is None:
                break
            yield item
        total_ms = self._t()
        yield Totals(
            answered=len(self._firsts_ms),
            failed=self._failed,
            first_p50_ms=percentile(self._firsts_ms, 0.5),
            first_p95_ms=percentile(self._firsts_ms, 0.95),
            gap_p50_ms=percentile(self._gaps_ms, 0.5),
            gap_most_ms=max(self._gaps_ms, default=None),
            tokens=self._tokens,
            total_ms=total_ms,
            tokens_per_second=round(self._tokens / max(total_ms, 1.0) * 1000, 2),
        )

    def close(self) -> None:
        """End whatever still runs; idempotent."""
        self.closed = True
        self._listener.close()
        for task in self._tasks:
            task.cancel()

    # Private

    async def _live(self, user: User) -> None:
        await asyncio.sleep(user.arrives_ms / 1000)
        await self._tell(user, "arrived")
        self._gate.arrive(user.number)
        self._open()
        await self._admitted[user.number].wait()
        try:
            await self._ask(user)
        except FirstwordError:
            self._failed += 1
            await self._tell(user, "failed")
        finally:
            self._gate.leave(user.number)
            self._open()

    async def _ask(self, user: User) -> None:
        prompt = Prompt(
            id=self._new_id(),
            messages=(Message("user", question(user, self._salt)),),
            sampling=Sampling(temperature=0.7, seed=user.number),
            max_tokens=user.answer_tokens,
            ignore_eos=True,
            prefill_at_once=self._order.prefill_at_once,
        )
        reply = self._replies.start(prompt, resumable=False, slow_policy="buffer")
        reader = reply.attach("token")
        tokens = 0
        last_ms = 0.0
        try:
            await self._tell(user, "admitted", row=self._listener.number(reply.id))
            async for event in reader:
                if isinstance(event, Delta):
                    if not tokens:
                        self._firsts_ms.append(self._t() - user.arrives_ms)
                        await self._tell(user, "first")
                    else:
                        self._gaps_ms.append(round(event.t - last_ms, 3))
                    tokens += event.tokens
                    last_ms = event.t
                elif isinstance(event, Error):
                    raise FirstwordError(event.message)
                elif isinstance(event, Done):
                    self._tokens += event.usage.completion_tokens
            await self._tell(user, "ended", tokens=tokens)
        finally:
            reader.close()

    def _open(self) -> None:
        for number in self._gate.admit():
            self._admitted[number].set()

    async def _tell(self, user: User, what: str, *, row: int = 0, tokens: int = 0) -> None:
        await self._news.put(News(user.number, what, self._t(), row, tokens))

    async def _tell_steps(self) -> None:
        while True:
            for step in await self._listener.next():
                await self._news.put(step)

    async def _tell_end(self, people: list[asyncio.Task[None]]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_S):
                await asyncio.gather(*people, return_exceptions=True)
        await self._news.put(None)

    def _t(self) -> float:
        return round((self._loop.time() - self._began_s) * 1000, 3)
