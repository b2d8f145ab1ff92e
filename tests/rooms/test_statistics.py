"""The numbers of a vote against published ones, and against counting by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rooms.statistics import holm, median, needed, shown_p, sign_test, wilson

#: (n decided, needed for p <= 0.05, Wilson there in %, power at a true share of 60/65/70/75 %)
CLASSROOM_TABLE = [
    (10, 9, (60, 98), (0.05, 0.09, 0.15, 0.24)),
    (20, 15, (53, 89), (0.13, 0.25, 0.42, 0.62)),
    (30, 21, (52, 83), (0.18, 0.36, 0.59, 0.80)),
    (40, 27, (52, 80), (0.21, 0.44, 0.70, 0.90)),
    (60, 39, (52, 76), (0.26, 0.56, 0.84, 0.97)),
    (100, 61, (51, 70), (0.46, 0.83, 0.98, 1.0)),
    (200, 115, (51, 64), (0.79, 0.99, 1.0, 1.0)),
]


def power(n: int, share: float) -> float:
    """How likely ``n`` votes show a difference when the true share is ``share``."""
    least = needed(n)
    assert least is not None
    shown = [k for k in range(n + 1) if k >= least or k <= n - least]
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in shown)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Newcombe, Statistics in Medicine 17:857 (1998), table I, score method without correction.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_published_intervals(k, n, low, high):
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("n", "least", "interval", "powers"), CLASSROOM_TABLE)
def test_the_table_for_planning_a_lesson_is_right(n, least, interval, powers):
    assert needed(n) == least
    assert tuple(round(100 * bound) for bound in wilson(least, n)) == interval
    for share, expected in zip((0.60, 0.65, 0.70, 0.75), powers, strict=True):
        assert power(n, share) == pytest.approx(expected, abs=0.0101)


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [
        (0, 0, 1.0),
        (1, 1, 1.0),
        (5, 5, 0.0625),
        (6, 6, 0.03125),
        (5, 10, 1.0),
        (8, 10, 0.109375),
        (9, 10, 0.021484375),
    ],
)
def test_the_sign_test_gives_the_numbers_of_any_binomial_table(k, n, p):
    assert sign_test(k, n) == p


@pytest.mark.parametrize(
    ("fewer", "n", "one_tailed"),
    # Siegel, Nonparametric Statistics (1956), table D: the binomial test, one-tailed, to three places.
    [(1, 10, 0.011), (2, 10, 0.055), (3, 15, 0.018), (5, 20, 0.021), (6, 20, 0.058), (7, 25, 0.022)],
)
def test_the_sign_test_gives_siegels_published_probabilities_for_both_tails(fewer, n, one_tailed):
    assert sign_test(fewer, n) / 2 == pytest.approx(one_tailed, abs=5e-4)


@given(st.integers(1, 10))
def test_the_sign_test_is_what_counting_all_coin_tosses_gives(n):
    for k in range(n + 1):
        extreme = sum(abs(sum(tosses) - n / 2) >= abs(k - n / 2) for tosses in product((0, 1), repeat=n))
        assert sign_test(k, n) == extreme / 2**n


@given(st.integers(0, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_sign_test_is_exact_for_a_whole_lecture_hall(pair):
    k, n = pair
    tail = sum(Fraction(comb(n, i), 2**n) for i in range(max(k, n - k), n + 1))
    assert sign_test(k, n) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-12)
    assert sign_test(k, n) == sign_test(n - k, n)


@given(st.integers(1, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_lies_within_one_and_mirrors(pair):
    k, n = pair
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low))


def test_nobody_decided_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0) and sign_test(0, 0) == 1.0 and needed(3) is None


def test_several_questions_are_corrected_by_holm():
    # A worked example: 4 · 0.005, then 3 · 0.01, then 2 · 0.03, and never below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_a_corrected_p_is_never_smaller_and_keeps_the_order(ps):
    corrected = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, corrected, strict=True))
    assert [q for _, q in sorted(zip(ps, corrected, strict=True))] == sorted(corrected)


def test_a_median_and_a_p_are_shown_as_people_read_them():
    assert (median([]), median([3.0, 1.0, 2.0]), median([4.0, 1.0])) == (None, 2.0, 2.5)
    assert [shown_p(p) for p in (0.0, 0.0414, 0.5)] == ["p < 0.001", "p = 0.041", "p = 0.50"]
