"""Attention of each row to all positions up to its own, for one layer: a worker's share of the heads.

The query heads of one key head are computed together, three at a time, so that keys and values are
read and widened once for them. Keys lie in blocks of positions, number by number, so that scores grow
side by side and nothing is added up across a register. Prompts' and running sequences' rows are the same
here: a row is a slot and a position. It refuses to know where keys and values come from.
"""

from __future__ import annotations

import numpy as np

from app.engine.model.compiled.arithmetic import exp
from app.engine.model.compiled.crew import inlined, meet, take
from app.engine.model.compiled.float_sums import (
    POSITIONS,
    halve_key,
    halve_value,
    largest,
    mix_1x8,
    mix_1x64,
    mix_3x8,
    mix_3x32,
    score_1,
    score_3,
)
from app.engine.model.compiled.instructions import LANES

#: Positions whose values are read for one query head after the other while they are near.
_PIECE = 64
#: Behind a row's scores stands what they add up to. As many as fill a line of the cache.
SPARE = 16


@inlined
def write_key(key, lane, position):  # type: ignore[no-untyped-def]
    """``key`` [dim] into its place in ``lane`` [context, dim], which is a head's memory."""
    block, place = position // POSITIONS, position % POSITIONS
    halve_key(key.ctypes.data, lane[block * POSITIONS].ctypes.data + 2 * place, len(key))


@inlined
def write_value(value, lane, position):  # type: ignore[no-untyped-def]
    """The same of a value, which is a row."""
    halve_value(value.ctypes.data, lane[position].ctypes.data, len(value))


@inlined
def attend(team, phase, num_rows, rows, queries, cache, scores, out):  # type: ignore[no-untyped-def]
    """Of the first ``num_rows``: ``queries`` [rows, heads * dim ..], turned; ``out`` [rows, heads * dim].

    ``cache`` float16 [2, slots, kv_heads, context, dim]; ``scores`` [heads of a key head, context + SPARE]
    is this worker's own.
    """
    kv_heads, dim = cache.shape[2], cache.shape[4]
    share = scores.shape[0]
    num = num_rows * kv_heads
    unit = take(team, phase, 1)
    while unit < num:
        # Head by head: a prompt's rows read the same keys and values while they are near.
        row, head = unit % num_rows, unit // num_rows
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
    _score(query, keys, count, scores)
    for head in range(share):
        scores[head, count] = _exponentials(scores[head, :count])
        for d in range(dim):
            out[head, d] = np.float32(0)
    for first in range(0, count, _PIECE):
        _mix(scores, values, first, min(first + _PIECE, count), out)
    # Divided at the end: that is one number for each of dim, not of count.
    for head in range(share):
        part = np.float32(1) / scores[head, count]
        for d in range(dim):
            out[head, d] *= part


@inlined
def _score(query, keys, count, scores):  # type: ignore[no-untyped-def]
    """Three heads at once, so that a key is widened once for them; then those that are left."""
    share, dim = query.shape
    scale = np.float32(1) / np.sqrt(np.float32(dim))
    q_step, s_step = query.strides[0], scores.strides[0]
    head = 0
    while head < share:
        query_at, score_at = query.ctypes.data + head * q_step, scores.ctypes.data + head * s_step
        if head + 3 <= share:
            score_3(query_at, q_step, keys.ctypes.data, dim, count, scale, score_at, s_step)
            head += 3
        else:
            score_1(query_at, q_step, keys.ctypes.data, dim, count, scale, score_at, s_step)
            head += 1


@inlined
def _mix(scores, values, first, end, out):  # type: ignore[no-untyped-def]
    """Add the values of these positions, each times its weight, to ``out``."""
    share, dim = out.shape
    step, s_step, o_step = values.strides[0], scores.strides[0], out.strides[0]
    head = 0
    while head < share:
        together = 3 if head + 3 <= share else 1
        weight_at = scores.ctypes.data + head * s_step + first * 4
        d = 0
        while d < dim:
            value_at = values.ctypes.data + first * step + d * 2
            out_at = out.ctypes.data + head * o_step + d * 4
            if together == 3 and d + 32 <= dim:
                mix_3x32(weight_at, s_step, value_at, step, end - first, out_at, o_step)
                d += 32
            elif together == 3:
                mix_3x8(weight_at, s_step, value_at, step, end - first, out_at, o_step)
                d += 8
            elif d + 64 <= dim:
                mix_1x64(weight_at, s_step, value_at, step, end - first, out_at, o_step)
                d += 64
            else:
                mix_1x8(weight_at, s_step, value_at, step, end - first, out_at, o_step)
                d += 8
        head += together


@inlined
def _exponentials(scores):  # type: ignore[no-untyped-def]
    """e to each score, less the largest of them, in place; their sum."""
    most = scores[0]
    whole = len(scores) - len(scores) % LANES
    if whole > 0:
        most = largest(scores.ctypes.data, whole)
    for k in range(whole, len(scores)):
        most = max(most, scores[k])
    total = np.float32(0)
    for k in range(len(scores)):
        weight = exp(scores[k] - most)
        scores[k] = weight
        total += weight
    return total
