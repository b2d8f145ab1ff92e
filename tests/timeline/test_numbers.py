"""The metrics against hand-checked values, and what must hold for every timeline."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.timeline import gaps, quality
from app.timeline.arrivals import Arrival, token_times
from app.timeline.numbers import Targets, numbers_of
from tests.golden.metrics import CASES, arrivals_of

#: The table of the definitions, digit by digit: QoE, fluidity, idle s, E2E s, TPOT ms.
PRINTED = {
    "first token after 0.5 s, then 20 tokens/s": ("1.000", "1.000", "0.00", "5.45", "50"),
    "all 100 tokens at once after 5.45 s": ("0.703", "0.688", "0.00", "5.45", "0"),
    "first token after 5 s, then 200 tokens/s": ("0.725", "0.707", "0.00", "5.50", "5"),
    "20 tokens/s with a pause of 3 s after token 20": ("1.000", "0.861", "0.15", "8.45", "80"),
    "20 tokens/s with a pause of 3 s after token 80": ("1.000", "1.000", "0.00", "8.45", "80"),
    "first token after 0.5 s, then 3 tokens/s": ("0.618", "0.010", "13.96", "33.50", "333"),
}


@st.composite
def timelines(draw: st.DrawFn) -> list[Arrival]:
    times = sorted(draw(st.lists(st.integers(0, 20_000), max_size=30)))
    return [Arrival(at, draw(st.integers(0, 5)), draw(st.integers(0, 5))) for at in times]


targets = st.builds(
    Targets,
    st.floats(0, 3000, allow_subnormal=False),
    st.floats(0.5, 50),
    st.floats(1, 3000),
    st.floats(1, 500),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_timeline_has_the_numbers_that_were_worked_out_by_hand(case: dict[str, Any]) -> None:
    found = msgspec.to_builtins(numbers_of(arrivals_of(case), Targets(**case["parameters"])))
    for name, expected in case["expected"].items():
        pairs = [(found[name], expected)]
        if isinstance(expected, dict):
            pairs = [(found[name][part], value) for part, value in expected.items()]
        for value, wanted in pairs:
            assert (value is None) == (wanted is None), name
            assert wanted is None or math.isclose(value, wanted, rel_tol=1e-6, abs_tol=1e-6), name


@pytest.mark.parametrize("name", PRINTED)
def test_the_published_table_comes_out_to_its_last_digit(name: str) -> None:
    case = next(case for case in CASES if case["name"] == name)
    numbers = numbers_of(arrivals_of(case), Targets(**case["parameters"]))
    assert numbers.qoe is not None and numbers.fluidity is not None
    assert numbers.idle_ms is not None and numbers.last_ms is not None and numbers.tpot_ms is not None
    assert PRINTED[name] == (
        f"{numbers.qoe:.3f}",
        f"{numbers.fluidity:.3f}",
        f"{numbers.idle_ms / 1000:.2f}",
        f"{numbers.last_ms / 1000 + 1e-9:.2f}",  # 5.495 is printed as 5.50
        f"{numbers.tpot_ms:.0f}",
    )


@given(timelines(), targets)
def test_qualities_lie_between_0_and_1_and_exist_when_a_token_came(
    arrivals: list[Arrival], wanted: Targets
) -> None:
    numbers = numbers_of(arrivals, wanted)
    if token_times(arrivals):
        assert numbers.qoe is not None and 0 <= numbers.qoe <= 1
        assert numbers.fluidity is not None and 0 <= numbers.fluidity <= 1
        assert numbers.idle_ms is not None and numbers.idle_ms >= 0
    else:
        assert numbers.qoe is numbers.fluidity is numbers.idle_ms is None


@given(timelines(), targets)
def test_the_parts_of_a_spread_are_in_order_and_gaps_add_up(arrivals: list[Arrival], wanted: Targets) -> None:
    numbers = numbers_of(arrivals, wanted)
    for found in (numbers.gaps_per_chunk, numbers.gaps_per_token):
        values = [found.p50_ms, found.p95_ms, found.p99_ms, found.max_ms]
        known = [value for value in values if value is not None]
        assert known == sorted(known) and len(known) in (0, 4)
    if arrivals:
        assert sum(gaps.gaps_per_chunk(arrivals)) == arrivals[-1].at_ms - arrivals[0].at_ms


@given(timelines(), targets, st.integers(1, 5000))
def test_coming_later_is_never_better(arrivals: list[Arrival], wanted: Targets, by_ms: int) -> None:
    later = [Arrival(a.at_ms + by_ms, a.tokens, a.words) for a in arrivals]
    before, after = numbers_of(arrivals, wanted), numbers_of(later, wanted)
    if before.qoe is not None and after.qoe is not None:
        assert after.qoe <= before.qoe + 1e-9
        assert after.tpot_ms == before.tpot_ms
        assert after.idle_ms == pytest.approx(before.idle_ms, abs=1e-6)


@given(timelines(), targets)
def test_one_large_arrival_at_the_end_is_never_better_than_the_stream(
    arrivals: list[Arrival], wanted: Targets
) -> None:
    tokens = sum(a.tokens for a in arrivals)
    whole = [Arrival(arrivals[-1].at_ms, tokens, 0)] if tokens else []
    streamed = quality.qoe(arrivals, wanted.ttft_target_ms, wanted.tokens_per_second)
    waited = quality.qoe(whole, wanted.ttft_target_ms, wanted.tokens_per_second)
    assert (streamed is None) == (waited is None)
    if streamed is not None and waited is not None:
        assert waited <= streamed + 1e-9


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_a_percentile_lies_within_its_values_and_hits_the_ends(values: list[float], share: float) -> None:
    found = gaps.percentile(values, share)
    assert found is not None and min(values) <= found <= max(values)
    assert gaps.percentile(values, 0) == min(values) and gaps.percentile(values, 1) == max(values)


def test_percentiles_interpolate_between_order_statistics() -> None:
    assert gaps.percentile([10, 20, 30, 40], 0.5) == 25
    assert gaps.percentile([40, 10, 30, 20], 0.95) == pytest.approx(38.5)
    assert gaps.percentile([], 0.5) is None


def test_streaming_costs_the_ratio_of_the_last_words() -> None:
    assert gaps.streaming_cost(4100, 4000) == 1.025
    assert gaps.streaming_cost(None, 4000) is None
    assert gaps.streaming_cost(4100, None) is None
    assert gaps.streaming_cost(0, 0) is None
