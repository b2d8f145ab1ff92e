"""One step of a Llama-like model as one compiled function, which all workers run together.

Activations are rounded to 8 bits in groups of 32 before each product, as the weights are kept;
what is added up is float32. Each row is computed by itself, in an order that depends on its
position alone: who else is in the step changes nothing, not one bit.

A phase is work that can be done in any order; after each all workers meet. It refuses to know torch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.engine.model.compiled.arithmetic import (
    add,
    copy,
    fits_half,
    gate,
    normalise,
    turn,
)
from app.engine.model.compiled.attention import attend, write_key, write_value
from app.engine.model.compiled.crew import compiled, inlined, meet, take
from app.engine.model.compiled.packing import BLOCK, Packed
from app.engine.model.compiled.products import multiply, takes_bytes
from app.engine.model.compiled.rounding import round_to_bytes, round_to_shorts

#: Phases of a layer, and after the last layer.
PHASES, LAST_PHASES = 10, 2


class Weights(NamedTuple):
    """All layers' weights; norms are float32 [layers, size], of size 0 where the model has none."""

    before_attention: np.ndarray
    query_key_value: Packed
    query_norm: np.ndarray
    key_norm: np.ndarray
    output: Packed
    before_mlp: np.ndarray
    gate_up: Packed
    down: Packed
    norm: np.ndarray
    head: Packed


class Rows(NamedTuple):
    """A step's rows, first those whose logits are asked for.

    ``x`` float32 [rows, hidden] is their embedding and is overwritten.
    """

    x: np.ndarray
    slots: np.ndarray
    positions: np.ndarray
    turns: np.ndarray  # float32 [rows, head_dim / 2, 2]: cosine and sine of each pair's angle
    num_wanted: int


class Desk(NamedTuple):
    """Room for what lies between two products, for at least as many rows as the step has."""

    values: np.ndarray  # float32 [rows, widest input]
    codes: np.ndarray  # int8 [blocks, groups, BLOCK, GROUP]: the values rounded
    wide_codes: np.ndarray  # the same as int16, for weights that take them
    measures: np.ndarray  # float32 [blocks, groups, BLOCK, 2]: scale, and scale * sum of codes
    fused: np.ndarray  # float32 [rows, query + key + value]
    gated: np.ndarray  # float32 [rows, gate + up]
    scores: np.ndarray  # float32 [workers, query heads of a key head, context + SPARE]


@compiled
def step(team, weights, eps, rows, desk, cache, logits):  # type: ignore[no-untyped-def]
    """One worker's share of a step: keys and values of all rows, and the wanted rows' logits.

    ``cache`` float16 [layers, 2, slots, kv_heads, context, head_dim], of which ``attention`` knows the keys'
    order; ``logits`` float32 [wanted, vocab].
    Of the last layer's work behind its keys and values nobody reads the rows that are not wanted.
    """
    w, x, count, phase = weights, rows.x, len(rows.x), 0
    layers = cache.shape[0]
    for layer in range(layers):
        _begin(team, phase, w.before_attention[layer], eps, x, w.query_key_value, layer, desk, desk.fused)
        multiply(team, phase + 1, w.query_key_value, layer, count, desk, desk.fused)
        _write(team, phase + 2, w.query_norm[layer], w.key_norm[layer], eps, rows, desk.fused, cache[layer])
        if layer == layers - 1:
            count = rows.num_wanted
            x = x[:count]
        attend(team, phase + 3, count, rows, desk.fused, cache[layer], desk.scores[team.rank], desk.values)
        _end(team, phase + 4, False, x, w.output, layer, desk)
        multiply(team, phase + 5, w.output, layer, count, desk, x)
        _begin(team, phase + 6, w.before_mlp[layer], eps, x, w.gate_up, layer, desk, desk.gated)
        multiply(team, phase + 7, w.gate_up, layer, count, desk, desk.gated)
        _end(team, phase + 8, True, x, w.down, layer, desk)
        multiply(team, phase + 9, w.down, layer, count, desk, x)
        phase += PHASES
    _begin(team, phase, w.norm[0], eps, x, w.head, 0, desk, logits)
    multiply(team, phase + 1, w.head, 0, count, desk, logits)


# Private


@inlined
def _round(values, weight, row, desk):  # type: ignore[no-untyped-def]
    """The row's values as the codes that ``weight`` takes."""
    groups, block, place = weight.codes.shape[2], row // BLOCK, row % BLOCK
    measures = desk.measures[block, 0, place].ctypes.data
    if takes_bytes(weight):
        round_to_bytes(values.ctypes.data, groups, desk.codes[block, 0, place].ctypes.data, measures)
    else:
        round_to_shorts(values.ctypes.data, groups, desk.wide_codes[block, 0, place].ctypes.data, measures)


@inlined
def _begin(team, phase, norm, eps, x, weight, layer, desk, out):  # type: ignore[no-untyped-def]
    """The norm before a product, whose output begins as its bias."""
    first = take(team, phase, BLOCK)
    while first < len(x):
        for row in range(first, min(first + BLOCK, len(x))):
            normalise(x[row], norm, eps, desk.values[row])
            _round(desk.values[row], weight, row, desk)
            copy(weight.bias[layer], out[row])
        first = take(team, phase, BLOCK)
    meet(team, phase)


@inlined
def _end(team, phase, gated, x, weight, layer, desk):  # type: ignore[no-untyped-def]
    """What attention or the gate has made, rounded for the product that is added to ``x``."""
    first = take(team, phase, BLOCK)
    while first < len(x):
        for row in range(first, min(first + BLOCK, len(x))):
            if gated:
                gate(desk.gated[row], desk.values[row])
            _round(desk.values[row], weight, row, desk)
            add(weight.bias[layer], x[row])
        first = take(team, phase, BLOCK)
    meet(team, phase)


@inlined
def _write(team, phase, query_norm, key_norm, eps, rows, fused, kv):  # type: ignore[no-untyped-def]
    """Turn queries and keys by their position; put keys and values into the cache.

    Where those do not fit, the row's ``x`` is not a number from here on: what attention makes of them
    would look like numbers again.
    """
    kv_heads, dim = kv.shape[2], kv.shape[4]
    heads = fused.shape[1] // dim - 2 * kv_heads
    row = take(team, phase, 1)
    while row < len(rows.x):
        slot, position = rows.slots[row], rows.positions[row]
        for head in range(heads + 2 * kv_heads):
            part = fused[row, head * dim : (head + 1) * dim]
            if head < heads + kv_heads:
                norm = query_norm if head < heads else key_norm
                if len(norm):
                    normalise(part, norm, eps, part)
                turn(part, rows.turns[row])
            if head >= heads and not fits_half(part):
                rows.x[row, 0] = np.float32(np.nan)
            if head >= heads + kv_heads:
                write_value(part, kv[1, slot, head - heads - kv_heads], position)
            elif head >= heads:
                write_key(part, kv[0, slot, head - heads], position)
        row = take(team, phase, 1)
    meet(team, phase)
