"""Who is told what: everybody hears of every change, whoever else has looked meanwhile."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from app.rooms.audience import Audience
from app.rooms.member import Member
from app.rooms.permission import HOST, WALL, Actor
from app.rooms.state import Room

Frame = dict[str, Any]


class Hall:
    """An audience and the room that it looks at."""

    def __init__(self) -> None:
        self.room = Room("K7QX2M", "seed", "host", "wall", 0.0)
        self.audience = Audience(lambda: self.room, "e")

    def come(self, actor: Actor) -> Member:
        member = Member(actor)
        self.audience.add(member)
        return member

    def change(self, **changed: Any) -> None:
        """Something that is told with whatever else changes in the next moment."""
        self.room = replace(self.room, **changed)
        self.audience.publish_soon()


def told(member: Member) -> list[Frame]:
    """The state frames that a member has still to be told."""
    frames = []
    while (frame := member._take()) is not None:
        frames.append(json.loads(frame))
    return [frame for frame in frames if frame["type"] == "room"]


async def test_who_comes_while_a_change_waits_to_be_told_does_not_take_it_from_the_others() -> None:
    hall = Hall()
    phone = hall.come(Actor("participant", 1))
    assert [frame["host_online"] for frame in told(phone)] == [False]
    hall.change(host_online=True)
    newcomer = hall.come(Actor("participant", 2))
    assert [frame["host_online"] for frame in told(newcomer)] == [True]
    hall.audience.publish()
    assert [frame["host_online"] for frame in told(phone)] == [True]
    assert told(newcomer) == [], "the same state is not told twice"


async def test_who_looks_at_the_room_from_outside_takes_no_change_from_those_who_are_in_it() -> None:
    hall = Hall()
    wall = hall.come(WALL)
    before = told(wall)[-1]
    hall.change(title="Tokens")
    assert json.loads(hall.audience.view("wall"))["title"] == "Tokens"
    hall.audience.publish()
    (frame,) = told(wall)
    assert frame["title"] == "Tokens" and frame["revision"] > before["revision"]


async def test_what_has_not_changed_for_a_role_is_not_told_again() -> None:
    hall = Hall()
    teacher, phone = hall.come(HOST), hall.come(Actor("participant", 1))
    told(teacher), told(phone)
    hall.change(hide_count=True)
    hall.audience.publish()
    assert len(told(teacher)) == 1 and told(phone) == []
