"""Teaching: what follows from each of the teacher's commands. Pure; see room.

Longer than most files here: all that a teacher can say stands on one page.
"""

from __future__ import annotations

from msgspec.structs import replace

from app.errors import BadRequest
from app.rooms import counting
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
    Phase,
    Speed,
    Spotlight,
    Step,
    Tally,
)
from app.rooms.round import Hands, Round
from app.rooms.sending import Sending
from app.rooms.state import (
    MAX_KEPT,
    NEXT,
    RESTING,
    CloseIn,
    Effect,
    Erase,
    Expel,
    Next,
    Play,
    Room,
    Send,
    Steer,
    StepOn,
    StopPlaying,
    StopSending,
)

#: What a teacher adds to a vote's clock at a time (WCAG 2.2.1: as often as wanted).
MORE_S = 20.0


def teach(room: Room, command: HostCommand) -> Next:
    """The next state, and what has to be done for it. Raises BadRequest."""
    match command:
        case OpenRound():
            plan = command.plan.checked()
            room = _rested(room)
            return replace(
                room, phase="predict", round=Round(room.next_id, plan), next_id=room.next_id + 1
            ), ()
        case OpenSending():
            room = _rested(room)
            sending = Sending(room.next_id, command.plan)
            return replace(room, phase="collect", sending=sending, next_id=room.next_id + 1), ()
        case Advance():
            return _advance(room, command)
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
            return replace(put_away(room), closed=True), (StopPlaying(), StopSending())
        case DeleteRoom():
            return room, (StopPlaying(), StopSending(), Erase())


def put_away(room: Room) -> Room:
    """Whatever is open goes among what was; what has no answer at all is forgotten."""
    rounds, sendings = room.rounds, room.sendings
    if room.round is not None and (room.round.cards or room.round.hands or room.round.results):
        rounds = (*rounds, room.round)
    if room.sending is not None and (room.sending.measures or room.sending.replies):
        sendings = (*sendings, room.sending)
    return replace(
        room, phase="idle", round=None, sending=None, rounds=rounds, sendings=sendings, spotlight=None
    )


def reveal(room: Room, *, by_hand: bool) -> Room:
    """The vote is closed and counted; by hand may be before its own rule says so, which is told."""
    assert room.round is not None
    closes = room.round.plan.closes
    early = by_hand and (closes == "clock" or closes == "nine_of_ten" and not room.enough_voted)
    round = counting.counted(room.round, early)
    return replace(room, phase="reveal", round=replace(round, closes_ms=None))


# Private


def _rested(room: Room) -> Room:
    """The room with nothing open. Raises BadRequest when that would lose something."""
    if room.phase not in RESTING:
        raise BadRequest(f"the room is in {room.phase}; end that first", param="type")
    if len(room.rounds) + len(room.sendings) >= MAX_KEPT:
        raise BadRequest(f"a room keeps {MAX_KEPT} rounds; export them and open another room", param="type")
    return put_away(room)


def _advance(room: Room, command: Advance) -> Next:
    if command.since != room.phase:
        if command.to == room.phase:
            return room, ()  # a second click
        raise BadRequest(f"the room is in {room.phase} by now, not in {command.since}", param="since")
    if command.to not in NEXT[room.phase]:
        able = ", ".join(NEXT[room.phase]) or "nothing: open a round first"
        raise BadRequest(f"from {room.phase} the room goes on to {able}", param="to")
    match command.to:
        case "watch":
            return _watch(room)
        case "vote":
            return _vote(room)
        case "sending":
            return _send(room)
        case "reveal":
            return reveal(room, by_hand=True), ()
        case "idle":
            return put_away(room), (StopPlaying(), StopSending())
        case "results":
            assert room.sending is not None
            # What is cut says nothing any more; nobody is waiting for it.
            cut = replace(room.sending, running=frozenset())
            return replace(room, phase="results", sending=cut), (StopSending(),)
    return replace(room, phase=command.to), ()


def _watch(room: Room) -> Next:
    """Who is here now watches; what was seen of an earlier playing does not count any more."""
    assert room.round is not None
    watchers = frozenset(room.online())
    fresh = {number: replace(card, sight=None) for number, card in room.round.cards.items()}
    round = replace(room.round, cards=fresh, watchers=watchers, stimulus=None)
    room = replace(room, phase="watch", round=round)
    cards = fresh | {number: room.card_of(number) for number in watchers}
    return replace(room, round=replace(round, cards=cards)), (Play(),)


def _vote(room: Room) -> Next:
    assert room.round is not None
    plan = room.round.plan
    clock: tuple[Effect, ...] = (CloseIn(plan.close_s),) if plan.closes == "clock" else ()
    if room.phase == "discuss":
        if room.round.revoting:
            raise BadRequest("this round was voted on twice; open another one", param="to")
        return replace(room, phase="vote", round=replace(room.round, revoting=True)), clock
    return replace(room, phase="vote"), (StopPlaying(), *clock)


def _send(room: Room) -> Next:
    sending = room.sending
    assert sending is not None
    line: tuple[int, ...] = ()
    if sending.plan.mode != "own_time":
        line = tuple(n for n in room.online() if sending.prompt_of(n) is not None)
        if not line:
            raise BadRequest("nobody who is here has a prompt to send", param="to")
    phase: Phase = "sending"
    return replace(room, phase=phase, sending=replace(sending, line=line)), (Send(),)


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
