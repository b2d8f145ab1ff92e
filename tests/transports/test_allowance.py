from hypothesis import given
from hypothesis import strategies as st

from app.transports.allowance import Allowance

SECOND = 1_000_000_000


def test_a_minutes_messages_may_come_at_once_and_then_one_by_one():
    allowance = Allowance(60)
    assert [allowance.take(0) for _ in range(61)] == [True] * 60 + [False]
    assert not allowance.take(SECOND - 1)
    assert allowance.take(SECOND + 1)
    assert not allowance.take(SECOND + 2)


@given(st.lists(st.integers(0, 5 * SECOND), max_size=300), st.integers(1, 50))
def test_no_span_of_time_has_more_than_its_share(waits, per_minute):
    allowance, now_ns, taken = Allowance(per_minute), 0, 0
    for wait_ns in waits:
        now_ns += wait_ns
        taken += allowance.take(now_ns)
    assert taken <= per_minute + now_ns * per_minute / (60 * SECOND) + 1e-6
