"""Answering: what follows from each of a participant's commands. Pure; see room."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from app.errors import BadRequest
from app.rooms.ballot import position_of
from app.rooms.commands import (
    Ask,
    Felt,
    Leave,
    Measured,
    Nickname,
    ParticipantCommand,
    Seen,
    SendOwn,
    Vote,
)
from app.rooms.nickname import nickname
from app.rooms.round import Felt as FeltTimes
from app.rooms.round import Round, Sight
from app.rooms.sending import Measure
from app.rooms.state import CloseIn, Expel, Next, Room, SendOne

T = TypeVar("T")

#: Wishes for another nickname; then the last one stays.
MAX_SPINS = 20
#: So long can votes still be changed when enough have voted for the rule.
GRACE_S = 5.0


def answer(room: Room, command: ParticipantCommand, number: int) -> Next:
    """The next state after participant ``number`` said this. Raises BadRequest."""
    match command:
        case Vote():
            return _closing(room, _vote(room, command, number))
        case Felt():
            return _felt(room, command, number), ()
        case Seen():
            return _seen(room, command, number), ()
        case Nickname():
            return _nickname(room, command.wanted, number), ()
        case Ask():
            return _ask(room, command.text, number), ()
        case SendOwn():
            return _send_own(room, number)
        case Measured():
            return _measured(room, command, number), ()
        case Leave():
            people = {n: person for n, person in room.participants.items() if n != number}
            return replace(room, participants=people), (Expel(number, "left"),)


# Private


def _open_round(room: Room, id: int) -> Round:
    if room.round is None or room.round.id != id:
        raise BadRequest(f"round {id} is not the one that is open", param="round")
    return room.round


def _watched(round: Round, number: int) -> None:
    if number not in round.watchers:
        raise BadRequest("you came after this stimulus had begun; the next round is yours", param="type")


def _vote(room: Room, vote: Vote, number: int) -> Room:
    round = _open_round(room, vote.round)
    open_ballot = {"predict": "predict", "vote": "revote" if round.revoting else "vote"}.get(room.phase)
    if vote.ballot != open_ballot:
        raise BadRequest(f"the ballot {vote.ballot} is not open now", param="ballot")
    card = room.card_of(number)
    if vote.ballot == "predict":
        if not round.plan.ask_prediction:
            raise BadRequest("this round asks for no prediction", param="ballot")
        if vote.choice == "1" or vote.choice == "2":
            raise BadRequest("choice must be a, b or same: positions mean nothing yet", param="choice")
        return room.with_card(number, replace(card, predict=vote.choice))
    if vote.choice == "a" or vote.choice == "b":
        raise BadRequest("choice must be 1, 2 or same: the position on this phone", param="choice")
    _watched(round, number)
    if vote.ballot == "revote":
        return room.with_card(number, replace(card, revote=vote.choice))
    return room.with_card(number, replace(card, vote=vote.choice))


def _closing(before: Room, room: Room) -> Next:
    """The vote that fills a round by its own rule sets its clock going."""
    round = room.round
    assert round is not None
    rule = round.plan.closes == "nine_of_ten" and before.phase == "vote" and round.closes_ms is None
    return room, (CloseIn(GRACE_S),) if rule and room.enough_voted else ()


def _felt(room: Room, felt: Felt, number: int) -> Room:
    round = _open_round(room, felt.round)
    if not round.plan.ask_felt or room.phase != "vote" or round.revoting:
        raise BadRequest("how long it felt is not asked now", param="type")
    _watched(round, number)
    card = room.card_of(number)
    first_is_a = position_of(card.order, "a") == "1"
    times = (felt.first_s, felt.second_s) if first_is_a else (felt.second_s, felt.first_s)
    return room.with_card(number, replace(card, felt=FeltTimes(*times)))


def _seen(room: Room, seen: Seen, number: int) -> Room:
    """A later report adds to an earlier one: what was once hidden or painted stays so."""
    round = _open_round(room, seen.round)
    if round.stimulus is None or round.stimulus.id != seen.stimulus:
        raise BadRequest("this stimulus does not play any more", param="stimulus")
    if room.phase not in ("watch", "vote") or round.revoting:
        raise BadRequest("the vote on this stimulus is closed", param="type")
    _watched(round, number)
    card = room.card_of(number)
    before = card.sight
    painted = dict(seen.first_paint_ms) | (before.first_paint_ms if before is not None else {})
    hidden = seen.hidden or (before is not None and before.hidden)
    sight = Sight(seen.stimulus, painted, hidden, seen.clock_error_ms)
    return room.with_card(number, replace(card, sight=sight))


def _nickname(room: Room, wanted: bool, number: int) -> Room:
    person = room.participants[number]
    if not wanted:
        return room.with_participant(replace(person, nickname="", approved=False))
    if person.spin >= MAX_SPINS:
        raise BadRequest(f"{MAX_SPINS} nicknames are enough to choose from", param="wanted")
    taken = {p.nickname for p in room.participants.values()}
    name = nickname(room.seed, number, person.spin, taken)
    return room.with_participant(replace(person, nickname=name, approved=False, spin=person.spin + 1))


def _ask(room: Room, text: str, number: int) -> Room:
    sending = room.sending
    if sending is None or room.phase != "collect" or sending.plan.prompt is not None:
        raise BadRequest("own prompts are not collected now", param="type")
    if not text.strip():
        raise BadRequest("text is empty: there is nothing to answer", param="text")
    prompts = {**sending.prompts, number: text.strip()}
    return replace(room, sending=replace(sending, prompts=prompts))


def _send_own(room: Room, number: int) -> Next:
    """The last answer has to be over: one in flight for each, however often the button is pressed."""
    sending = room.sending
    if sending is None or room.phase != "sending" or sending.plan.mode != "own_time":
        raise BadRequest("nobody sends in their own time now", param="type")
    if sending.prompt_of(number) is None:
        raise BadRequest("you have handed in no prompt", param="type")
    if number in sending.running:
        raise BadRequest("your last answer is not over yet", param="type")
    sending = replace(
        sending,
        running=sending.running | {number},
        replies=_without(sending.replies, number),
        failures=_without(sending.failures, number),
        failure_codes=_without(sending.failure_codes, number),
        server_ms=_without(sending.server_ms, number),
        measures=_without(sending.measures, number),
    )
    return replace(room, sending=sending), (SendOne(number),)


def _without(of: dict[int, T], number: int) -> dict[int, T]:
    return {n: value for n, value in of.items() if n != number}


def _measured(room: Room, measured: Measured, number: int) -> Room:
    sending = room.sending
    if sending is None or room.phase not in ("sending", "results"):
        raise BadRequest("nothing is measured now", param="type")
    if sending.replies.get(number) != measured.reply:
        raise BadRequest("that reply is not yours", param="reply")
    if number in sending.measures:
        return room  # said again after a reconnect
    measure = Measure(
        measured.first_word_ms, sending.server_ms.get(number), measured.hidden, measured.clock_error_ms
    )
    return replace(room, sending=replace(sending, measures={**sending.measures, number: measure}))
