"""The strip in characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.timeline.arrivals import Arrival
from app.timeline.terminal_strip import axis_for, draw_strip
from tests.timeline.test_numbers import timelines


def test_a_streamed_reply_waits_shortly_and_then_ticks_until_its_end() -> None:
    arrivals = [Arrival(500, 1, 1), Arrival(1000, 1, 1), Arrival(1500, 12, 10)]
    assert draw_strip(arrivals, end_ms=1900, width=21, axis_ms=2000).split("\n") == [
        "░░░░░▄    ▄    ▆    │",
        "     ╌╌╌╌╌╌╌╌╌╌╌╌╌╌→",
        "0 s       1 s",
    ]


def test_one_that_came_at_once_is_hatched_up_to_a_single_tall_tick() -> None:
    top = draw_strip([Arrival(2000, 90, 64)], end_ms=2000, width=20).split("\n")[0]
    assert top == "░" * 18 + "█│"


def test_what_has_not_come_yet_is_hatched_as_far_as_it_has_gone() -> None:
    lines = draw_strip([], end_ms=None, width=40).split("\n")
    assert lines == ["░", "", "0 s            0.2 s           0.4 s"]
    assert draw_strip([], end_ms=1000, width=20, axis_ms=2000).split("\n")[0].startswith("░" * 9)


def test_two_strips_on_one_axis_can_be_compared() -> None:
    axis = axis_for(1200, 4000)
    early = draw_strip([Arrival(1200, 1, 1)], end_ms=None, axis_ms=axis, width=41)
    late = draw_strip([Arrival(4000, 1, 1)], end_ms=None, axis_ms=axis, width=41)
    assert early.split("\n")[0].count("░") == 12 and late.split("\n")[0].count("░") == 39
    assert early.split("\n")[2] == late.split("\n")[2]


@given(timelines(), st.integers(20, 200), st.booleans())
def test_no_line_is_wider_than_asked_for_and_every_arrival_is_seen(
    arrivals: list[Arrival], width: int, ended: bool
) -> None:
    end_ms = arrivals[-1].at_ms if arrivals and ended else None
    lines = draw_strip(arrivals, end_ms=end_ms, width=width).split("\n")
    assert len(lines) == 3 and all(len(line) <= width for line in lines)
    ticks = sum(char in "▁▂▃▄▅▆▇█" for char in lines[0])
    assert (ticks > 0) == bool(arrivals) and ticks <= max(1, len({a.at_ms for a in arrivals}))
    assert (lines[0].endswith("│")) == (end_ms is not None)
