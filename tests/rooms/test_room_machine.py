"""Whatever is said, by whomever, in whatever order: a room keeps its promises."""

from __future__ import annotations

import json
from collections import Counter

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.errors import FirstwordError
from app.rooms import export, views
from app.rooms.commands import (
    Advance,
    Ask,
    CloseRoom,
    Felt,
    Hold,
    Kick,
    Measured,
    MoreTime,
    Nickname,
    OpenRound,
    OpenSending,
    Seen,
    SendOwn,
    Speed,
    Spotlight,
    Step,
    Tally,
    Vote,
)
from app.rooms.notices import (
    Answered,
    FirstText,
    FirstToken,
    Presence,
    Restored,
    Sent,
    Steered,
    StimulusBegan,
    StimulusOver,
    VoteCloses,
    VoteDue,
)
from app.rooms.permission import HOST, Actor
from app.rooms.plan import RoundPlan, SendingPlan
from app.rooms.playhead import Playhead
from app.rooms.state import MAX_KEPT, NEXT, Room
from tests.rooms.lesson import Lesson

NUMBERS = st.integers(1, 6)
IDS = st.integers(1, 4)
SECRET = "never to be seen"


class RoomMachine(RuleBasedStateMachine):
    """The model is what each phone said last in the vote that is open."""

    def __init__(self) -> None:
        super().__init__()
        self.lesson = Lesson()
        self.said: dict[int, str] = {}

    def attempt(self, command, actor=HOST) -> bool:
        before = self.lesson.room
        try:
            self.lesson.say(command, actor)
        except FirstwordError as error:
            assert error.message and self.lesson.room is before
            return False
        return True

    @rule()
    def somebody_joins(self):
        if len(self.lesson.room.participants) < 6:
            self.lesson.join(self.lesson.room.next_number)

    @rule(number=NUMBERS, online=st.booleans())
    def somebody_comes_or_goes(self, number, online):
        self.lesson.notice(Presence(number, online))

    @rule()
    def a_lesson_goes_its_usual_way(self):
        """Chance alone would seldom come as far as a vote."""
        phase = self.lesson.room.phase
        if NEXT[phase]:
            self.the_teacher_goes_on(NEXT[phase][-2] if phase == "watch" else NEXT[phase][0])
        else:
            self.a_round_opens(mirror=False, catch=False, flip=False, ask=True)

    @rule()
    def all_phones_vote(self):
        for number in range(1, 7):
            for ballot in ("vote", "revote"):
                self.a_phone_votes(number, 1, ballot, "1" if number % 3 else "2")

    @rule(to=st.sampled_from(sorted(NEXT)))
    def the_teacher_goes_on(self, to):
        before = self.lesson.room
        since = before.phase
        if self.attempt(Advance(to, since)):
            assert to in NEXT[since] or to == since
            if to == "vote":
                self.said = {}
            if to == "reveal":
                self.the_results_are_what_was_said(before)

    def the_results_are_what_was_said(self, before: Room) -> None:
        round = self.lesson.room.round
        assert round is not None and before.round is not None
        found = round.revote_results if round.revoting else round.results
        assert found is not None and found.ballots == len(self.said) <= len(before.round.watchers)
        if not round.plan.mirror:
            assert {k: n for k, n in found.positions.items() if n} == Counter(self.said.values())

    @rule(
        mirror=st.booleans(),
        catch=st.booleans(),
        flip=st.booleans(),
        ask=st.booleans(),
        closes=st.sampled_from(["hand", "nine_of_ten", "clock"]),
    )
    def a_round_opens(self, mirror, catch, flip, ask, closes="hand"):
        plan = RoundPlan("Count.", mirror=mirror, catch=catch, flip=flip, ask_prediction=ask, closes=closes)
        self.attempt(OpenRound(plan))

    @rule(mode=st.sampled_from(["batched", "one_at_a_time", "own_time"]), prompt=st.sampled_from([None, "x"]))
    def a_sending_opens(self, mode, prompt):
        self.attempt(OpenSending(SendingPlan(mode, prompt)))

    @rule(
        number=NUMBERS,
        id=IDS,
        ballot=st.sampled_from(["predict", "vote", "revote"]),
        choice=st.sampled_from(["1", "2", "same", "a", "b"]),
    )
    def a_phone_votes(self, number, id, ballot, choice):
        round = self.lesson.room.round
        if self.attempt(Vote(round.id if round else id, ballot, choice), Actor("participant", number)):
            assert round is not None and (ballot == "predict" or number in round.watchers)
            if ballot != "predict":
                self.said[number] = choice

    @rule(number=NUMBERS, stimulus=st.sampled_from("st"), hidden=st.booleans(), a=st.floats(0, 500))
    def a_phone_reports(self, number, stimulus, hidden, a):
        round = self.lesson.room.round
        self.attempt(Seen(round.id if round else 1, stimulus, {"a": a}, hidden), Actor("participant", number))

    @rule(number=NUMBERS)
    def a_phone_says_the_rest(self, number):
        actor = Actor("participant", number)
        round = self.lesson.room.round
        said = (Felt(round.id if round else 1, 1, 2), Nickname(), Ask("Why?"), SendOwn(), Measured("r", 5.0))
        for command in said:
            self.attempt(command, actor)

    @rule(id=st.sampled_from("st"), message=st.sampled_from(["", "boom"]))
    def a_stimulus_plays(self, id, message):
        for notice in (StimulusBegan(id, 0.0), FirstText(id, "a", 100.0), StimulusOver(id, message)):
            self.lesson.notice(notice)

    @rule(number=NUMBERS)
    def an_answer_is_made(self, number):
        self.lesson.notice(Sent(number, "r"))
        self.lesson.notice(FirstToken(number, 3.0))
        self.lesson.notice(Answered(number))

    @rule(speed=st.sampled_from([0.1, 0.5, 1.0]))
    def a_stimulus_is_steered(self, speed):
        for command in (Speed(speed), Step()):
            self.attempt(command)
        self.lesson.notice(Steered("s", Playhead(speed=speed)))

    @rule(id=IDS, at_ms=st.sampled_from([1.0, 2.0]), due=st.booleans())
    def a_vote_has_a_clock(self, id, at_ms, due):
        before = self.lesson.room
        id = before.round.id if before.round else id
        self.attempt(MoreTime())
        self.lesson.notice(VoteDue(id, at_ms) if due else VoteCloses(id, at_ms))
        if self.lesson.room.phase != before.phase:
            assert before.phase == "vote" and before.round and before.round.closes_ms == at_ms
            self.the_results_are_what_was_said(before)

    @rule(number=NUMBERS)
    def somebody_is_kicked(self, number):
        if self.attempt(Kick(number)):
            self.said.pop(number, None)

    @rule(number=st.one_of(st.none(), NUMBERS), freeze=st.sampled_from([None, False, False]))
    def the_teacher_holds(self, number, freeze):
        self.attempt(Hold(freeze, hide_count=freeze))
        self.attempt(Spotlight(number))
        self.attempt(Tally(1, 2, 3))

    @rule(number=st.integers(0, 30))
    def rarely_the_room_is_closed(self, number):
        if number == 0:
            self.attempt(CloseRoom())

    @rule()
    def the_server_is_killed_and_started_again(self):
        self.lesson.room = msgspec.json.decode(msgspec.json.encode(self.lesson.room), type=Room)
        self.lesson.notice(Restored())

    @invariant()
    def the_state_is_sound(self):
        room = self.lesson.room
        assert len(room.rounds) + len(room.sendings) <= MAX_KEPT
        assert (room.round is None) == (room.phase in ("idle", "collect", "sending", "results"))
        assert (room.sending is not None) == (room.phase in ("collect", "sending", "results"))
        assert all(number < room.next_number for number in room.participants)

    @invariant()
    def an_open_vote_is_hidden_from_everybody(self):
        room = self.lesson.room
        if room.phase not in ("predict", "watch", "vote") or room.round is None or room.round.revoting:
            return
        for make in (views.phone_view, views.wall_view, views.host_view):
            shown = json.loads(msgspec.json.encode(make(room)))
            assert not {"results", "predicted", "cards"} & set(shown["round"])
        rows = export.to_csv(room).splitlines()
        open_rows = [row for row in rows if row.startswith(f"round,{room.round.id},")]
        assert all(row.split(",")[9:13] == ["", "", "", ""] for row in open_rows)

    @invariant()
    def no_key_is_shown_or_exported(self):
        room = msgspec.structs.replace(self.lesson.room, host_key=SECRET, seed=SECRET)
        people = {n: msgspec.structs.replace(p, key=SECRET) for n, p in room.participants.items()}
        room = msgspec.structs.replace(room, participants=people)
        shown = [
            msgspec.json.encode(make(room)) for make in (views.phone_view, views.wall_view, views.host_view)
        ]
        shown += [msgspec.json.encode(views.private_view(room, number)) for number in room.participants]
        assert SECRET.encode() not in b"".join([*shown, export.to_csv(room).encode(), export.to_json(room)])


TestRoomMachine = RoomMachine.TestCase
TestRoomMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
