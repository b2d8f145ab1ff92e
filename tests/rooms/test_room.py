"""The rules of a room: what may follow what, who may say it, and that nothing said twice counts twice."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from app.errors import BadRequest, FirstwordError, Forbidden, NotFound
from app.rooms.commands import (
    Advance,
    Approve,
    Ask,
    CloseRoom,
    DeleteRoom,
    Felt,
    Hold,
    HostCommand,
    Kick,
    Leave,
    Measured,
    MoreTime,
    Nickname,
    OpenRound,
    OpenSending,
    ParticipantCommand,
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
from app.rooms.permission import HOST, SYSTEM, WALL, Actor
from app.rooms.plan import LanePlan, RoundPlan, SendingPlan
from app.rooms.playhead import Playhead
from app.rooms.room import decide
from app.rooms.state import Erase, Expel, Play, Send, SendOne, StopPlaying, StopSending
from tests.rooms.lesson import PLAN, Lesson

EVERYTHING: dict[type, Any] = {
    OpenRound: OpenRound(PLAN),
    OpenSending: OpenSending(SendingPlan()),
    Advance: Advance("idle", "idle"),
    Hold: Hold(freeze=True),
    Speed: Speed(0.5),
    Step: Step(),
    MoreTime: MoreTime(),
    Spotlight: Spotlight(None),
    Approve: Approve(None),
    Kick: Kick(1),
    Tally: Tally(1, 2, 3),
    CloseRoom: CloseRoom(),
    DeleteRoom: DeleteRoom(),
    Vote: Vote(1, "vote", "1"),
    Felt: Felt(1, 1, 2),
    Seen: Seen(1, "s", {"a": 1.0}),
    Nickname: Nickname(),
    Ask: Ask("Why?"),
    SendOwn: SendOwn(),
    Measured: Measured("r", 1.0),
    Leave: Leave(),
    Joined: Joined("key"),
    Presence: Presence(1, True),
    Restored: Restored(),
    StimulusBegan: StimulusBegan("s", 0.0),
    FirstText: FirstText("s", "a", 1.0),
    Steered: Steered("s", Playhead()),
    StimulusOver: StimulusOver("s"),
    VoteCloses: VoteCloses(1, 1.0),
    VoteDue: VoteDue(1, 1.0),
    SendingBegan: SendingBegan(0.0),
    Sent: Sent(1, "r"),
    FirstToken: FirstToken(1, 1.0),
    Answered: Answered(1),
}
ALLOWED = {
    "host": set(get_args(HostCommand)),
    "wall": set(),
    "participant": set(get_args(ParticipantCommand)),
    "system": set(get_args(Notice)),
}


@pytest.mark.parametrize("actor", [HOST, WALL, SYSTEM, Actor("participant", 1)], ids=lambda a: a.role)
@pytest.mark.parametrize("kind", list(EVERYTHING), ids=lambda kind: kind.__name__)
def test_who_may_say_what(kind, actor):
    """Every command from every role: a student can do no teacher's action, and nobody a notice."""
    lesson = Lesson(num_phones=1)
    before = lesson.room
    try:
        lesson.say(EVERYTHING[kind], actor)
        forbidden = False
    except Forbidden:
        forbidden = True
    except FirstwordError:
        forbidden = False
    assert forbidden == (kind not in ALLOWED[actor.role])
    if forbidden:
        assert lesson.room is before


def test_every_command_is_in_the_table():
    assert set(EVERYTHING) == {*get_args(HostCommand), *get_args(ParticipantCommand), *get_args(Notice)}


def test_a_round_goes_through_its_phases_and_is_kept():
    lesson = Lesson(num_phones=2)
    id = lesson.open()
    lesson.go("watch")
    assert lesson.did == [Play()]
    lesson.go("vote")
    assert lesson.did == [StopPlaying()]
    lesson.go("reveal", "discuss", "vote", "reveal", "discuss", "idle")
    assert [round.id for round in lesson.room.rounds] == [id]
    assert lesson.room.round is None


def test_a_phase_is_not_skipped_and_a_second_click_does_nothing():
    lesson = Lesson(num_phones=1)
    lesson.open()
    with pytest.raises(BadRequest, match="watch, idle"):
        lesson.say(Advance("reveal", "predict"))
    lesson.say(Advance("watch", "predict"))
    before = lesson.room
    lesson.say(Advance("watch", "predict"))
    assert lesson.room is before and lesson.did == []
    with pytest.raises(BadRequest, match="by now"):
        lesson.say(Advance("idle", "predict"))
    with pytest.raises(BadRequest, match="end that first"):
        lesson.open()


