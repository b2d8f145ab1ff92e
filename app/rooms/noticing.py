"""Noticing: what follows from what the room's own server tells it. Pure; see room.

A notice about something that is over already (a stimulus that was started anew) changes nothing:
it was on its way when that happened.
"""

from __future__ import annotations

from msgspec.structs import replace

from app.rooms import course
from app.rooms.notices import (
    Answered,
    FirstText,
    FirstToken,
    Joined,
    Notice,
    Presence,
    Restored,
    SendingBegan,
    Sent,
    Steered,
    StimulusBegan,
    StimulusOver,
    VoteCloses,
    VoteDue,
)
from app.rooms.playhead import Playhead
from app.rooms.round import Stimulus
from app.rooms.state import Next, Participant, Room

_LOST = "The server was started again while this was playing."


def notice(room: Room, command: Notice) -> Next:
    """The next state; effects never follow from a notice."""
    match command:
        case Joined():
            person = Participant(room.next_number, command.key)
            return replace(room.with_participant(person), next_number=room.next_number + 1), ()
        case Presence():
            return _presence(room, command), ()
        case Restored():
            return _restored(room), ()
        case StimulusBegan():
            if room.round is None:
                return room, ()
            speed = command.speed
            stimulus = Stimulus(
                command.id, command.started_ms, playhead=Playhead(speed=speed), altered=speed != 1
            )
            return replace(room, round=replace(room.round, stimulus=stimulus)), ()
        case FirstText() | StimulusOver() | Steered():
            return _stimulus(room, command), ()
        case VoteCloses() | VoteDue():
            return _vote_closes(room, command), ()
        case SendingBegan() | Sent() | FirstToken() | Answered():
            return _sending(room, command), ()


# Private


def _presence(room: Room, presence: Presence) -> Room:
    if presence.number is None:
        return replace(room, host_online=presence.online)
    person = room.participants.get(presence.number)
    if person is None:
        return room
    return room.with_participant(replace(person, online=presence.online))


def _restored(room: Room) -> Room:
    people = {number: replace(person, online=False) for number, person in room.participants.items()}
    room = replace(room, participants=people, host_online=False)
    round, sending = room.round, room.sending
    if round is not None and round.closes_ms is not None:
        # It was on the clock of a server that is gone: the teacher closes by hand.
        round = replace(round, closes_ms=None)
        room = replace(room, round=round)
    if round is not None and room.phase == "watch":
        stimulus = round.stimulus or Stimulus("lost", 0.0)
        if stimulus.state == "running":
            stimulus = replace(stimulus, state="lost", message=_LOST)
        room = replace(room, round=replace(round, stimulus=stimulus))
    if sending is not None and room.phase == "sending":
        silent = [n for n in sending.line if n not in sending.server_ms]
        failures = {**sending.failures, **dict.fromkeys(silent, _LOST)}
        for number in sending.running:
            failures[number] = _LOST
        room = replace(room, sending=replace(sending, failures=failures, running=frozenset()))
    return room


def _vote_closes(room: Room, told: VoteCloses | VoteDue) -> Room:
    round = room.round
    if round is None or round.id != told.round or room.phase != "vote":
        return room
    if isinstance(told, VoteCloses):
        return replace(room, round=replace(round, closes_ms=told.at_ms))
    # More time may have been given meanwhile, and a closed room is not opened by its clock.
    due = round.closes_ms == told.at_ms and not room.closed
    return course.reveal(room, by_hand=False) if due else room


def _stimulus(room: Room, told: FirstText | StimulusOver | Steered) -> Room:
    round = room.round
    if round is None or round.stimulus is None or round.stimulus.id != told.id:
        return room
    stimulus = round.stimulus
    if isinstance(told, FirstText):
        stimulus = replace(stimulus, first_text_ms={told.lane: told.t_ms, **stimulus.first_text_ms})
    elif isinstance(told, Steered):
        stimulus = replace(stimulus, playhead=told.playhead, altered=True)
    elif stimulus.state == "running":
        state = "failed" if told.message else "ended"
        stimulus = replace(stimulus, state=state, message=told.message, code=told.code)
    return replace(room, round=replace(round, stimulus=stimulus))


def _sending(room: Room, told: SendingBegan | Sent | FirstToken | Answered) -> Room:
    sending = room.sending
    if sending is None:
        return room
    match told:
        case SendingBegan():
            sending = replace(sending, started_ms=told.started_ms)
        case Sent() if told.message:
            failures = {**sending.failures, told.number: told.message}
            codes = {**sending.failure_codes, told.number: told.code}
            sending = replace(sending, failures=failures, failure_codes=codes)
        case Sent():
            sending = replace(sending, replies={**sending.replies, told.number: told.reply})
        case Answered():
            sending = replace(sending, running=sending.running - {told.number})
        case FirstToken():
            shares = {**sending.server_ms, told.number: told.server_ms}
            measures = sending.measures
            if told.number in measures:
                measure = replace(measures[told.number], server_ms=told.server_ms)
                measures = {**measures, told.number: measure}
            sending = replace(sending, server_ms=shares, measures=measures)
    return replace(room, sending=sending)
