"""What is done to one row of numbers: exponential, norm, turn, gate.

Written as plain loops that the compiler turns into vector instructions. It refuses to know layers.
"""

from __future__ import annotations

import math

import numpy as np

from app.engine.model.compiled.crew import inlined

_LOG2_E = np.float32(1 / math.log(2))
_LN_2 = np.float32(math.log(2))
_LEAST, _MOST = np.float32(-87.0), np.float32(88.0)
#: exp(r) for |r| <= ln 2 / 2: Taylor's terms; what is left out is below 1 part in 400,000.
_TERMS = tuple(np.float32(1 / math.factorial(n)) for n in range(6))
#: All bits of a float32 but its sign, and those of the least that float16 rounds to infinity. As integers
#: they are in the order of size, and behind them come infinity and what is not a number.
_SIZE, _TOO_LARGE = np.int32(0x7FFFFFFF), np.int32(np.float32(65520).view(np.int32))


@inlined
def exp(x: np.float32) -> np.float32:
    """e to the x, to 1 part in 100,000; without a call, so that loops over it become vectors."""
    x = min(max(x, _LEAST), _MOST)
    n = np.rint(x * _LOG2_E)
    r = x - n * _LN_2
    y = _TERMS[5]
    y = y * r + _TERMS[4]
    y = y * r + _TERMS[3]
    y = y * r + _TERMS[2]
    y = y * r + _TERMS[1]
    y = y * r + _TERMS[0]
    # 2 to the n, made by writing n into the exponent.
    power: np.float32 = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return y * power  # type: ignore[no-any-return]


@inlined
def normalise(x: np.ndarray, weight: np.ndarray, eps: np.float32, out: np.ndarray) -> None:
    """out = x / sqrt(mean(x^2) + eps) * weight; ``out`` may be ``x``."""
    total = np.float32(0)
    for k in range(len(x)):
        total += x[k] * x[k]
    factor = np.float32(1) / np.sqrt(total / np.float32(len(x)) + eps)
    for k in range(len(x)):
        out[k] = x[k] * factor * weight[k]


@inlined
def copy(source: np.ndarray, out: np.ndarray) -> None:
    """out = source."""
    for k in range(len(source)):
        out[k] = source[k]


@inlined
def add(source: np.ndarray, out: np.ndarray) -> None:
    """out += source."""
    for k in range(len(source)):
        out[k] += source[k]


@inlined
def fits_half(values: np.ndarray) -> bool:
    """Whether float16 holds each of ``values``; looks at bits, as compiled arithmetic denies NaN."""
    bits = values.view(np.int32)
    largest = np.int32(0)
    for k in range(len(bits)):
        largest = max(largest, bits[k] & _SIZE)
    return bool(largest < _TOO_LARGE)


@inlined
def turn(pairs: np.ndarray, turns: np.ndarray) -> None:
    """Turn each pair of numbers by the angle of which ``turns`` [pairs, 2] has cosine and sine."""
    for k in range(len(pairs) // 2):
        x, y = pairs[2 * k], pairs[2 * k + 1]
        pairs[2 * k] = x * turns[k, 0] - y * turns[k, 1]
        pairs[2 * k + 1] = x * turns[k, 1] + y * turns[k, 0]


@inlined
def gate(gated: np.ndarray, out: np.ndarray) -> None:
    """out = silu(first half) * second half of ``gated``."""
    half = len(gated) // 2
    for k in range(half):
        x = gated[k]
        out[k] = x / (np.float32(1) + exp(-x)) * gated[half + k]