def test_a_third_vote_on_one_round_is_refused():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.go("watch", "vote", "reveal", "discuss", "vote", "reveal", "discuss")
    with pytest.raises(BadRequest, match="twice"):
        lesson.go("vote")


def test_the_last_vote_before_the_close_counts_and_later_ones_do_not():
    lesson = Lesson(num_phones=2)
    lesson.open()
    lesson.play()
    lesson.see(1)
    lesson.see(2)
    lesson.go("vote")
    for choice in ("1", "1", "same", "2"):
        lesson.vote(1, choice)
    lesson.vote(2, "same")
    lesson.go("reveal")
    assert lesson.room.round and lesson.room.round.results
    assert lesson.room.round.results.positions == {"1": 0, "2": 1, "same": 1}
    with pytest.raises(BadRequest, match="not open"):
        lesson.vote(1, "1")


def test_who_came_after_the_beginning_may_not_vote():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.play()
    lesson.join(2)
    lesson.go("vote")
    with pytest.raises(BadRequest, match="next round"):
        lesson.vote(2, "1")


def test_who_was_offline_when_it_began_did_not_watch():
    lesson = Lesson(num_phones=2)
    lesson.notice(Presence(2, False))
    lesson.open()
    lesson.play()
    assert lesson.room.round and lesson.room.round.watchers == {1}


@pytest.mark.parametrize(("ballot", "choice"), [("predict", "1"), ("vote", "a"), ("vote", "b")])
def test_predictions_name_lanes_and_votes_name_positions(ballot, choice):
    lesson = Lesson(num_phones=1)
    lesson.open()
    if ballot == "vote":
        lesson.play()
        lesson.go("vote")
    with pytest.raises(BadRequest, match="choice must be"):
        lesson.vote(1, choice, ballot)


def test_votes_for_another_round_or_ballot_are_refused():
    lesson = Lesson(num_phones=1)
    id = lesson.open()
    with pytest.raises(BadRequest, match="not open"):
        lesson.vote(1, "1", "vote")
    with pytest.raises(BadRequest, match="not the one that is open"):
        lesson.phone(1, Vote(id + 1, "predict", "a"))


def test_votes_of_hidden_late_or_silent_phones_are_left_out():
    lesson = Lesson(num_phones=4)
    lesson.open()
    lesson.play()
    lesson.see(1)
    lesson.see(2, hidden=True)
    lesson.see(3, a_ms=360.0)
    lesson.go("vote")
    for number in (1, 2, 3, 4):
        lesson.vote(number, "1")
    lesson.go("reveal")
    assert lesson.room.round and lesson.room.round.results
    assert lesson.room.round.results.excluded == {"hidden": 1, "off_plan": 1, "no_report": 1}
    assert lesson.room.round.results.decided == 1


def test_a_phone_cannot_unsay_that_it_was_hidden():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.play()
    lesson.see(1, hidden=True)
    lesson.see(1, a_ms=1.0)
    card = lesson.room.card_of(1)
    assert card.sight and card.sight.hidden and card.sight.first_paint_ms["a"] == 110.0


def test_a_wall_only_round_has_one_order_and_no_stimulus_check():
    lesson = Lesson(num_phones=8)
    lesson.open(mirror=False, flip=True)
    lesson.play()
    lesson.go("vote")
    for number in range(1, 9):
        lesson.vote(number, "1")
    lesson.go("reveal")
    assert lesson.room.round and lesson.room.round.results
    assert lesson.room.round.results.lanes == {"a": 0, "b": 8, "same": 0}


def test_playing_again_asks_for_new_reports():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.play("first")
    lesson.see(1)
    lesson.play("second")
    assert lesson.room.card_of(1).sight is None
    with pytest.raises(BadRequest, match="does not play"):
        lesson.phone(1, Seen(1, "first", {"a": 1.0}))


def test_a_catch_round_has_two_lanes_alike():
    lesson = Lesson()
    lesson.open(catch=True, lanes=(LanePlan("word", "x"), LanePlan("whole", "y")))
    assert lesson.room.round and lesson.room.round.plan.lanes[0] == lesson.room.round.plan.lanes[1]


@pytest.mark.parametrize("plan", [{"prompt": " "}, {"prompt": None}, {"prompt": "x", "recording": "y"}])
def test_a_plan_needs_exactly_one_stimulus(plan):
    with pytest.raises(BadRequest, match="plan"):
        Lesson().say(OpenRound(RoundPlan(**plan)))


