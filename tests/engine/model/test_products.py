"""Weights of 4 and 8 bits times activations of 8: what the intrinsics add up is what numpy says.

With the instructions of this processor, and, where it has VNNI, with those of older ones as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from app.engine.model.compiled.crew import alone, compiled
from app.engine.model.compiled.packing import BLOCK, packed
from app.engine.model.compiled.processor import DOTS
from app.engine.model.compiled.products import multiply
from app.engine.model.tensors import GROUP, EightBit, FourBit, Weight

_AVX2 = "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt,+sse4.2"
#: Other processors, as a compiler is told of them: name and instructions.
OTHERS = {
    "with AVX2 alone": ("haswell", _AVX2),
    "with more registers": ("skylake-avx512", _AVX2 + ",+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl"),
}
pytestmark = pytest.mark.timeout(400)


class Codes(NamedTuple):
    """As much of a step's desk as a product reads."""

    codes: np.ndarray
    wide_codes: np.ndarray
    measures: np.ndarray


@compiled
def _multiply(team: Any, weight: Any, count: int, desk: Any, out: Any) -> None:
    multiply(team, 0, weight, 0, count, desk, out)


def product(weight: Weight, codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """``codes`` int8 [rows, inputs], ``scales`` float32 [rows, groups] -> float32 [rows, outputs]."""
    rows, groups = scales.shape
    grouped = codes.reshape(rows, groups, GROUP)
    room = np.zeros((-(-rows // BLOCK) * BLOCK, groups, GROUP), np.int16)
    room[:rows] = grouped
    measures = np.zeros((len(room), groups, 2), np.float32)
    measures[:rows] = np.stack([scales, scales * grouped.sum(-1)], axis=-1)
    blocks, wide = _in_blocks(measures), _in_blocks(room)
    tiles = packed([weight], [None])
    out = np.zeros((rows, tiles.bias.shape[1]), np.float32)
    _multiply(alone(1), tiles, rows, Codes(wide.astype(np.int8), wide, blocks), out)
    return out


def _in_blocks(rows: np.ndarray) -> np.ndarray:
    """[rows, groups, ..] -> [blocks, groups, BLOCK, ..]."""
    return np.ascontiguousarray(rows.reshape(-1, BLOCK, *rows.shape[1:]).swapaxes(1, 2))


def four_bits(draw: np.random.Generator, outputs: int, inputs: int) -> tuple[FourBit, np.ndarray]:
    codes = draw.integers(0, 256, (outputs, inputs // 2), dtype=np.uint8)
    scale, low = (draw.integers(-8, 9, (outputs, inputs // GROUP)).astype(np.float32) for _ in range(2))
    weight = FourBit(torch.from_numpy(codes), torch.from_numpy(scale), torch.from_numpy(low))
    return weight, weight.dense(torch.float32).numpy()


def eight_bits(draw: np.random.Generator, outputs: int, inputs: int) -> tuple[EightBit, np.ndarray]:
    codes = draw.integers(-127, 128, (outputs, inputs), dtype=np.int8)
    scale = draw.integers(-2, 3, (outputs, inputs // GROUP)).astype(np.float32)
    weight = EightBit(torch.from_numpy(codes), torch.from_numpy(scale))
    return weight, weight.dense(torch.float32).numpy()


@pytest.mark.parametrize("bits", [4, 8])
@given(
    seed=st.integers(0, 2**32 - 1),
    outputs=st.integers(1, 20),
    groups=st.integers(1, 3),
    rows=st.integers(1, 30),
)
def test_a_product_is_numpys(bits: int, seed: int, outputs: int, groups: int, rows: int) -> None:
    """Of whole numbers, whose sums float32 holds exactly: there is nothing to be near to."""
    draw = np.random.default_rng(seed)
    weight, dense = (four_bits if bits == 4 else eight_bits)(draw, outputs, groups * GROUP)
    codes = draw.integers(-127, 128, (rows, groups * GROUP), dtype=np.int8)
    scales = draw.integers(0, 3, (rows, groups)).astype(np.float32)
    right = (codes * np.repeat(scales, GROUP, axis=1)) @ dense.T
    assert np.array_equal(product(weight, codes, scales)[:, :outputs], right)


@pytest.mark.parametrize("bits", [4, 8])
def test_the_largest_numbers_fit(bits: int) -> None:
    """All codes at their ends, where sums in 16 bits would run over first."""
    inputs = 4 * GROUP
    ones = torch.ones(9, 4)
    largest: Weight = (
        FourBit(torch.full((9, inputs // 2), 255, dtype=torch.uint8), ones, torch.zeros(9, 4))
        if bits == 4
        else EightBit(torch.full((9, inputs), -127, dtype=torch.int8), ones)
    )
    codes = np.repeat(np.array([[127], [-127]], np.int8), inputs, axis=1)
    each = 127 * (15 if bits == 4 else -127) * inputs
    got = product(largest, codes, np.ones((2, 4), np.float32))[:, :9]
    assert np.array_equal(got, np.array([[each], [-each]], np.float32).repeat(9, axis=1))


@pytest.mark.skipif(not DOTS, reason="this processor has no more than those, or not even that")
@pytest.mark.parametrize("other", OTHERS)
def test_an_older_processor_multiplies_the_same(other: str) -> None:
    """The tests above, compiled for another processor, in a process of their own."""
    name, features = OTHERS[other]
    # What this run was told by its environment is not for the one inside.
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    told = own | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    ended = subprocess.run(
        command,
        env=told,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("....ss ")
