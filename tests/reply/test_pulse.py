from hypothesis import given
from hypothesis import strategies as st

from app.reply.pulse import STILL_S, Pulse

LOW = 4
SECOND = 1_000_000_000
STILL_NS = round(STILL_S * SECOND)


class Reader:
    """A pulse, and a reader that is told one token after another."""

    def __init__(self) -> None:
        self.pulse = Pulse(LOW)
        self.owed = 0
        self.now_ns = 5 * SECOND

    def told(self, tokens: int, every_ns: int) -> int:
        """Hear so many tokens; returns after how many of them it was found to be still (0: it was not)."""
        for n in range(1, tokens + 1):
            self.now_ns += every_ns
            self.pulse.owe(self.owed, self.now_ns)
            self.owed += 1
            if self.pulse.is_still(self.owed):
                return n
        return 0

    def reads(self, tokens: int) -> None:
        self.pulse.move(self.owed)
        self.owed -= tokens


@given(st.integers(1, 90))
def test_one_that_stops_is_found_after_the_limit_and_more_than_the_low_mark(every_ms):
    reader = Reader()
    reader.told(1, 0)
    reader.reads(1)
    found = reader.told(10_000, every_ms * 1_000_000)
    # Its time begins with the first token that it owes.
    assert found == max(LOW + 1, 1 - (-STILL_NS // (every_ms * 1_000_000)))


def test_at_twenty_tokens_a_second_the_marks_of_the_product_make_it_less_than_a_second():
    pulse = Pulse(16)
    pulse.owe(0, 0)
    pulse.move(1)
    owed = now_ns = 0
    while not pulse.is_still(owed):
        now_ns += SECOND // 20
        pulse.owe(owed, now_ns)
        owed += 1
    assert owed == 17 and now_ns < SECOND


def test_one_that_never_moved_has_no_usual_yet():
    assert Reader().told(10_000, SECOND // 10) == 0


@given(st.integers(1, 60), st.integers(1, 200), st.integers(1, 20))
def test_one_that_confirms_by_the_dozen_is_never_taken_for_a_sleeper(dozen, every_ms, times):
    reader = Reader()
    # Of its first dozen nothing is known.
    for _ in range(times):
        assert reader.told(dozen, every_ms * 1_000_000) == 0
        reader.reads(dozen)


@given(st.integers(1, 100), st.integers(1, 50))
def test_nor_is_a_far_one_whose_words_come_late(far, every_ms):
    reader = Reader()
    assert reader.told(far, every_ms * 1_000_000) == 0
    for _ in range(50):
        reader.reads(1)
        assert reader.told(1, every_ms * 1_000_000) == 0


def test_a_time_in_which_nothing_was_told_is_not_the_readers():
    reader = Reader()
    reader.told(1, 0)
    reader.reads(1)
    # Both come at once after ten seconds, because the engine, or we, were busy.
    reader.told(1, 10 * SECOND)
    assert reader.told(LOW, 0) == 0
    assert reader.told(1, 10 * SECOND) == 0


def test_any_movement_begins_it_anew():
    reader = Reader()
    reader.told(1, 0)
    reader.reads(1)
    reader.told(LOW, STILL_NS // LOW)
    reader.reads(1)
    assert reader.told(2, 1) == 0