def test_felt_times_are_kept_by_lane():
    lesson = Lesson(num_phones=4)
    id = lesson.open()
    lesson.play()
    lesson.go("vote")
    for number in (1, 2, 3, 4):
        first_is_a = lesson.room.card_of(number).order == "ab"
        lesson.phone(number, Felt(id, *((1.0, 5.0) if first_is_a else (5.0, 1.0))))
        felt = lesson.room.card_of(number).felt
        assert felt and (felt.a, felt.b) == (1.0, 5.0)


def test_frozen_means_nobody_but_the_teacher_can_say_anything():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.say(Hold(freeze=True))
    with pytest.raises(BadRequest, match="holds the room"):
        lesson.vote(1, "a", "predict")
    lesson.phone(1, Leave())
    assert lesson.did == [Expel(1, "left")]


def test_hold_changes_only_what_it_names():
    lesson = Lesson()
    lesson.say(Hold(blank=True))
    lesson.say(Hold(hide_count=True, freeze=False))
    room = lesson.room
    assert (room.blank, room.hide_count, room.frozen, room.hands_only) == (True, True, False, False)


def test_kicked_takes_the_open_votes_along_and_may_join_again():
    lesson = Lesson(num_phones=2)
    lesson.open()
    lesson.vote(1, "a", "predict")
    lesson.say(Kick(1))
    assert lesson.did == [Expel(1, "kicked")]
    assert lesson.room.round and 1 not in lesson.room.round.cards
    with pytest.raises(NotFound, match="join again"):
        lesson.vote(1, "a", "predict")
    lesson.join(3)
    assert set(lesson.room.participants) == {2, 3}


def test_a_nickname_is_shown_after_approval_only_and_another_one_needs_another():
    lesson = Lesson(num_phones=1)
    lesson.phone(1, Nickname())
    lesson.say(Approve(None))
    assert lesson.room.participants[1].approved
    lesson.phone(1, Nickname())
    assert not lesson.room.participants[1].approved
    lesson.phone(1, Nickname(wanted=False))
    lesson.say(Approve(1))
    assert not lesson.room.participants[1].approved
    for _ in range(18):
        lesson.phone(1, Nickname())
    with pytest.raises(BadRequest, match="20 nicknames"):
        lesson.phone(1, Nickname())


def test_a_sending_waits_in_the_order_in_which_people_joined():
    lesson = Lesson(num_phones=3)
    lesson.say(OpenSending(SendingPlan("one_at_a_time")))
    with pytest.raises(BadRequest, match="nobody"):
        lesson.go("sending")
    lesson.phone(3, Ask(" Why? "))
    lesson.phone(1, Ask("What?"))
    lesson.go("sending")
    assert lesson.did == [Send()]
    sending = lesson.room.sending
    assert sending and sending.line == (1, 3) and sending.prompt_of(3) == "Why?"
    with pytest.raises(BadRequest, match="not collected"):
        lesson.phone(2, Ask("Late"))
    lesson.go("results")
    assert lesson.did == [StopSending()]


def test_a_measurement_is_of_the_own_reply_and_counts_once():
    lesson = Lesson(num_phones=2)
    lesson.say(OpenSending(SendingPlan(prompt="Count.")))
    lesson.go("sending")
    lesson.notice(SendingBegan(5.0))
    lesson.notice(Sent(1, "mine"))
    lesson.notice(FirstToken(1, 30.0))
    with pytest.raises(BadRequest, match="not yours"):
        lesson.phone(2, Measured("mine", 10.0))
    lesson.phone(1, Measured("mine", 50.0))
    lesson.phone(1, Measured("mine", 10.0))
    assert lesson.room.sending and lesson.room.sending.distribution() == [(50.0, 30.0)]


def test_in_own_time_each_phone_has_one_answer_in_flight_and_the_last_one_counts():
    lesson = Lesson(num_phones=2)
    lesson.say(OpenSending(SendingPlan("own_time", prompt="Count.")))
    lesson.go("sending")
    for round, (first_ms, server_ms) in enumerate(((50.0, 30.0), (60.0, 20.0))):
        lesson.phone(1, SendOwn())
        assert lesson.did == [SendOne(1)]
        with pytest.raises(BadRequest, match="not over yet"):
            lesson.phone(1, SendOwn())
        lesson.phone(2, SendOwn())
        lesson.notice(Sent(1, f"r{round}"))
        lesson.notice(FirstToken(1, server_ms))
        with pytest.raises(BadRequest, match="not yours"):
            lesson.phone(1, Measured("of another time", 1.0))
        lesson.phone(1, Measured(f"r{round}", first_ms))
        for number in (1, 2):
            lesson.notice(Answered(number))
    assert lesson.room.sending and lesson.room.sending.distribution() == [(60.0, 20.0)]
    assert not lesson.room.sending.running


