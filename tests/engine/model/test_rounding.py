"""Rounding activations to 8 bits: what the intrinsic writes is what numpy says, to the last bit."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.engine.model.compiled.packing import BLOCK
from app.engine.model.compiled.rounding import round_to_bytes, round_to_shorts
from app.engine.model.tensors import GROUP


@numba.njit  # type: ignore[untyped-decorator]
def _bytes(values: Any, codes: Any, measures: Any) -> None:
    round_to_bytes(values.ctypes.data, len(measures), codes.ctypes.data, measures.ctypes.data)


@numba.njit  # type: ignore[untyped-decorator]
def _shorts(values: Any, codes: Any, measures: Any) -> None:
    round_to_shorts(values.ctypes.data, len(measures), codes.ctypes.data, measures.ctypes.data)


def rounded(values: np.ndarray, kind: Any) -> tuple[np.ndarray, np.ndarray]:
    """What is written for the first row of a block; the other rows' places must stay as they are."""
    codes = np.full((len(values) // GROUP, BLOCK, GROUP), 99, kind)
    measures = np.full((len(values) // GROUP, BLOCK, 2), 99, np.float32)
    (_bytes if kind is np.int8 else _shorts)(values, codes, measures)
    assert (codes[:, 1:] == 99).all() and (measures[:, 1:] == 99).all()
    return codes[:, 0].reshape(-1), measures[:, 0]


def by_numpy(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    groups = values.reshape(-1, GROUP)
    largest = np.abs(groups).max(axis=1)
    factor = np.divide(np.float32(127), largest, out=np.zeros_like(largest), where=largest > 0)
    codes = np.rint(groups * factor[:, None]).astype(np.int32)
    scale = largest * np.float32(1 / 127)
    return codes.reshape(-1), np.stack([scale, scale * codes.sum(axis=1).astype(np.float32)], axis=1)


#: A group's numbers, and by how many powers of two they are larger: activations are far from both ends.
GROUPS = st.tuples(
    arrays.arrays(np.float32, GROUP, elements=st.floats(-1, 1, width=16, allow_subnormal=False)),
    st.integers(-40, 40),
)


def of_groups(groups: list[tuple[np.ndarray, int]]) -> np.ndarray:
    return np.concatenate([np.ldexp(numbers, power) for numbers, power in groups])


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@given(values=st.lists(GROUPS, min_size=1, max_size=4).map(of_groups))
def test_codes_and_measures_are_numpys(values: np.ndarray, kind: Any) -> None:
    codes, measures = rounded(values, kind)
    expected_codes, expected_measures = by_numpy(values)
    assert codes.tolist() == expected_codes.tolist()
    assert measures.tolist() == expected_measures.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_group_with_something_infinite_in_it_has_a_scale_that_shows_it(bad: float, kind: Any) -> None:
    values = np.ones(2 * GROUP, np.float32)
    values[GROUP + 5] = bad
    codes, measures = rounded(values, kind)
    assert np.isfinite(measures[0]).all() and not np.isfinite(measures[1]).all()
    assert codes[:GROUP].tolist() == [127] * GROUP
