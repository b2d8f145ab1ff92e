"""Permission: which role may say which command: one table, so that a test can try all of it.

A student can do no teacher's action, and the wall, which anybody may have photographed, none at
all. It refuses to know how a role is proven (transports) and what a command does (room).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from app.errors import Forbidden
from app.rooms.commands import AnyCommand, HostCommand, ParticipantCommand
from app.rooms.notices import Notice

Role = Literal["host", "wall", "participant", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who speaks; ``number`` is a participant's."""

    role: Role
    number: int | None = None


HOST = Actor("host")
WALL = Actor("wall")
SYSTEM = Actor("system")

MAY_SAY: dict[Role, frozenset[type]] = {
    "host": frozenset(get_args(HostCommand)),
    "wall": frozenset(),
    "participant": frozenset(get_args(ParticipantCommand)),
    "system": frozenset(get_args(Notice)),
}


def check(actor: Actor, command: AnyCommand) -> None:
    """Raises Forbidden when this is not for the actor to say."""
    if type(command) not in MAY_SAY[actor.role]:
        raise Forbidden(f"{type(command).__struct_config__.tag} is not for a {actor.role} to say")
