"""Teaching: what follows from each of the teacher's commands. Pure; see room.

How a lesson goes on from phase to phase is the course's; the teacher's hand on what is open is here.
"""

from __future__ import annotations

from msgspec.structs import replace

from app.errors import BadRequest
from app.rooms import course
from app.rooms.commands import (
    Advance,
    Approve,
    CloseRoom,
    DeleteRoom,
    Hold,
    HostCommand,
    Kick,
    MoreTime,
    OpenRound,
    OpenSending,
    Speed,
    Spotlight,
    Step,
    Tally,
)
from app.rooms.round import Hands
from app.rooms.state import CloseIn, Erase, Expel, Next, Room, Steer, StepOn, StopPlaying, StopSending

#: What a teacher adds to a vote's clock at a time (WCAG 2.2.1: as often as wanted).
MORE_S = 20.0


def teach(room: Room, command: HostCommand) -> Next:
    """The next state, and what has to be done for it. Raises BadRequest."""
    match command:
        case OpenRound():
            return course.open_round(room, command.plan), ()
        case OpenSending():
            return course.open_sending(room, command.plan), ()
        case Advance():
            return course.advance(room, command)
        case Hold():
            return _hold(room, command)
        case Speed():
            return _speed(room, command.speed)
        case Step():
            return _step(room)
        case MoreTime():
            return _more_time(room)
        case Spotlight():
            return _spotlight(room, command.number), ()
        case Approve():
            return _approve(room, command), ()
        case Kick():
            return _kick(room, command.number)
        case Tally():
            return _tally(room, command), ()
        case CloseRoom():
            return replace(course.put_away(room), closed=True), (StopPlaying(), StopSending())
        case DeleteRoom():
            return room, (StopPlaying(), StopSending(), Erase())


# Private


def _hold(room: Room, hold: Hold) -> Next:
    """A frozen room stands still, what plays in it, too."""
    held = replace(
        room,
        frozen=_either(hold.freeze, room.frozen),
        blank=_either(hold.blank, room.blank),
        hide_count=_either(hold.hide_count, room.hide_count),
        hands_only=_either(hold.hands_only, room.hands_only),
    )
    steers = room.phase == "watch" and held.frozen != room.frozen
    return held, (Steer(),) if steers else ()


def _either(wish: bool | None, now: bool) -> bool:
    return now if wish is None else wish


def _speed(room: Room, speed: float) -> Next:
    if room.round is None or room.phase not in ("predict", "watch"):
        raise BadRequest("the speed is that of a stimulus that plays, or is about to", param="type")
    room = replace(room, round=replace(room.round, speed=speed))
    return room, (Steer(),) if room.phase == "watch" else ()


def _step(room: Room) -> Next:
    if room.phase != "watch" or not room.frozen:
        raise BadRequest("only a stimulus that stands can be stepped: freeze the room first", param="type")
    return room, (StepOn(),)


def _more_time(room: Room) -> Next:
    if room.phase != "vote" or room.round is None or room.round.closes_ms is None:
        raise BadRequest("no vote is about to close by itself", param="type")
    return room, (CloseIn(MORE_S, later=True),)


def _spotlight(room: Room, number: int | None) -> Room:
    if number is not None and (room.sending is None or room.sending.prompt_of(number) is None):
        raise BadRequest(f"participant {number} has no prompt to be shown", param="number")
    return replace(room, spotlight=number)


def _approve(room: Room, command: Approve) -> Room:
    if command.number is not None and command.number not in room.participants:
        raise BadRequest(f"there is no participant {command.number}", param="number")
    people = {
        number: replace(person, approved=command.approved and bool(person.nickname))
        if command.number in (None, number)
        else person
        for number, person in room.participants.items()
    }
    return replace(room, participants=people)


def _kick(room: Room, number: int) -> Next:
    """Out, with what they said in the open round; not banned: they may join again, as somebody new."""
    if number not in room.participants:
        return room, ()
    people = {n: person for n, person in room.participants.items() if n != number}
    room = replace(room, participants=people)
    if room.round is not None:
        cards = {n: card for n, card in room.round.cards.items() if n != number}
        room = replace(room, round=replace(room.round, cards=cards, watchers=room.round.watchers - {number}))
    if room.spotlight == number:
        room = replace(room, spotlight=None)
    return room, (Expel(number, "kicked"),)


def _tally(room: Room, tally: Tally) -> Room:
    if room.round is None or room.phase not in ("vote", "reveal", "discuss"):
        raise BadRequest("hands are counted when a round is voted on", param="type")
    hands = Hands(tally.first, tally.second, tally.same)
    return replace(room, round=replace(room.round, hands=hands))
