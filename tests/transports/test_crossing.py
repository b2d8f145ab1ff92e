"""Events over a simulated link: delivered when the plan says, unread until then, let go at an early end."""

import asyncio
from typing import Any

import pytest

from app.errors import EngineFailed
from app.events import AnyEvent, Delta, Done, Error
from app.prompt import Prompt
from app.reply.flow import Delivery
from app.reply.link import Link
from app.reply.log import Reply
from app.transports.crossing import Crossing, attach
from app.transports.framing import json_bytes
from app.transports.reading import Reading
from tests.reply.fake_engine import FakeEngine
from tests.reply.hand_clock import breathe, pass_time, tell_story


class Trip:
    """A reply, one reader of it and what arrived when, on a clock moved by hand."""

    def __init__(self, how: Reading, delivery: Delivery | None = None) -> None:
        self.engine = FakeEngine()
        self.reply = Reply(Prompt("r", text="Hi"), self.engine, delivery or Delivery(), self.engine.clock)
        self.reply.submit()
        self.how = how
        self.reader = attach(self.reply, how)
        self.crossing = Crossing(self.reader, how, json_bytes)
        self.arrived: list[tuple[float, AnyEvent]] = []
        self.engine.begin("r")
        loop = asyncio.get_running_loop()
        self._begun_s = loop.time()
        self.task = loop.create_task(self._read())

    async def _read(self) -> None:
        async for event, frame in self.crossing:
            assert frame == json_bytes(event)
            self.arrived.append((self.now_ms(), event))
            if (receipt := self.reader.receipt(event)) is not None and not self.how.acks:
                receipt()

    def now_ms(self) -> float:
        return round((asyncio.get_running_loop().time() - self._begun_s) * 1000)

    def deltas(self) -> list[tuple[float, str]]:
        return [(at, event.text) for at, event in self.arrived if isinstance(event, Delta)]


async def settle() -> None:
    """Let everything run that is ready; an event passes a task or two."""
    for _ in range(10):
        await breathe()


async def later(seconds: float) -> None:
    await settle()
    await pass_time(seconds)
    await settle()


def told(story: Any) -> None:
    tell_story(story)


@pytest.mark.parametrize("link", [None, Link()])
def test_without_a_distance_events_come_as_they_are_made(link):
    async def story():
        trip = Trip(Reading(link=link))
        for character in "abc":
            trip.engine.say("r", character)
            await settle()
            assert trip.deltas()[-1][1] == character
        trip.engine.finish("r")
        await settle()
        await trip.task
        assert isinstance(trip.arrived[-1][1], Done) and trip.crossing._listening is None

    told(story)


def test_the_distance_delays_everything_and_changes_no_stamp():
    async def story():
        trip = Trip(Reading(link=Link(latency_ms=300)))
        for character in "ab":
            trip.engine.say("r", character)
            await later(0.1)
        trip.engine.finish("r")
        await settle()
        assert trip.arrived == []
        await later(0.1)
        assert trip.deltas() == [(300, "a")]
        await later(0.1)
        await later(0.1)
        assert trip.deltas() == [(300, "a"), (400, "b")]
        assert [(at, type(e)) for at, e in trip.arrived[-1:]] == [(500, Done)]
        assert [e for _, e in trip.arrived] == trip.reply.log
        await trip.task

    told(story)


def test_what_is_on_its_way_counts_as_unread():
    async def story():
        trip = Trip(Reading(link=Link(latency_ms=1000)), Delivery(high_tokens=4, low_tokens=1))
        trip.engine.say("r", *"abcd")
        await later(0.5)
        assert trip.reply.credit.unread == 4 and trip.engine.grants == []
        await later(0.5)
        await settle()
        assert len(trip.deltas()) == 4 and trip.reply.credit.unread == 0
        assert trip.engine.grants[-1] == ("r", 8)
        trip.task.cancel()

    told(story)


def test_what_the_proxy_collects_counts_as_read_or_it_would_wait_for_ever():
    async def story():
        trip = Trip(Reading(link=Link(flush_bytes=60_000)), Delivery(high_tokens=4, low_tokens=1))
        for character in "abcdefgh":
            trip.engine.say("r", character)
            await later(0.1)
        assert trip.deltas() == [] and trip.reply.credit.unread == 0
        trip.engine.finish("r")
        await settle()
        assert "".join(text for _, text in trip.deltas()) == "abcdefgh"
        await trip.task

    told(story)


def test_the_client_s_own_acks_are_not_anticipated():
    async def story():
        trip = Trip(Reading(acks=True, link=Link(latency_ms=100)))
        trip.engine.say("r", *"ab")
        await later(0.2)
        await settle()
        assert len(trip.deltas()) == 2 and trip.reader.read_tokens == 0
        trip.reader.acknowledge(2)
        assert trip.reader.read_tokens == 2
        trip.task.cancel()

    told(story)


def test_the_proxy_s_timer_lets_go_without_a_further_event():
    async def story():
        trip = Trip(Reading(link=Link(flush_ms=250)))
        trip.engine.say("r", *"ab")
        await settle()
        await later(0.2)
        assert trip.arrived == []
        await later(0.05)
        assert trip.deltas() == [(250, "a"), (250, "b")]
        trip.task.cancel()

    told(story)


@pytest.mark.parametrize("how", ["stopped", "failed"])
@pytest.mark.parametrize("link", [Link(latency_ms=5000), Link(kbps=1), Link(flush_bytes=65_536)])
def test_a_reply_that_is_broken_off_ends_the_wait_at_once(link, how):
    async def story():
        trip = Trip(Reading(link=link), Delivery(slow_policy="buffer"))
        # More than the link may carry at once.
        trip.engine.say("r", *["word " * 100] * 400)
        await later(0.01)
        assert len(trip.deltas()) < 400
        if how == "stopped":
            trip.reply.stop()
            trip.engine.finish("r", "cancelled")
        else:
            trip.reply.fail(EngineFailed("gone"))
        for _ in range(50):
            await settle()
        await trip.task
        assert len(trip.deltas()) == 400 and trip.now_ms() < 100
        assert isinstance(trip.arrived[-1][1], Done if how == "stopped" else Error)

    told(story)


def test_what_is_on_the_way_is_bounded():
    async def story():
        trip = Trip(Reading(link=Link(latency_ms=5000)), Delivery(slow_policy="buffer"))
        trip.engine.say("r", *["x" * 1000] * 1000)
        for _ in range(100):
            await settle()
        assert 131_072 <= trip.crossing._bytes < 131_072 + 1100
        trip.engine.finish("r")
        for _ in range(20):
            await later(5.0)
            for _ in range(20):
                await settle()
        await trip.task
        assert len(trip.deltas()) == 1000

    told(story)


def test_closing_ends_the_listening():
    async def story():
        trip = Trip(Reading(link=Link(latency_ms=10)))
        await settle()
        assert len(asyncio.all_tasks()) == 3
        trip.task.cancel()
        trip.crossing.close()
        trip.crossing.close()
        await settle()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    told(story)
