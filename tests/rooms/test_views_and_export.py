"""What each role is shown, and what is taken away in a file."""

from __future__ import annotations

import csv
import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rooms.commands import Approve, Ask, Hold, Measured, Nickname, OpenSending, Spotlight, Tally
from app.rooms.export import harmless, to_csv, to_json
from app.rooms.notices import SendingBegan, Sent
from app.rooms.plan import SendingPlan
from app.rooms.views import host_view, phone_view, private_view, wall_view
from tests.rooms.lesson import Lesson


def revealed(**plan) -> Lesson:
    lesson = Lesson(num_phones=3)
    lesson.open(**plan)
    lesson.vote(1, "a", "predict")
    lesson.play()
    for number in (1, 2, 3):
        lesson.see(number)
    lesson.go("vote")
    for number in (1, 2):
        lesson.vote(number, "1")
    lesson.go("reveal")
    return lesson


def test_a_catch_round_looks_like_any_other_until_it_is_revealed():
    lesson = Lesson(num_phones=1)
    lesson.open(catch=True)
    for view in (phone_view(lesson.room), wall_view(lesson.room)):
        assert "catch" not in view["round"] and view["round"]["lanes"] is None
    lesson.play()
    lesson.go("vote", "reveal")
    assert phone_view(lesson.room)["round"]["catch"] is True
    assert phone_view(lesson.room)["round"]["lanes"] is not None


def test_the_reveal_shows_predictions_results_and_the_class_with_the_servers_share():
    view = wall_view(revealed().room)["round"]
    assert view["predicted"] == {"a": 1, "b": 0, "same": 0}
    assert view["results"].ballots == 2
    assert view["first_word_ms"]["a"] == {"server_ms": 100.0, "phones_ms": [110.0, 110.0, 110.0]}


def test_hands_are_shown_with_their_own_interval_in_the_walls_order():
    lesson = revealed(flip=True, mirror=False)
    lesson.say(Tally(15, 5, 1))
    found = wall_view(lesson.room)["round"]["hands_results"]
    assert found.lanes == {"a": 5, "b": 15, "same": 1} and found.verdict == "difference"


def test_several_rounds_in_one_lesson_are_corrected_for_being_several():
    lesson = Lesson(num_phones=24)
    for wins in (20, 19):
        lesson.open(mirror=False)
        lesson.play()
        lesson.go("vote")
        for number in range(1, 25):
            lesson.vote(number, "1" if number <= wins else "2")
        lesson.go("reveal", "idle")
    strong, weak = host_view(lesson.room)["rounds"]
    assert strong["p"] < weak["p"] < 0.05
    assert strong["p_holm"] == pytest.approx(2 * strong["p"]) and weak["p_holm"] == pytest.approx(weak["p"])


def test_two_showings_in_both_orders_count_who_chose_the_same_lane_twice():
    lesson = Lesson(num_phones=6)
    # By position: 1 and 2 stay with lane a, 3 with lane b, 4 follows the position, 5 cannot tell once.
    votes = {False: "11211", True: "2211s"}
    for flip in (False, True):
        lesson.open(mirror=False, flip=flip)
        lesson.play()
        lesson.go("vote")
        for number, choice in enumerate(votes[flip], 1):
            lesson.vote(number, "same" if choice == "s" else choice)
        lesson.go("reveal")
        found = wall_view(lesson.room)["round"]["both_ways_results"]
        assert (found is None) == (not flip)
    assert found.lanes == {"a": 2, "b": 1, "same": 2}
    assert not any("one order" in caveat for caveat in found.caveats)


def test_votes_do_not_change_what_phones_share():
    """Or five hundred votes would be a quarter of a million frames."""
    lesson = Lesson(num_phones=3)
    lesson.open()
    before = phone_view(lesson.room)
    lesson.vote(1, "a", "predict")
    lesson.join(4)
    assert phone_view(lesson.room) == before
    # How many they are they learn now and then: by it they stand in line when the server was away.
    lesson.join(5)
    assert phone_view(lesson.room) == before | {"class_size": 8}


def test_the_head_count_can_be_hidden_from_the_wall():
    lesson = Lesson(num_phones=2)
    lesson.say(Hold(hide_count=True))
    assert wall_view(lesson.room)["count"] is None and host_view(lesson.room)["count"] == 2


def test_a_nickname_stands_in_the_spotlight_after_approval_only():
    lesson = Lesson(num_phones=1)
    lesson.phone(1, Nickname())
    lesson.say(OpenSending(SendingPlan()))
    lesson.phone(1, Ask("<b>Why?</b>"))
    lesson.say(Spotlight(1))
    name = lesson.room.participants[1].nickname
    assert phone_view(lesson.room)["spotlight"] == {"number": 1, "nickname": "", "text": "<b>Why?</b>"}
    lesson.say(Approve(1))
    assert phone_view(lesson.room)["spotlight"]["nickname"] == name


def test_prompts_of_others_are_for_the_teacher_only():
    lesson = Lesson(num_phones=2)
    lesson.say(OpenSending(SendingPlan()))
    lesson.phone(1, Ask("my secret question"))
    assert host_view(lesson.room)["sending"]["prompts"] == {1: "my secret question"}
    others = [phone_view(lesson.room), wall_view(lesson.room), private_view(lesson.room, 2)]
    assert b"secret" not in msgspec.json.encode(others)


def test_the_csv_has_a_row_for_each_participant_and_round_and_the_json_says_the_same():
    lesson = revealed()
    rows = list(csv.DictReader(io.StringIO(to_csv(lesson.room))))
    assert [row["participant"] for row in rows] == ["1", "2", "3"]
    assert [row["predict"] for row in rows] == ["a", "", ""]
    assert [row["vote_position"] for row in rows] == ["1", "1", ""]
    assert rows[0]["painted_a_ms"] == "110.0" and rows[0]["watched"] == "yes"
    data = json.loads(to_json(lesson.room))
    cards = data["rounds"][0]["cards"]
    assert [cards[row["participant"]].get("vote", "") for row in rows] == ["1", "1", ""]


def test_measurements_are_exported_too():
    lesson = Lesson(num_phones=1)
    lesson.say(OpenSending(SendingPlan(prompt="=1+1")))
    lesson.go("sending")
    lesson.notice(SendingBegan(1.0))
    lesson.notice(Sent(1, "r"))
    lesson.phone(1, Measured("r", 640.0))
    (row,) = csv.DictReader(io.StringIO(to_csv(lesson.room)))
    assert (row["kind"], row["mode"], row["first_word_ms"], row["prompt"]) == (
        "sending",
        "batched",
        "640.0",
        "'=1+1",
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\0=", "＝"])
def test_no_cell_begins_like_a_formula(start):
    assert harmless(start + "1+1").startswith("'")


@given(st.text(max_size=60))
def test_any_prompt_comes_back_from_the_csv_as_text(prompt):
    lesson = Lesson(num_phones=1)
    if not prompt.strip():
        return
    lesson.open(prompt=prompt)
    lesson.play()
    rows = list(csv.reader(io.StringIO(to_csv(lesson.room), newline="")))
    assert len(rows) == 2
    cell = rows[1][rows[0].index("prompt")]
    assert cell.removeprefix("'") == prompt.replace("\0", "").removeprefix("'") and cell[:1] not in set(
        "=+-@\t\r\n"
    )
