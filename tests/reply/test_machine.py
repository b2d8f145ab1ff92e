"""One reply, an engine in another process, readers that come and go: every interleaving is right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.events import AnyEvent, Delta, Done, Error, Paused, Queued, Resumed, Started
from app.prompt import Prompt
from app.reply.flow import Delivery
from app.reply.log import Reply
from app.reply.pace import PACES, Pace
from app.reply.reader import Reader
from tests.reply.fake_engine import ObedientEngine
from tests.reply.hand_clock import HandLoop, breathe, take_one

MAX_TOKENS = 60
WORDS = st.sampled_from(["a", "b ", "c. ", " d", "e", "\n", "é", "字", ""])


@dataclass(eq=False)
class Client:
    """A reader and what it got."""

    reader: Reader
    after: int
    events: list[AnyEvent] = field(default_factory=list)
    #: Taken off the reader and, with acks, said to be read.
    acknowledged: int = 0

    @property
    def deltas(self) -> list[Delta]:
        return [e for e in self.events if isinstance(e, Delta)]

    @property
    def recovered(self) -> bool:
        return all(e.recovered is not False for e in self.events if isinstance(e, Started))

    @property
    def over(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], Done | Error)


class ReplyMachine(RuleBasedStateMachine):
    """The model is the list of pieces that came home; all readers must have got a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=HandLoop)
        self.clients: list[Client] = []
        self.gone: list[Client] = []
        self.pieces: list[Delta] = []
        self.attaching = False

    @initialize(
        high=st.integers(1, 6),
        gap=st.integers(1, 6),
        policy=st.sampled_from(["pause", "pause", "pause", "coalesce", "buffer"]),
        resume_s=st.sampled_from([0.0, 60.0]),
    )
    def start(self, high, gap, policy, resume_s):
        delivery = Delivery(high, max(0, high - gap), 10, resume_s, policy)
        self.engine = ObedientEngine("r", MAX_TOKENS)
        grant = high if delivery.limited else None
        prompt = Prompt("r", text="Hi", max_tokens=MAX_TOKENS, granted_tokens=grant)
        self.reply = Reply(prompt, self.engine, delivery, self.engine.clock, on_event=self.remember)
        self.engine.on_grant = self.check_grant
        self.reply.submit()

    def remember(self, reply: Reply, event: AnyEvent) -> None:
        if isinstance(event, Delta):
            self.pieces.append(event)

    def check_grant(self, tokens: int) -> None:
        credit = self.reply.credit
        if not self.reply.readers:
            assert tokens == MAX_TOKENS, "nobody is waited for"
            return
        # Tokens without text so far cannot be read; they are the engine's, not the reader's.
        silent = max(0, self.engine.made - credit.made)
        behind = credit.made if self.attaching else credit.read
        assert tokens <= behind + silent + credit.high

    @rule(
        words=st.lists(WORDS, min_size=1, max_size=8),
        silent=st.booleans(),
        fast=st.booleans(),
        slow_motion=st.booleans(),
    )
    def work(self, words, silent, fast, slow_motion):
        for word in words:
            self.engine.now_ns += 100_000_000 * slow_motion
            self.engine.step(word, silent=silent)
            if fast:
                self.run(self.engine.deliver)

    @rule(most=st.integers(1, 10))
    def bring_home(self, most):
        self.run(self.engine.deliver, most)

    @precondition(lambda self: len(self.clients) < 3)
    @rule(after=st.integers(0, MAX_TOKENS), pace=st.sampled_from(PACES), acks=st.booleans())
    def attach(self, after, pace, acks):
        self.run(self._attach, after, pace, acks)

    def _attach(self, after: int, pace: Pace, acks: bool) -> None:
        self.attaching = True
        self.clients.append(Client(self.reply.attach(pace, after=after, acks=acks), after))
        self.attaching = False

    @precondition(lambda self: self.clients)
    @rule(which=st.integers(0, 2), most=st.integers(1, 12))
    def read(self, which, most):
        self.runner.run(self._read(self.clients[which % len(self.clients)], most))

    async def _read(self, client: Client, most: int) -> int:
        for taken in range(most):
            event = await take_one(client.reader)
            if event is None:
                return taken
            client.events.append(event)
        return most

    @precondition(lambda self: any(c.reader.acks and c.deltas for c in self.clients))
    @rule(which=st.integers(0, 2), back=st.integers(0, 3))
    def acknowledge(self, which, back):
        clients = [c for c in self.clients if c.reader.acks and c.deltas]
        client = clients[which % len(clients)]
        seen = client.deltas[: max(1, len(client.deltas) - back)]
        client.acknowledged = max(client.acknowledged, seen[-1].seq)
        self.run(client.reader.acknowledge, seen[-1].seq)

    @precondition(lambda self: self.clients)
    @rule(which=st.integers(0, 2))
    def leave(self, which):
        client = self.clients.pop(which % len(self.clients))
        self.gone.append(client)
        self.run(client.reader.close)

    @precondition(lambda self: len(self.pieces) > 20)
    @rule()
    def stop(self):
        self.run(self.reply.stop)

    @precondition(lambda self: len(self.pieces) > 5 and not self.clients)
    @rule()
    def window_is_over(self):
        self.run(self.reply.compact)

    def run(self, what: Callable[..., object], *arguments: object) -> None:
        async def task() -> None:
            what(*arguments)
            await breathe()

        self.runner.run(task())

    @invariant()
    def every_reader_has_an_unbroken_part_of_the_text(self):
        for client in self.clients + self.gone:
            start = client.after if client.recovered else 0
            for delta in client.deltas:
                run = self.pieces[start : delta.seq]
                # Where there is nothing behind its place, whole says so by one empty delta before the end.
                is_last = isinstance(client.events[-1], Done) or client.events[-1] is delta
                assert run or client.reader.pace == "whole" and is_last
                assert delta.text == "".join(p.text for p in run)
                assert delta.tokens == sum(p.tokens for p in run)
                start = delta.seq
            kinds = [type(e) for e in client.events]
            assert kinds == sorted(kinds, key=lambda kind: ORDER[kind])

    @invariant()
    def progress_is_what_was_really_read(self):
        for client in self.clients:
            if client.reader.pace != "token" or self.reply.delivery.slow_policy == "coalesce":
                continue
            read = (
                client.acknowledged if client.reader.acks else client.deltas[-1].seq if client.deltas else 0
            )
            if client.events and client.recovered:
                read = max(read, client.after)
            assert client.reader.read_tokens <= sum(p.tokens for p in self.pieces[:read])

    def teardown(self):
        if not hasattr(self, "reply"):
            self.runner.close()
            return
        try:
            self.runner.run(self._live_to_the_end())
        finally:
            self.runner.close()

    async def _live_to_the_end(self) -> None:
        """From wherever we are: working engine and reading readers always reach the end."""
        if not self.clients:
            self._attach(0, "token", True)
        for _ in range(4 * MAX_TOKENS):
            self.engine.step("x")
            self.engine.deliver()
            for client in self.clients:
                await self._read(client, 1000)
                if client.reader.acks and client.deltas:
                    client.reader.acknowledge(client.deltas[-1].seq)
            if not self.reply.running:
                break
        assert isinstance(self.reply.end, Done)
        assert sum(p.tokens for p in self.pieces) == self.engine.made
        whole = "".join(p.text for p in self.pieces)
        assert self.reply.text == whole
        for client in self.clients:
            await self._read(client, 1000)
            assert client.over and isinstance(client.events[-1], Done)
            start = client.after if client.recovered else 0
            assert "".join(d.text for d in client.deltas) == "".join(p.text for p in self.pieces[start:])
            client.reader.close()
        assert self.reply.readers == []


#: What may not follow what; pauses and deltas alternate as they like.
ORDER: dict[type, int] = {Queued: 0, Started: 1, Delta: 2, Paused: 2, Resumed: 2, Done: 3, Error: 3}

TestReplyMachine = ReplyMachine.TestCase
TestReplyMachine.settings = settings(
    max_examples=50, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
pytestmark = pytest.mark.timeout(300)
