"""Load: so many users at once, each asking its next question when the last is answered.

A closed loop: the moment a request is due is the moment it is sent, so nothing waits unmeasured
in the client. All users start together. Numbers of prompts never repeat within one server's life.
It refuses to know formulas and how servers are started.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.client import Exchange, exchange, post
from bench.dialects import Message, Stream, chat, read_stream, user
from bench.prompts import prompt
from bench.servers import Running

_PATH = "/v1/chat/completions"
_WARM_UP_TOKENS = 16


@dataclass(slots=True)
class Load:
    """Questions for one running server; ``limit_s`` bounds each of them."""

    server: Running
    tokens: int = 96
    limit_s: float = 300.0
    #: How long readers that stall are left alone before it is looked at what they cost: a server that
    #: pauses them has done so, and one that ends them has not yet.
    asleep_s: float = 3.0
    #: How long a reader takes for an answer before the next question.
    reading_s: float = 1.0
    #: How often two ways are compared in turns: more pairs resolve a smaller difference.
    pairs: int = 20
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(101))

    def question(self, kind: str) -> list[Message]:
        """A conversation with a prompt that nobody has had yet."""
        return user(prompt(kind, next(self._numbers)))

    async def stream(
        self,
        messages: list[Message],
        tokens: int | None = None,
        on_line: Callable[[int], bool] | None = None,
        stall_after_lines: int | None = None,
    ) -> Stream:
        """One streamed answer."""
        request = self._request(messages, tokens or self.tokens, stream=True)
        answer = await exchange(
            self.server.port,
            request,
            limit_s=self.limit_s,
            on_line=on_line,
            stall_after_lines=stall_after_lines,
        )
        return read_stream(answer)

    async def total(self, messages: list[Message], *, streamed: bool) -> Exchange:
        """The same work, streamed or in one piece, for who only wants to know when it is over."""
        request = self._request(messages, self.tokens, stream=streamed)
        return await exchange(self.server.port, request, limit_s=self.limit_s, only_total=True)

    async def warm_up(self, kinds: tuple[str, ...]) -> None:
        """One and then four at once of each kind: pools, lazy parts and shapes come into being."""
        for kind in kinds:
            await self.stream(self.question(kind), _WARM_UP_TOKENS)
            await asyncio.gather(*[self.stream(self.question(kind), _WARM_UP_TOKENS) for _ in range(4)])

    async def closed_loop(self, kind: str, users: int, rounds: int) -> list[Stream]:
        """``users`` at once, each with ``rounds`` questions one after another."""

        async def one() -> list[Stream]:
            return [await self.stream(self.question(kind)) for _ in range(rounds)]

        return [
            stream for streams in await asyncio.gather(*[one() for _ in range(users)]) for stream in streams
        ]

    # Private

    def _request(self, messages: list[Message], tokens: int, stream: bool) -> bytes:
        peer = self.server.peer
        body = chat(peer.style, peer.model, messages, tokens, stream)
        return post(_PATH, body, "text/event-stream" if stream else "application/json")
