"""Weight times activations, both in small integers: a worker's share of the tiles of one product.

A tile is eight outputs for all rows, so that a weight is read from memory once a step. Rows go
through it four at a time. It refuses to know which product of the model this is.
"""

from __future__ import annotations

from app.engine.model.compiled.crew import inlined, meet, take
from app.engine.model.compiled.integer_products import eight_bit_tile, four_bit_tile
from app.engine.model.compiled.packing import LANES, Packed
from app.engine.model.compiled.processor import DOTS

#: Bytes of one group in a tile of 4-bit codes.
_FOUR_BIT_BYTES = 128
#: Into so many pieces a product is cut, to be taken by whoever is free.
_PIECES = 24


@inlined
def is_four_bit(weight: Packed) -> bool:
    """Whether ``weight`` has 4 bits; else it has 8."""
    return weight.codes.shape[3] == _FOUR_BIT_BYTES  # type: ignore[no-any-return]


@inlined
def takes_bytes(weight: Packed) -> bool:
    """Whether ``weight`` takes int8 codes; else it takes int16."""
    return DOTS or is_four_bit(weight)


@inlined
def multiply(team, phase, weight, layer, count, desk, out):  # type: ignore[no-untyped-def]
    """``out += activations @ weight[layer]`` for ``count`` rows and a share of the outputs.

    The activations are the desk's codes and measures. All workers are done when it returns.
    """
    tiles = weight.codes.shape[1] if count > 0 else 0
    size = max(1, tiles // _PIECES)
    first = take(team, phase, size)
    while first < tiles:
        for tile in range(first, min(first + size, tiles)):
            w, d = weight.codes[layer, tile].ctypes.data, weight.scales[layer, tile].ctypes.data
            groups = weight.codes.shape[2]
            s, s_step = desk.measures.ctypes.data, desk.measures.strides[0]
            y, y_step = out.ctypes.data + tile * LANES * 4, out.strides[0]
            if takes_bytes(weight):
                a, a_step = desk.codes.ctypes.data, desk.codes.strides[0]
            else:
                a, a_step = desk.wide_codes.ctypes.data, desk.wide_codes.strides[0]
            if is_four_bit(weight):
                four_bit_tile(w, d, groups, a, a_step, s, s_step, y, y_step, count)
            else:
                eight_bit_tile(w, d, groups, a, a_step, s, s_step, y, y_step, count)
        first = take(team, phase, size)
    meet(team, phase)
