"""Attention of each row to all positions up to its own, for one layer: a worker's share of the heads.

The query heads of one key head are computed together, so that keys and values are read once for
them. Prompts' and running sequences' rows are the same here: a row is a slot and a position.
It refuses to know where keys and values come from.
"""

from __future__ import annotations

import numpy as np

from app.engine.model.compiled.arithmetic import exp
from app.engine.model.compiled.crew import inlined, meet, take
from app.engine.model.compiled.vector import eight_scores, mix_8, mix_64

#: Positions whose values are read for one query head after the other while they are near.
_PIECE = 64


@inlined
def attend(team, phase, rows, queries, cache, scores, out):  # type: ignore[no-untyped-def]
    """``queries`` [rows, heads * dim ..], turned; ``cache`` float16 [2, slots, kv_heads, context, dim].

    ``scores`` [heads of a key head, context] is this worker's own; ``out`` [rows, heads * dim].
    """
    kv_heads, dim = cache.shape[2], cache.shape[4]
    share = scores.shape[0]
    num = len(rows.x) * kv_heads
    unit = take(team, phase, 1)
    while unit < num:
        row, head = unit // kv_heads, unit % kv_heads
        slot, count = rows.slots[row], rows.positions[row] + 1
        first = head * share * dim
        query = queries[row, first : first + share * dim].reshape(share, dim)
        mixed = out[row, first : first + share * dim].reshape(share, dim)
        _attend(query, cache[0, slot, head], cache[1, slot, head], count, scores, mixed)
        unit = take(team, phase, 1)
    meet(team, phase)


# Private


@inlined
def _attend(query, keys, values, count, scores, out):  # type: ignore[no-untyped-def]
    """softmax(query @ keys / sqrt(dim)) @ values over the first ``count`` positions."""
    share, dim = query.shape
    scale = np.float32(1) / np.sqrt(np.float32(dim))
    step = keys.strides[0]
    # The last eight may reach behind ``count``: what is there is not looked at.
    for position in range(0, count, 8):
        key_at = keys.ctypes.data + position * step
        for head in range(share):
            score_at = scores[head].ctypes.data + position * 4
            eight_scores(query[head].ctypes.data, key_at, step, dim, scale, score_at)
    for head in range(share):
        _soften(scores[head, :count])
        for d in range(dim):
            out[head, d] = np.float32(0)
    for first in range(0, count, _PIECE):
        piece = min(_PIECE, count - first)
        for head in range(share):
            weight_at = scores[head].ctypes.data + first * 4
            _mix(weight_at, values.ctypes.data + first * step, step, piece, dim, out[head].ctypes.data)


@inlined
def _mix(weights, values, step, count, dim, out):  # type: ignore[no-untyped-def]
    """Add ``weights @ values`` to ``out``; all but the numbers are addresses."""
    for first in range(0, dim - dim % 64, 64):
        mix_64(weights, values + first * 2, step, count, out + first * 4)
    for first in range(dim - dim % 64, dim, 8):
        mix_8(weights, values + first * 2, step, count, out + first * 4)


@inlined
def _soften(scores):  # type: ignore[no-untyped-def]
    """Softmax in place."""
    largest = scores[0]
    for k in range(len(scores)):
        largest = max(largest, scores[k])
    total = np.float32(0)
    for k in range(len(scores)):
        weight = exp(scores[k] - largest)
        scores[k] = weight
        total += weight
    part = np.float32(1) / total
    for k in range(len(scores)):
        scores[k] *= part
