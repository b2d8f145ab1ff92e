import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import RateLimited
from app.transports.allowance import Allowance

SECOND = 1_000_000_000


def takes(allowance: Allowance, now_ns: int) -> bool:
    """Whether a message was let through."""
    with contextlib.suppress(RateLimited):
        allowance.spend(now_ns)
        return True
    return False


def test_a_minutes_messages_may_come_at_once_and_then_one_by_one():
    allowance = Allowance(60)
    assert [takes(allowance, 0) for _ in range(61)] == [True] * 60 + [False]
    assert not takes(allowance, SECOND - 1)
    assert takes(allowance, SECOND + 1)
    assert not takes(allowance, SECOND + 2)


@given(st.lists(st.integers(0, 5 * SECOND), max_size=300), st.integers(1, 50))
def test_no_span_of_time_has_more_than_its_share(waits, per_minute):
    allowance, now_ns, taken = Allowance(per_minute), 0, 0
    for wait_ns in waits:
        now_ns += wait_ns
        taken += takes(allowance, now_ns)
    assert taken <= per_minute + now_ns * per_minute / (60 * SECOND) + 1e-6


def test_who_floods_on_after_ten_refusals_ignores_them_and_a_pause_forgives():
    allowance = Allowance(60)
    for _ in range(60):
        allowance.spend(0)
    for _ in range(10):
        with pytest.raises(RateLimited, match="more than 60 messages a minute"):
            allowance.spend(0)
    assert not allowance.ignored
    assert not takes(allowance, 0) and allowance.ignored
    allowance.spend(SECOND)
    assert not allowance.ignored
