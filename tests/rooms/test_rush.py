"""A rush counts what its wall shows: answers that wait, have begun, are over; nothing once it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest

from app.engine.scripted import ScriptedEngine
from app.errors import BadRequest
from app.prompt import Prompt
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.notices import Answered, Notice, Sent
from app.rooms.plan import SendingPlan
from app.rooms.rush import Rush, RushLimits
from app.rooms.sending import Sending
from app.settings import Settings
from tests.server import until

WORDS = [(b"one", 0.0), (b" two", 0.0)]


class Choosy(Replies):
    """Refuses prompts that say so."""

    def start(self, prompt: Prompt, **how: object) -> Reply:
        if prompt.messages[0].content == "refused":
            raise BadRequest("this prompt is refused")
        return super().start(prompt, **how)  # type: ignore[arg-type]


class Told:
    """What a rush has said; ``engine`` makes its answers."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine
        self.notices: list[Notice] = []
        self.counts: list[tuple[int, int]] = []

    def rush(self, plan: SendingPlan, prompts: dict[int, str]) -> Rush:
        sending = Sending(1, plan, prompts, tuple(prompts) if plan.mode != "own_time" else ())
        ids = count()
        return Rush(
            sending,
            Choosy(self.engine, Settings()),
            RushLimits(8, 0.0, 1.0, 64),
            lambda: f"reply-{next(ids)}-of-a-room",
            self.notices.append,
            lambda begun, ended: self.counts.append((begun, ended)),
        )


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    engine = ScriptedEngine(WORDS, manual=True)
    await engine.start()
    yield Told(engine)
    await engine.stop()


async def test_an_answer_that_cannot_be_started_is_in_line_no_longer(told: Told) -> None:
    rush = told.rush(SendingPlan(), {1: "refused", 2: "Why?"})
    await until(lambda: len(told.counts) == 2)
    assert told.counts == [(1, 1), (2, 1)]
    for _ in WORDS:
        told.engine.step()
    await until(lambda: len(told.counts) == 3)
    assert told.counts[-1] == (2, 2)
    assert Sent(1, message="this prompt is refused", code="invalid_request") in told.notices
    assert {n.number for n in told.notices if isinstance(n, Answered)} == {1, 2}
    rush.stop()


@pytest.mark.parametrize("mode", ["batched", "one_at_a_time", "own_time"])
async def test_a_rush_that_is_stopped_says_nothing_more(told: Told, mode: str) -> None:
    rush = told.rush(SendingPlan(mode=mode), {1: "Why?", 2: "How?"})  # type: ignore[arg-type]
    if mode == "own_time":
        rush.send(1)
    await until(lambda: told.counts)
    told.engine.step()
    rush.stop()
    counts, notices = list(told.counts), list(told.notices)
    for _ in range(20):
        await asyncio.sleep(0)
    assert told.counts == counts and told.notices == notices
    assert counts[-1][1] == 0, "what was cut has not ended"
