"""Course: how a lesson goes on: a round or a sending is opened, goes from phase to phase, is put away. Pure.

What may follow what is state's table (NEXT). It refuses to know who says that the room goes on: the
teacher does, and a vote's own clock.
"""

from __future__ import annotations

from msgspec.structs import replace

from app.errors import BadRequest
from app.rooms import counting
from app.rooms.commands import Advance, Phase
from app.rooms.plan import RoundPlan, SendingPlan
from app.rooms.round import Round
from app.rooms.sending import Sending
from app.rooms.state import (
    MAX_KEPT,
    NEXT,
    RESTING,
    CloseIn,
    Effect,
    Next,
    Play,
    Room,
    Send,
    StopPlaying,
    StopSending,
)


def open_round(room: Room, plan: RoundPlan) -> Room:
    """A new round, before its prediction. Raises BadRequest: for the plan, or when another is open."""
    plan = plan.checked()
    room = _rested(room)
    return replace(room, phase="predict", round=Round(room.next_id, plan), next_id=room.next_id + 1)


def open_sending(room: Room, plan: SendingPlan) -> Room:
    """A new sending, which collects prompts. Raises BadRequest when something else is open."""
    room = _rested(room)
    return replace(room, phase="collect", sending=Sending(room.next_id, plan), next_id=room.next_id + 1)


def advance(room: Room, command: Advance) -> Next:
    """Go on to the phase that the teacher wants. Raises BadRequest when that is not the next one."""
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
