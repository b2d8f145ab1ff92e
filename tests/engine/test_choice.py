"""Drawing from a list of probabilities, by pencil and paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.choice import chance, choose
from app.prompt import Sampling

FALLING = st.lists(st.floats(0.001, 1), min_size=1, max_size=12).map(
    lambda weights: np.array(sorted((w / sum(weights) for w in weights), reverse=True))
)
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.just(1.0),
    top_p=st.floats(0.01, 1),
    top_k=st.integers(0, 12),
    min_p=st.floats(0, 1),
)


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(), [0, 0, 0, 0, 0, 1, 1, 1, 2, 3]),
        (Sampling(top_k=2), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),
        (Sampling(top_p=0.5), [0] * 10),
        (Sampling(top_p=0.51), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),
        (Sampling(min_p=0.5), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),
        (Sampling(min_p=1.0), [0] * 10),
        (Sampling(top_k=3, top_p=0.6), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_each_option_cuts_the_list_and_chance_picks_from_the_rest(sampling, expected):
    probabilities = np.array([0.5, 0.3, 0.1, 0.1])
    drawn = [choose(probabilities, True, sampling, (n + 0.5) / 10) for n in range(10)]
    assert drawn == expected


@given(FALLING, SAMPLINGS, st.floats(0, 1, exclude_max=True), st.integers(1, 12))
def test_a_longer_look_never_changes_what_a_short_one_decided(probabilities, sampling, number, look):
    short = choose(probabilities[:look], look >= len(probabilities), sampling, number)
    whole = choose(probabilities, True, sampling, number)
    assert whole is not None
    # Sums of floats in another order may differ in the last bit, right at a border.
    near = [choose(probabilities, True, sampling, min(max(number + e, 0), 0.9999999)) for e in (-1e-9, 1e-9)]
    assert short is None or short in (whole, *near)


def test_more_is_asked_for_exactly_when_the_rest_could_matter():
    head = np.array([0.3, 0.2])
    assert choose(head, False, Sampling(), 0.49) == 1
    assert choose(head, False, Sampling(), 0.51) is None
    assert choose(head, False, Sampling(top_p=0.5), 0.99) == 1
    assert choose(head, False, Sampling(top_p=0.51), 0.0) is None
    assert choose(head, False, Sampling(top_k=2), 0.99) == 1
    assert choose(head, False, Sampling(top_k=3), 0.0) is None
    assert choose(head, False, Sampling(min_p=0.9), 0.99) == 0


def test_chance_depends_on_seed_and_count_alone_and_is_spread_evenly():
    assert chance(1, 5) == chance(1, 5)
    assert len({chance(seed, n) for seed in (-1, 0, 1, 2**70) for n in range(50)}) == 200
    numbers = [chance(42, n) for n in range(10_000)]
    assert all(0 <= number < 1 for number in numbers)
    tenths = [sum(n / 10 <= number < (n + 1) / 10 for number in numbers) for n in range(10)]
    assert all(900 < count < 1100 for count in tenths)
