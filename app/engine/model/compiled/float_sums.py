"""Intrinsics of attention: scores of keys and mixtures of values, both kept in float16.

As many sums at once as there are registers, so that a key or a value is widened once for three
heads. Each sum is added up in an order of its own that no neighbour changes. It refuses to know slots.
"""

from __future__ import annotations

import itertools
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from app.engine.model.compiled.instructions import F32, FLOATS, HALVES, I64, LANES, Writer, apart


def _score(heads: int, keys: int) -> Any:
    """An intrinsic: ``out[heads, count] = scale * (queries @ keys)``, so many ``keys`` at a time.

    The last of them may lie behind ``count``. Keys are float16. Arguments: address and stride of the
    queries, of the keys, ``dim``, a multiple of 8, count, scale, address and stride of out.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def score(
        typing: Any, queries: Any, queries_stride: Any, keys_at: Any, keys_stride: Any, dim: Any, count: Any,
        scale: Any, out: Any, out_stride: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            w = Writer(builder)
            queries, queries_stride, keys_at, keys_stride, dim, count, scale, out, out_stride = arguments
            sums = [[cgutils.alloca_once(builder, FLOATS) for _ in range(keys)] for _ in range(heads)]
            parts_of_dim = builder.udiv(dim, ir.Constant(I64, LANES))
            step = ir.Constant(I64, keys)
            with cgutils.for_range_slice(builder, ir.Constant(I64, 0), count, step, I64) as (first, _):
                for total in itertools.chain(*sums):
                    builder.store(ir.Constant(FLOATS, None), total)
                block = builder.add(keys_at, builder.mul(first, keys_stride))
                with cgutils.for_range(builder, parts_of_dim) as loop:
                    query = w.plus(queries, loop.index, 32)
                    parts = [w.load(w.plus(query, queries_stride, head), FLOATS) for head in range(heads)]
                    here = w.plus(block, loop.index, 16)
                    for key in range(keys):
                        row = w.load_halves(w.plus(here, keys_stride, key))
                        for head, part in enumerate(parts):
                            w.add_product(row, part, sums[head][key])
                there = w.plus(out, first, 4)
                for head, totals in enumerate(sums):
                    added = w.sums_of_lanes([builder.load(total) for total in totals])
                    scaled = builder.fmul(added, w.everywhere(scale, keys))
                    w.store(scaled, w.plus(there, out_stride, head))

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            apart(builder, f"firstword_score_{heads}_{keys}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6, types.float32, *[types.intp] * 2), generate

    return score


def _mix(heads: int, vectors: int) -> Any:
    """An intrinsic: ``out[heads, 8 * vectors] += weights @ values``, the values in float16.

    Arguments: address and stride of the heads' weights, of the values, their count, address and
    stride of out.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def mix(
        typing: Any, weights: Any, weights_stride: Any, values: Any, values_stride: Any, count: Any,
        out: Any, out_stride: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            w = Writer(builder)
            weights, weights_stride, values, values_stride, count, out, out_stride = arguments
            outs = [w.plus(out, out_stride, head) for head in range(heads)]
            sums = [
                [cgutils.alloca_once_value(builder, w.load(at, FLOATS, 32 * v)) for v in range(vectors)]
                for at in outs
            ]
            with cgutils.for_range(builder, count) as loop:
                here = w.plus(weights, loop.index, 4)
                each = [w.load(w.plus(here, weights_stride, head), F32) for head in range(heads)]
                factors = [w.everywhere(weight, LANES) for weight in each]
                row = builder.add(values, builder.mul(values_stride, loop.index))
                for index in range(vectors):
                    value = w.load_halves(row, 16 * index)
                    for head, factor in enumerate(factors):
                        w.add_product(factor, value, sums[head][index])
            for at, totals in zip(outs, sums, strict=True):
                for index, total in enumerate(totals):
                    w.store(builder.load(total), at, 32 * index)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            apart(builder, f"firstword_mix_{heads}_{vectors}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 7), generate

    return mix


score_1x8, score_3x4 = _score(1, 8), _score(3, 4)
mix_1x64, mix_1x8, mix_3x32, mix_3x8 = _mix(1, 8), _mix(1, 1), _mix(3, 4), _mix(3, 1)


@intrinsic  # type: ignore[untyped-decorator]
def halve(typing: Any, source: Any, out: Any, count: Any) -> Any:
    """``out[:count] = source[:count]``, float32 rounded to float16; ``count`` is a multiple of 8."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = Writer(builder)
        source, out, count = arguments
        with cgutils.for_range(builder, builder.udiv(count, ir.Constant(I64, LANES))) as loop:
            numbers = w.load(w.plus(source, loop.index, 32), FLOATS)
            w.store(builder.fptrunc(numbers, HALVES), w.plus(out, loop.index, 16))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 3), generate
