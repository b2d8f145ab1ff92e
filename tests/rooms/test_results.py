"""What a closed vote says: counts, exclusions, a sentence that claims no more than it may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rooms.ballot import Order, PositionChoice, lane_at, position_of
from app.rooms.results import Counted, Question, check_sight, results

QUESTION = Question(("Streamed", "All at once"))


def ballots(a: int, b: int, same: int = 0, order: Order = "ab") -> list[Counted]:
    """So many votes for each lane, from phones with this order."""
    first: PositionChoice = position_of(order, "a")
    second: PositionChoice = position_of(order, "b")
    tally: tuple[tuple[PositionChoice, int], ...] = ((first, a), (second, b), ("same", same))
    return [Counted(order, choice) for choice, number in tally for _ in range(number)]


def test_the_sentence_says_counts_interval_p_and_where_it_holds():
    found = results(QUESTION, ballots(15, 5, 3), 25)
    assert found.sentence == (
        "15 of 20 who decided chose “Streamed” (95 % interval 53 to 89 %; 3 could not tell); "
        "p = 0.041: a coin would rarely do this. This class, this reply, this network."
    )
    assert (found.verdict, found.leader, found.decided, found.could_vote) == ("difference", "a", 20, 25)


def test_below_twenty_decided_there_is_an_interval_and_no_verdict():
    found = results(QUESTION, ballots(19, 0), 19)
    assert found.verdict == "too_few"
    assert "no verdict" in found.sentence and "p " not in found.sentence
    assert any("Fewer than 20" in caveat for caveat in found.caveats)


def test_an_even_split_names_no_leader():
    found = results(QUESTION, ballots(10, 10), 20)
    assert (found.leader, found.verdict, found.p) == (None, "no_difference", 1.0)
    assert "exactly half" in found.sentence


def test_nobody_decided_is_said_as_it_is():
    assert results(QUESTION, ballots(0, 0, 4), 4).sentence.startswith("Nobody")


def test_a_catch_round_counts_positions():
    question = Question(("Streamed", "Streamed"), catch=True)
    found = results(question, [*ballots(12, 3), *ballots(3, 12, order="ba")], 30)
    assert (found.positions["1"], found.positions["2"], found.leader) == (24, 6, "1")
    assert "chose the first" in found.sentence and "position alone" in found.caveats[0]


def test_one_order_for_all_is_a_caveat():
    found = results(Question(("", ""), one_order=True), ballots(20, 5), 25)
    assert any("one order" in caveat for caveat in found.caveats) and "lane a" in found.sentence


def test_what_was_left_out_is_told_with_its_reasons():
    spoilt = [Counted("ab", "1", "hidden"), Counted("ab", "1", "off_plan"), Counted("ab", "1", "off_plan")]
    found = results(QUESTION, [*ballots(2, 1), *spoilt], 9)
    assert found.excluded == {"hidden": 1, "off_plan": 2, "no_report": 0}
    assert (found.lanes["a"], found.ballots) == (2, 6)
    assert any(caveat.startswith("3 left out") for caveat in found.caveats)


@pytest.mark.parametrize(
    ("painted", "hidden", "expected"),
    [
        (None, False, "no_report"),
        ({"a": 100.0, "b": 900.0}, True, "hidden"),
        ({"a": 100.0}, False, "off_plan"),
        ({"a": 350.0, "b": 900.0}, False, None),
        ({"a": 350.1, "b": 900.0}, False, "off_plan"),
        ({"a": 100.0, "b": 649.0}, False, "off_plan"),
    ],
)
def test_a_stimulus_counts_when_it_was_shown_as_planned(painted, hidden, expected):
    assert check_sight({"a": 100.0, "b": 900.0}, painted, hidden) == expected


@given(
    st.lists(
        st.builds(
            Counted,
            st.sampled_from(["ab", "ba"]),
            st.sampled_from(["1", "2", "same"]),
            st.sampled_from([None, None, "hidden", "off_plan"]),
            st.one_of(st.none(), st.tuples(st.floats(0, 60), st.floats(0, 60))),
        ),
        max_size=60,
    ),
    st.booleans(),
)
def test_every_ballot_is_counted_once_or_left_out_once(given_ballots, catch):
    found = results(Question(("x", "y"), catch=catch), given_ballots, 60)
    assert sum(found.lanes.values()) == sum(found.positions.values())
    assert sum(found.lanes.values()) + sum(found.excluded.values()) == found.ballots == len(given_ballots)
    assert found.leader_votes <= found.decided and 0 <= found.low <= found.high <= 1 and 0 < found.p <= 1
    good = [ballot for ballot in given_ballots if ballot.exclusion is None]
    assert found.lanes["a"] == sum(lane_at(b.order, b.choice) == "a" for b in good)
