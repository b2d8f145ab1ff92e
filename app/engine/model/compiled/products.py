"""Weight times activations, both in small integers: a worker's share of the tiles of one product.

A tile is eight outputs for all rows, so that a weight is read from memory once a step. Rows go
through it four at a time. It refuses to know which product of the model this is.
"""

from __future__ import annotations

from app.engine.model.compiled.crew import inlined, meet, take
from app.engine.model.compiled.packing import LANES, Packed
from app.engine.model.compiled.vector import (
    eight_bit_1,
    eight_bit_2,
    eight_bit_4,
    four_bit_1,
    four_bit_2,
    four_bit_4,
)

#: Bytes of one group in a tile of 4-bit codes.
_FOUR_BIT_BYTES = 128
#: Into so many pieces a product is cut, to be taken by whoever is free.
_PIECES = 24


@inlined
def is_four_bit(weight: Packed) -> bool:
    """Whether ``weight`` takes int8 codes; else it takes int16."""
    return weight.codes.shape[3] == _FOUR_BIT_BYTES  # type: ignore[no-any-return]


@inlined
def multiply(team, phase, weight, layer, count, desk, out):  # type: ignore[no-untyped-def]
    """``out += activations @ weight[layer]`` for ``count`` rows and a share of the outputs.

    The activations are the desk's codes and measures. All workers are done when it returns.
    """
    tiles = weight.codes.shape[1]
    size = max(1, tiles // _PIECES)
    first = take(team, phase, size)
    while first < tiles:
        for tile in range(first, min(first + size, tiles)):
            codes, scales = weight.codes[layer, tile], weight.scales[layer, tile]
            if is_four_bit(weight):
                _four_bit_tile(codes, scales, tile, count, desk.codes, desk.measures, out)
            else:
                _eight_bit_tile(codes, scales, tile, count, desk.wide_codes, desk.measures, out)
        first = take(team, phase, size)
    meet(team, phase)


# Private


@inlined
def _four_bit_tile(weight, scales, tile, count, codes, measures, out):  # type: ignore[no-untyped-def]
    w, d, groups = weight.ctypes.data, scales.ctypes.data, len(weight)
    a_step, s_step, y_step = codes.strides[0], measures.strides[0], out.strides[0]
    a, s, y = codes.ctypes.data, measures.ctypes.data, out.ctypes.data + tile * LANES * 4
    row = 0
    while row + 4 <= count:
        four_bit_4(w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step)
        row += 4
    if row + 2 <= count:
        four_bit_2(w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step)
        row += 2
    if row < count:
        four_bit_1(w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step)


@inlined
def _eight_bit_tile(weight, scales, tile, count, codes, measures, out):  # type: ignore[no-untyped-def]
    w, d, groups = weight.ctypes.data, scales.ctypes.data, len(weight)
    a_step, s_step, y_step = codes.strides[0], measures.strides[0], out.strides[0]
    a, s, y = codes.ctypes.data, measures.ctypes.data, out.ctypes.data + tile * LANES * 4
    row = 0
    while row + 4 <= count:
        eight_bit_4(
            w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step
        )
        row += 4
    if row + 2 <= count:
        eight_bit_2(
            w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step
        )
        row += 2
    if row < count:
        eight_bit_1(
            w, d, groups, a + row * a_step, a_step, s + row * s_step, s_step, y + row * y_step, y_step
        )
