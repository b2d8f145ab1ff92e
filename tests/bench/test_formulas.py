"""The formulas, against numbers worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import formulas
from bench.dialects import Stream

MS = 1_000_000


def stream(began_ms: int, *arrivals_ms: int, tokens: int | None = None, error: str | None = None) -> Stream:
    arrivals = tuple(at * MS for at in arrivals_ms)
    ended = arrivals[-1] if arrivals else began_ms * MS
    return Stream(began_ms * MS, ended, arrivals, tokens or len(arrivals), error=error)


def test_a_percentile_lies_on_the_line_between_its_neighbours():
    assert formulas.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert formulas.percentile([0.0, 10.0], 0.95) == pytest.approx(9.5)
    assert formulas.percentile([7.0], 0.99) == 7.0
    assert formulas.percentile([], 0.5) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_between_the_least_and_the_most(values, share):
    found = formulas.percentile(values, share)
    assert found is not None and min(values) <= found + 1e-6 and found - 1e-6 <= max(values)


def test_a_cell_pools_gaps_and_counts_from_the_first_start_to_the_last_end():
    cell = formulas.cell("short", 2, [stream(0, 100, 110, 130), stream(50, 90, 140, 1050, tokens=6)])
    assert (cell.ttft_p50_ms, cell.requests, cell.ok) == (70.0, 2, 2)
    assert cell.gap_p50_ms == 35.0  # of 10, 20, 50, 910
    assert cell.tokens_per_s == pytest.approx(9 / 1.05)
    assert cell.tokens_per_piece == 1.5


def test_a_failed_answer_is_a_request_and_no_measurement():
    cell = formulas.cell("long", 2, [stream(0, 10, 20), stream(0, error="HTTP 503")])
    assert (cell.requests, cell.ok, cell.error, cell.ttft_p50_ms) == (2, 1, "HTTP 503", 10.0)


def test_a_cell_in_which_all_failed_has_no_numbers():
    cell = formulas.cell("long", 1, [stream(0, error="refused")])
    assert (cell.ok, cell.tokens_per_s, cell.gap_p99_ms, cell.tokens_per_piece) == (0, None, None, None)


def test_only_gaps_that_touch_the_newcomers_span_can_be_the_longest():
    # Gaps 10, 10, 500 (before), 10, 60 (across the arrival), 10.
    other = stream(0, 0, 10, 20, 520, 530, 590, 600)
    assert formulas.longest_over_median([other], 550 * MS, 560 * MS) == 6.0
    assert formulas.longest_over_median([other], 700 * MS, 800 * MS) is None


def test_delivery_is_bounded_from_both_sides_of_the_servers_unknown_origin():
    # Sent at 1000 ms, received at 1002; tokens made at t = 10 and 20, seen 3 and 1 ms later.
    delays, doubt = formulas.delivery_ms(1000 * MS, [(1015 * MS, 10.0), (1023 * MS, 20.0)])
    assert delays == [5.0, 3.0]  # never less than the true 3 and 1
    assert doubt == 3.0  # the latest origin there can be is 1003
    assert formulas.delivery_ms(0, []) == ([], 0.0)


def test_a_ratio_without_either_side_is_none():
    assert formulas.ratio(3.0, 2.0) == 1.5
    assert formulas.ratio(None, 2.0) is formulas.ratio(1.0, None) is formulas.ratio(1.0, 0.0) is None


def test_bounds_of_a_median_are_those_of_the_sign_test():
    # 2 * P(Binomial(6, 1/2) < 1) = 2/64 = 0.031, and of 5 values not even the outermost are enough.
    assert formulas.median_bounds([6, 1, 5, 2, 4, 3]) == (1, 6)
    assert formulas.median_bounds([1, 2, 3, 4, 5]) is None
    # 2 * P(Binomial(20, 1/2) < 6) = 0.041.
    assert formulas.median_bounds(range(1, 21)) == (6, 15)
    assert formulas.median_bounds([]) is None


@given(st.lists(st.floats(0, 10), min_size=6, max_size=60))
def test_a_median_lies_within_its_bounds(values):
    bounds = formulas.median_bounds(values)
    middle = formulas.percentile(values, 0.5)
    assert bounds is not None and middle is not None and bounds[0] <= middle <= bounds[1]
