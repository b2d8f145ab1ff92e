"""Room: the rules of the classroom, as one pure function.

    (state, command, who says it)  ->  (next state, effects)

    idle ─▶ predict ─▶ watch ─▶ vote ─▶ reveal ─▶ discuss ─▶ vote (again) ─▶ reveal …
      └───▶ collect ─▶ sending ─▶ results                     any of them ─▶ idle

Nothing here waits, plays, stores or knows the time. Whoever may not say something gets Forbidden;
what does not fit the moment gets BadRequest; in both cases the state is the old one. A command
said twice does no more than once.
"""

from __future__ import annotations

from app.errors import BadRequest, NotFound
from app.rooms import answering, noticing, teaching
from app.rooms.commands import (
    AnyCommand,
    CloseRoom,
    DeleteRoom,
    HostCommand,
    Leave,
    Measured,
    ParticipantCommand,
    Seen,
)
from app.rooms.notices import Notice
from app.rooms.permission import Actor, check
from app.rooms.state import Next, Room


def decide(room: Room, command: AnyCommand, actor: Actor) -> Next:
    """What follows from a command. Raises Forbidden, BadRequest or NotFound; then nothing has."""
    check(actor, command)
    if isinstance(command, Notice):
        return noticing.notice(room, command)
    if room.closed and not isinstance(command, CloseRoom | DeleteRoom | Leave):
        raise NotFound(f"room {room.code} is closed", param="type")
    if isinstance(command, HostCommand):
        return teaching.teach(room, command)
    assert isinstance(command, ParticipantCommand)
    return answering.answer(room, command, _number(room, actor, command))


# Private


def _number(room: Room, actor: Actor, command: ParticipantCommand) -> int:
    if actor.number not in room.participants:
        raise NotFound("you are no longer in this room; join again", param="type")
    # What a phone has seen and measured is no wish of its owner's: it is heard in a frozen room, too.
    if room.frozen and not isinstance(command, Leave | Measured | Seen):
        raise BadRequest("the teacher holds the room for a moment", param="frozen")
    return actor.number
