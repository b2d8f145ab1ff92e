"""The teacher's hand on time: a stimulus that is frozen, stepped and slowed, a vote with a stopping rule."""

from __future__ import annotations

import pytest

from app.errors import BadRequest
from app.rooms.commands import Hold, Kick, Measured, MoreTime, OpenSending, Speed, Step
from app.rooms.notices import Restored, Steered, StimulusBegan, VoteCloses, VoteDue
from app.rooms.plan import SendingPlan
from app.rooms.playhead import Playhead
from app.rooms.state import CloseIn, Steer, StepOn, StopPlaying
from tests.rooms.lesson import Lesson


def playing(**plan: object) -> Lesson:
    lesson = Lesson(num_phones=10)
    lesson.open(mirror=False, **plan)
    lesson.go("watch")
    lesson.notice(StimulusBegan("s", 0.0))
    return lesson


def voting(**plan: object) -> Lesson:
    lesson = playing(**plan)
    lesson.go("vote")
    return lesson


def phase_of(lesson: Lesson) -> str:
    return lesson.room.phase


def results_of(lesson: Lesson):
    assert lesson.room.round is not None and lesson.room.round.results is not None
    return lesson.room.round.results


def test_freezing_a_room_stops_what_plays_in_it_and_letting_go_goes_on():
    lesson = playing()
    lesson.say(Hold(freeze=True))
    assert lesson.did == [Steer()] and lesson.room.speed == 0
    lesson.say(Step())
    assert lesson.did == [StepOn()]
    lesson.say(Hold(freeze=True))
    assert lesson.did == [], "it stands already"
    lesson.say(Hold(freeze=False))
    assert lesson.did == [Steer()] and lesson.room.speed == 1


def test_only_what_stands_is_stepped_and_only_a_stimulus_has_a_speed():
    lesson = Lesson(num_phones=1)
    for command in (Step(), Speed(0.5)):
        with pytest.raises(BadRequest):
            lesson.say(command)
    lesson = playing()
    with pytest.raises(BadRequest, match="freeze the room first"):
        lesson.say(Step())


def test_a_speed_that_is_chosen_beforehand_holds_for_every_playing_of_the_round():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.say(Speed(0.25))
    assert lesson.did == [] and lesson.room.speed == 0.25
    lesson.go("watch")
    lesson.say(Speed(0.5))
    assert lesson.did == [Steer()] and lesson.room.speed == 0.5
    lesson.go("watch")
    assert lesson.room.speed == 0.5
    lesson.go("idle")
    lesson.open()
    assert lesson.room.speed == 1


def test_a_stimulus_that_was_touched_says_so_in_its_results():
    for touch in (Steered("s", Playhead(50.0, 50.0, 0.0)), StimulusBegan("s", 0.0, 0.5)):
        lesson = playing()
        lesson.notice(touch)
        lesson.go("vote", "reveal")
        assert results_of(lesson).altered and any("slowed" in said for said in results_of(lesson).caveats)
    untouched = voting()
    untouched.go("reveal")
    assert not results_of(untouched).altered


def test_what_phones_see_and_measure_is_heard_in_a_frozen_room():
    lesson = Lesson(num_phones=1)
    lesson.open()
    lesson.go("watch")
    lesson.notice(StimulusBegan("s", 0.0))
    lesson.say(Hold(freeze=True))
    lesson.see(1)
    assert lesson.room.round and lesson.room.round.cards[1].sight is not None
    lesson.say(Hold(freeze=False))
    lesson.go("idle")
    lesson.say(OpenSending(SendingPlan(prompt="Count.")))
    lesson.go("sending")
    lesson.say(Hold(freeze=True))
    with pytest.raises(BadRequest, match="not yours"):
        lesson.phone(1, Measured("r", 1.0))


def test_a_vote_by_hand_has_no_clock_and_is_never_early():
    lesson = voting()
    assert lesson.did == [StopPlaying()]
    for number in range(1, 11):
        lesson.vote(number, "1")
        assert lesson.did == []
    with pytest.raises(BadRequest, match="about to close"):
        lesson.say(MoreTime())
    lesson.go("reveal")
    assert not results_of(lesson).early


def test_a_vote_by_the_clock_closes_at_its_moment_and_not_before():
    lesson = voting(closes="clock", close_s=60)
    assert lesson.did == [StopPlaying(), CloseIn(60)]
    assert lesson.room.round
    id = lesson.room.round.id
    lesson.notice(VoteCloses(id, 70_000.0))
    lesson.vote(1, "1")
    lesson.say(MoreTime())
    assert lesson.did == [CloseIn(20.0, later=True)]
    lesson.notice(VoteCloses(id, 90_000.0))
    lesson.notice(VoteDue(id, 70_000.0))
    assert phase_of(lesson) == "vote", "more time was given"
    lesson.notice(VoteDue(id, 90_000.0))
    assert phase_of(lesson) == "reveal" and results_of(lesson).ballots == 1
    assert not results_of(lesson).early
    lesson.go("discuss", "vote")
    assert lesson.did == [CloseIn(60)], "and so for the vote after the talk"


def test_a_vote_that_is_closed_before_its_clock_says_so():
    lesson = voting(closes="clock")
    lesson.go("reveal")
    assert results_of(lesson).early and any("before the rule" in said for said in results_of(lesson).caveats)


def test_nine_of_ten_connected_phones_close_a_vote_a_moment_later():
    lesson = voting(closes="nine_of_ten")
    assert lesson.did == [StopPlaying()]
    for number in range(1, 9):
        lesson.vote(number, "1")
        assert lesson.did == []
    lesson.vote(9, "2")
    assert lesson.did == [CloseIn(5.0)]
    assert lesson.room.round
    lesson.notice(VoteCloses(lesson.room.round.id, 5000.0))
    lesson.vote(9, "1")
    assert lesson.did == [], "who changes a vote does not start the clock anew"
    lesson.notice(VoteDue(lesson.room.round.id, 5000.0))
    assert lesson.room.phase == "reveal" and results_of(lesson).lanes["a"] == 9
    assert not results_of(lesson).early


def test_by_hand_a_vote_by_nine_of_ten_is_early_until_they_have_voted():
    for votes, early in ((8, True), (9, False)):
        lesson = voting(closes="nine_of_ten")
        for number in range(1, votes + 1):
            lesson.vote(number, "1")
        lesson.go("reveal")
        assert results_of(lesson).early == early


def test_who_is_gone_is_not_waited_for():
    lesson = voting(closes="nine_of_ten")
    lesson.say(Kick(10))
    for number in range(1, 9):
        lesson.vote(number, "1")
    assert lesson.did == []
    lesson.vote(9, "1")
    assert lesson.did == [CloseIn(5.0)]


def test_the_clock_of_a_server_that_was_killed_closes_nothing():
    lesson = voting(closes="clock")
    assert lesson.room.round
    lesson.notice(VoteCloses(lesson.room.round.id, 70_000.0))
    lesson.notice(Restored())
    lesson.notice(VoteDue(lesson.room.round.id, 70_000.0))
    assert lesson.room.phase == "vote"