def test_an_answer_that_the_results_cut_off_is_waited_for_by_nobody():
    lesson = Lesson(num_phones=1)
    lesson.say(OpenSending(SendingPlan("own_time", prompt="Count.")))
    lesson.go("sending")
    lesson.phone(1, SendOwn())
    lesson.go("results")
    assert lesson.did == [StopSending()] and lesson.room.sending and not lesson.room.sending.running


def test_an_engine_works_for_a_room_while_its_stimulus_is_made_and_while_everybody_sends():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.go("watch")
    lesson.notice(StimulusBegan("s", 0.0))
    assert lesson.room.busy
    lesson.notice(StimulusOver("s"))
    assert lesson.room.phase == "watch" and not lesson.room.busy
    lesson.go("vote", "reveal")
    lesson.say(OpenSending(SendingPlan(prompt="Count.")))
    assert not lesson.room.busy
    lesson.go("sending")
    assert lesson.room.busy
    lesson.go("results")
    assert not lesson.room.busy


@pytest.mark.parametrize("mode", ["batched", "one_at_a_time"])
def test_who_sends_together_does_not_send_alone(mode):
    lesson = Lesson(num_phones=1)
    lesson.say(OpenSending(SendingPlan(mode, prompt="Count.")))
    lesson.go("sending")
    with pytest.raises(BadRequest, match="own time"):
        lesson.phone(1, SendOwn())


def test_after_a_restart_nobody_waits_for_an_answer_of_their_own_that_is_lost():
    lesson = Lesson(num_phones=1)
    lesson.say(OpenSending(SendingPlan("own_time", prompt="Count.")))
    lesson.go("sending")
    lesson.phone(1, SendOwn())
    lesson.notice(Restored())
    assert lesson.room.sending and "started again" in lesson.room.sending.failures[1]
    lesson.phone(1, SendOwn())
    assert lesson.did == [SendOne(1)] and not lesson.room.sending.failures


def test_only_a_prompt_that_is_there_can_be_in_the_spotlight():
    lesson = Lesson(num_phones=2)
    lesson.say(OpenSending(SendingPlan()))
    lesson.phone(1, Ask("Why?"))
    lesson.say(Spotlight(1))
    assert lesson.room.spotlight == 1
    with pytest.raises(BadRequest, match="no prompt"):
        lesson.say(Spotlight(2))
    lesson.say(Kick(1))
    assert lesson.room.spotlight is None


def test_hands_are_counted_with_a_vote_only():
    lesson = Lesson()
    lesson.open(mirror=False)
    with pytest.raises(BadRequest, match="voted on"):
        lesson.say(Tally(1, 2, 3))
    lesson.go("watch", "vote")
    lesson.say(Tally(11, 4, 2))
    lesson.go("reveal", "idle")
    assert lesson.room.rounds[0].hands is not None


def test_a_closed_room_hears_nobody_but_can_still_be_deleted():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.say(CloseRoom())
    assert lesson.did == [StopPlaying(), StopSending()] and lesson.room.phase == "idle"
    with pytest.raises(NotFound, match="closed"):
        lesson.phone(1, Nickname())
    with pytest.raises(NotFound, match="closed"):
        lesson.open()
    lesson.say(DeleteRoom())
    assert Erase() in lesson.did


def test_after_a_restart_nobody_is_there_and_what_played_is_lost():
    lesson = Lesson(num_phones=2)
    lesson.open()
    lesson.go("watch")
    lesson.notice(StimulusBegan("s", 0.0))
    stored = msgspec.json.decode(msgspec.json.encode(lesson.room), type=type(lesson.room))
    room, _ = decide(stored, Restored(), SYSTEM)
    assert room.online() == () and not room.host_online
    assert room.round and room.round.stimulus and room.round.stimulus.state == "lost"
    assert room.round.watchers == {1, 2}


def test_notices_about_what_is_over_change_nothing():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.play("second")
    before = lesson.room
    for late in (
        FirstText("first", "a", 1.0),
        StimulusOver("first", "boom"),
        Sent(1, "r"),
        FirstToken(1, 1.0),
    ):
        lesson.notice(late)
    assert lesson.room == before
