"""Text for many: whoever reads however slowly gets all of it once, and costs nothing meanwhile."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from app.rooms.lane import Lane
from app.rooms.member import Member
from app.rooms.permission import HOST, Actor

PHONE = Actor("participant", 1)


@given(
    st.lists(st.text(max_size=5), min_size=1, max_size=20),
    st.lists(st.integers(0, 3), min_size=60, max_size=60),
)
def test_however_often_a_reader_looks_it_gets_every_piece_once(texts, looks):
    """Every split: ``looks`` says after which pieces the reader asks for what it has not had."""
    lane = Lane("s", "a")
    got, place, seq = "", 0, 0

    def look() -> None:
        nonlocal got, place, seq
        if place < lane.head:
            frame = json.loads(lane.frame(place))
            assert frame["seq"] - frame["pieces"] == seq
            got, place, seq = got + frame["text"], lane.head, frame["seq"]

    for number, text in enumerate(texts):
        lane.append(text, 1, float(number))
        if looks[number] == 0:
            look()
    lane.end("stop", 99.0)
    lane.end("failed", 100.0)
    look()
    assert got == "".join(texts) == lane.text and lane.ended
    assert json.loads(lane.frame(0))["end"] == "stop"


def test_all_who_keep_up_get_the_very_same_frame():
    lane = Lane("s", "a")
    lane.append("One", 1, 1.0)
    assert lane.frame(0) is lane.frame(0)


async def frames(member: Member) -> list[str]:
    """All that waits for a member now."""
    found = []
    while True:
        try:
            async with asyncio.timeout(0):
                found.append(await member.next() or "dismissed")
        except TimeoutError:
            return found
        if found[-1] == "dismissed":
            return found


async def test_of_each_kind_of_state_only_the_newest_goes_out():
    member = Member(PHONE)
    for number in range(1000):
        member.tell("room", f"room {number}")
        member.tell("me", f"me {number}")
        member.tell("engine", f"engine {number}")
    assert await frames(member) == ["room 999", "me 999", "engine 999"]


async def test_a_frozen_phone_costs_two_places_and_gets_one_piece_for_all_it_missed():
    member = Member(PHONE)
    lanes = (Lane("s", "a"), Lane("s", "b"))
    member.follow(lanes)
    for number in range(500):
        lanes[0].append(f"{number} ", 1, float(number))
        member.poke()
    (frame,) = await frames(member)
    assert json.loads(frame)["pieces"] == 500


async def test_state_comes_before_text_and_text_before_what_can_wait():
    member = Member(HOST)
    lane = Lane("s", "a")
    lane.append("One", 1, 1.0)
    member.follow((lane,))
    member.tell("engine", "engine")
    member.answer("answer")
    member.tell("room", "room")
    assert await frames(member) == ["room", "answer", lane.frame(0), "engine"]


async def test_answers_are_bounded_and_the_newest_stay():
    member = Member(PHONE)
    for number in range(100):
        member.answer(f"{number}")
    assert await frames(member) == [f"{number}" for number in range(92, 100)]


async def test_who_is_dismissed_hears_the_rest_first():
    member = Member(PHONE)
    member.tell("room", "room")
    member.dismiss(4403, "kicked")
    assert await frames(member) == ["room", "dismissed"] and member.dismissed == (4403, "kicked")


async def test_a_waiting_member_is_woken():
    member = Member(PHONE)
    waiting = asyncio.create_task(member.next())
    await asyncio.sleep(0)
    member.tell("pong", "pong")
    assert await waiting == "pong"
