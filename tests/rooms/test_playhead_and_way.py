"""Where everybody looks, and when a lane's pieces are due: what a teacher's hand and a network do to them."""

from __future__ import annotations

from math import inf

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events import Delta, Done, Timings, Usage
from app.reply.link import Link
from app.rooms.plan import LanePlan
from app.rooms.playhead import Playhead
from app.rooms.way import Way

SPEEDS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
DONE = Done("r", 5, "stop", Usage(1, 4, 5, 0), Timings(None, None, None, None, 0.0, 400.0), 400.0)


def way_of(plan: LanePlan, times_ms: list[float]) -> tuple[list[float], str]:
    """(when each piece of a reply is due, its text in that order)."""
    way, dues = Way(plan), []
    for number, t_ms in enumerate(times_ms):
        dues += way.take(Delta("r", number + 1, f"{number} ", 1, t_ms), t_ms)
    dues += way.take(DONE, times_ms[-1] if times_ms else 0.0)
    return [at_ms for at_ms, _ in dues], "".join(p.text for _, p in dues if isinstance(p, Delta))


@given(st.lists(st.tuples(st.floats(0, 1000), SPEEDS), max_size=8))
def test_the_playhead_never_goes_back_and_never_runs_ahead_of_the_clock(turns):
    playhead, now_ms, before_ms = Playhead(), 0.0, 0.0
    for passed_ms, speed in turns:
        now_ms += passed_ms
        position_ms = playhead.position_ms(now_ms)
        assert before_ms - 0.01 <= position_ms <= now_ms + 0.01
        before_ms, playhead = position_ms, playhead.turned(speed, now_ms)
        assert playhead.position_ms(now_ms) == pytest.approx(position_ms, abs=0.01)


@given(st.floats(0, 10_000), st.floats(0, 10_000), SPEEDS)
def test_after_the_wait_it_is_there(due_ms, now_ms, speed):
    playhead = Playhead(speed=speed)
    wait_ms = playhead.wait_ms(due_ms, now_ms)
    if wait_ms == inf:
        assert speed == 0 and playhead.position_ms(now_ms) < due_ms
    else:
        assert playhead.position_ms(now_ms + wait_ms) >= due_ms - 0.01


def test_a_step_of_a_playhead_that_stands_goes_to_the_moment_and_stands_there():
    stepped = Playhead(100.0, 500.0, 0.0).put(140.0, 900.0)
    assert stepped == Playhead(140.0, 900.0, 0.0) and stepped.position_ms(5000.0) == 140.0
    assert stepped.put(120.0, 950.0).at_ms == 140.0


def test_a_plain_lane_is_due_when_it_is_made_and_a_delayed_one_so_much_later():
    assert way_of(LanePlan(), [10.0, 20.0]) == ([10.0, 20.0, 20.0], "0 1 ")
    assert way_of(LanePlan(delay_ms=1500), [10.0, 20.0])[0] == [1510.0, 1520.0, 1520.0]


def test_a_polled_lane_comes_at_the_ticks_of_its_poller():
    assert way_of(LanePlan(every_ms=500), [10.0, 480.0, 510.0, 1500.0])[0] == [500, 500, 1000, 1500, 1500]


def test_a_buffering_proxy_lets_go_of_everything_at_once_when_its_time_is_over():
    plan = LanePlan(link=Link(flush_bytes=2048, flush_ms=300))
    dues, text = way_of(plan, [100.0, 200.0, 399.0, 450.0])
    assert dues == [400.0, 400.0, 400.0, 450.0, 450.0] and text == "0 1 2 3 "
    way = Way(plan)
    assert way.take(Delta("r", 1, "x", 1, 100.0), 100.0) == [] and way.flush_at_ms == 400.0
    assert way.flush(399.0) == [] and [at_ms for at_ms, _ in way.flush(400.0)] == [400.0]


@given(
    st.lists(st.floats(0, 200), max_size=20),
    st.builds(
        LanePlan,
        delay_ms=st.sampled_from([0.0, 700.0]),
        every_ms=st.sampled_from([0.0, 250.0]),
        link=st.none()
        | st.builds(
            Link, latency_ms=st.floats(0, 300), jitter_ms=st.floats(0, 100), kbps=st.just(400.0),
            loss_percent=st.floats(0, 20), flush_bytes=st.none() | st.just(512), seed=st.integers(0, 9),
        ),
    ),
)  # fmt: skip
def test_whatever_the_way_nothing_is_lost_or_overtaken_or_early(gaps_ms, plan):
    times_ms = [sum(gaps_ms[: i + 1]) for i in range(len(gaps_ms))]
    dues, text = way_of(plan, times_ms)
    assert text == "".join(f"{number} " for number in range(len(times_ms)))
    assert dues == sorted(dues)
    # Ticks are reckoned in floats: what is made a hair's breadth behind one may still be on it.
    assert all(at >= t - 1e-9 for at, t in zip(dues, times_ms, strict=False))


@pytest.mark.parametrize(
    "lane", [{"link": {"kbps": 0}}, {"every_ms": -1}, {"link": {"flush_bytes": 70_000}}, {"link": {"mtu": 1}}]
)
def test_a_network_has_the_limits_that_it_has_on_every_wire(lane):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(lane, LanePlan)
