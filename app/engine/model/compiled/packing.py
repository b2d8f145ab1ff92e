"""Weights as the kernels read them: in tiles of eight outputs, group by group, in order of use.

A tile of a 4-bit weight is for each group of 32 inputs 128 bytes: four vectors of 32, whose low
halves hold the codes of four inputs for all eight outputs and whose high halves those of the next four.
A tile of an 8-bit weight is 256 bytes a group: sixteen times two inputs for eight outputs, or, for processors
that multiply four bytes at once, eight times four inputs, without a sign: 128 is added. Pure numpy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from app.engine.model.compiled.processor import DOTS
from app.engine.model.tensors import GROUP, EightBit, FourBit, Weight

LANES = 8
#: What is added to 8-bit codes where they are kept without a sign: such instructions want one side so.
OFFSET = 128
#: Rows of activations whose codes lie side by side, group by group, so that most of a kernel's addresses are
#: constants. One worker writes them: two would take each line of the cache from each other.
BLOCK = 4


class Packed(NamedTuple):
    """The same product of all layers.

    ``codes`` uint8 [layers, tiles, groups, 128] (4 bits) or [.., 256] (8 bits); ``scales``
    uint16 [layers, tiles, groups, 16 or 8], float16's bits: 8 scales, and with 4 bits 8 minima.
    ``bias`` float32 [layers, outputs].
    """

    codes: np.ndarray
    scales: np.ndarray
    bias: np.ndarray


def packed(weights: list[Weight], biases: list[torch.Tensor | None]) -> Packed:
    """All layers' weights [out, in] of one product. Dense ones are rounded to 8 bits in groups."""
    if all(isinstance(weight, FourBit) for weight in weights):
        parts = [_four_bit(weight) for weight in weights if isinstance(weight, FourBit)]
    else:
        parts = [_eight_bit(eight_bit(weight)) for weight in weights]
    bias = np.zeros((len(weights), parts[0][0].shape[0] * LANES), np.float32)
    for row, given in zip(bias, biases, strict=True):
        if given is not None:
            row[: len(given)] = given.float().numpy()
    return Packed(np.stack([codes for codes, _ in parts]), np.stack([scales for _, scales in parts]), bias)


def eight_bit(weight: Weight) -> EightBit:
    """``weight`` with 8-bit codes -127..127 in groups of 32, fitted to scales rounded to float16."""
    if isinstance(weight, EightBit):
        return weight
    dense = weight.dense(torch.float32)
    grouped = dense.view(len(dense), -1, GROUP)
    scale = (grouped.abs().amax(dim=2) / 127).clamp(2**-24, torch.finfo(torch.float16).max).half()
    codes = (grouped / scale.float()[..., None]).round_().clamp_(-127, 127)
    return EightBit(codes.flatten(1).to(torch.int8), scale)


# Private


def _four_bit(weight: FourBit) -> tuple[np.ndarray, np.ndarray]:
    codes = _whole_tiles(weight.unpacked().numpy())
    tiles, groups = codes.shape[0] // LANES, codes.shape[1] // GROUP
    # [tile, output, group, vector, half, input] -> [tile, group, vector, half, output, input]
    ordered = codes.reshape(tiles, LANES, groups, 4, 2, 4).transpose(0, 2, 3, 4, 1, 5)
    both = ordered.reshape(tiles, groups, 4, 2, 32)
    return (both[:, :, :, 0] | both[:, :, :, 1] << 4).reshape(tiles, groups, 128), np.concatenate(
        [_by_tile(weight.scale), _by_tile(weight.low)], axis=-1
    )


def _eight_bit(weight: EightBit) -> tuple[np.ndarray, np.ndarray]:
    codes = _whole_tiles(weight.codes.numpy())
    tiles, groups = codes.shape[0] // LANES, codes.shape[1] // GROUP
    inputs = 4 if DOTS else 2
    # [tile, output, group, part, input] -> [tile, group, part, output, input]
    ordered = codes.reshape(tiles, LANES, groups, GROUP // inputs, inputs).transpose(0, 2, 3, 1, 4)
    laid = ordered.reshape(tiles, groups, 256).view(np.uint8)
    # To a byte, 128 more or less is the same.
    return (laid + np.uint8(OFFSET) if DOTS else laid), _by_tile(weight.scale)


def _by_tile(scale: torch.Tensor) -> np.ndarray:
    """[out, groups] -> [tiles, groups, 8] of float16's bits."""
    bits = _whole_tiles(scale.half().contiguous().numpy().view(np.uint16))
    return np.ascontiguousarray(bits.reshape(-1, LANES, bits.shape[1]).transpose(0, 2, 1))


def _whole_tiles(rows: np.ndarray) -> np.ndarray:
    """Zero rows added until their number is one of tiles."""
    return np.pad(rows, ((0, -len(rows) % LANES), (0, 0)))
