import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reply.credit import Credit

MARKS = [(1, 0), (2, 0), (2, 1), (3, 1), (7, 2), (64, 16)]


def run_dry(credit: Credit) -> None:
    """The generation makes all it may, one token after the other."""
    while credit.made < credit.granted:
        credit.make(1)


@pytest.mark.parametrize(("high", "low"), [*MARKS[:-1], (16, 4)])
def test_every_state_keeps_the_bound_and_can_go_on(high, low):
    # All (made, read, granted) that can be reached, each of them visited once.
    seen: set[tuple[int, int, int]] = set()
    todo = [(0, 0, high)]
    most = 3 * high + 3
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        made, read, granted = state
        assert made - read <= high
        if made == read:
            assert granted > made, "the reader has all there is, and nothing more may be made"
        if made < min(granted, most):
            todo.append((made + 1, read, granted))
        for step in range(1, made - read + 1):
            credit = at(high, low, made, read, granted)
            credit.advance(read + step)
            todo.append((made, read + step, credit.granted))
    assert len(seen) > high


def at(high: int, low: int, made: int, read: int, granted: int) -> Credit:
    credit = Credit(high, low)
    credit.make(made)
    credit.read = read
    credit.granted = granted
    return credit


@pytest.mark.parametrize(("high", "low"), MARKS)
def test_a_stopped_generation_waits_until_the_low_mark(high, low):
    credit = Credit(high, low)
    run_dry(credit)
    assert credit.stopped and credit.unread == high
    for read in range(1, high - low):
        assert credit.advance(read) is None
    assert credit.advance(high - low) == 2 * high - low
    assert not credit.stopped


def test_a_reader_that_keeps_up_costs_few_grants():
    credit = Credit(64, 16)
    grants = []
    for read in range(1, 641):
        credit.make(1)
        grants.append(credit.advance(read))
        assert not credit.stopped
    assert 70 <= sum(grant is not None for grant in grants) <= 80


def test_a_grant_is_never_taken_back_by_reading():
    credit = Credit(8, 2)
    credit.make(5)
    assert credit.advance(5) == 13
    assert credit.advance(3) is None
    assert (credit.read, credit.granted) == (5, 13)


@given(st.sampled_from(MARKS), st.integers(0, 200), st.booleans())
def test_tokens_without_text_do_not_stop_it_for_good(marks, told, says):
    high, low = marks
    credit = Credit(high, low)
    told = min(told, high)
    credit.make(told)
    # It stops at its grant, and part of what it made has no text to read.
    credit.stop(credit.granted if says else 0)
    grant = credit.advance(told)
    assert grant is not None and grant > high


def test_one_held_below_the_high_mark_goes_on_within_the_low_one():
    credit = Credit(8, 2)
    credit.make(5)
    assert credit.hold() == 5 and credit.stopped
    assert credit.advance(2) is None
    assert credit.advance(3) == 11
    assert not credit.stopped


def test_an_overshoot_is_counted_when_it_is_told():
    credit = Credit(8, 2)
    credit.make(6)
    credit.stop(11)
    assert credit.advance(6) == 6 + 5 + 8


@given(st.sampled_from(MARKS), st.integers(0, 64), st.integers(0, 500))
def test_a_reader_that_returns_is_waited_for_again(marks, read, ran_on):
    high, low = marks
    credit = Credit(high, low)
    credit.make(min(read, high))
    credit.advance(min(read, high))
    credit.lift(1024)
    credit.make(ran_on)
    assert credit.restore() == credit.made + high
    run_dry(credit)
    assert credit.stopped
    assert credit.advance(credit.made - low) == credit.made - low + high
