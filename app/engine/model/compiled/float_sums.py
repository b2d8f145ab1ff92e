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

from app.engine.model.compiled.instructions import F32, FLOATS, HALVES, I32, I64, LANES, Writer, apart
from app.engine.model.kv_tensors import TOGETHER

#: Positions whose keys lie together, number by number: one line of the cache for each number.
POSITIONS = TOGETHER


def _score(heads: int) -> Any:
    """An intrinsic: ``out[heads, count] = scale * (queries @ keys)``, a block of positions at a time.

    The last of them may lie behind ``count``. Keys are float16, [block, dim, POSITIONS], so that each lane
    of a register is a position's own sum. Arguments: address and stride of the queries, address of the
    keys, ``dim``, count, scale, address and stride of out.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def score(
        typing: Any, queries: Any, queries_stride: Any, keys: Any, dim: Any, count: Any, scale: Any,
        out: Any, out_stride: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            w = Writer(builder)
            queries, queries_stride, keys, dim, count, scale, out, out_stride = arguments
            vectors = range(POSITIONS // LANES)
            sums = [[cgutils.alloca_once(builder, FLOATS) for _ in vectors] for _ in range(heads)]
            step = ir.Constant(I64, POSITIONS)
            with cgutils.for_range_slice(builder, ir.Constant(I64, 0), count, step, I64) as (first, _):
                for total in itertools.chain(*sums):
                    builder.store(ir.Constant(FLOATS, None), total)
                block = w.plus(keys, builder.mul(first, dim), 2)
                with cgutils.for_range(builder, dim) as loop:
                    query = w.plus(queries, loop.index, 4)
                    each = [w.load(w.plus(query, queries_stride, head), F32) for head in range(heads)]
                    parts = [w.everywhere(part, LANES) for part in each]
                    row = w.plus(block, loop.index, 2 * POSITIONS)
                    for index in vectors:
                        key = w.load_halves(row, 2 * LANES * index)
                        for head, part in enumerate(parts):
                            w.add_product(part, key, sums[head][index])
                there = w.plus(out, first, 4)
                for head, totals in enumerate(sums):
                    for index, total in enumerate(totals):
                        scaled = builder.fmul(builder.load(total), w.everywhere(scale, LANES))
                        w.store(scaled, w.plus(there, out_stride, head), 4 * LANES * index)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            apart(builder, f"firstword_score_{heads}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 5, types.float32, *[types.intp] * 2), generate

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


score_1, score_3 = _score(1), _score(3)
mix_1x64, mix_1x8, mix_3x32, mix_3x8 = _mix(1, 8), _mix(1, 1), _mix(3, 4), _mix(3, 1)


@intrinsic  # type: ignore[untyped-decorator]
def largest(typing: Any, values: Any, count: Any) -> Any:
    """The largest of ``count`` float32 numbers, a multiple of 8 and not 0. Arguments: address, count.

    Written by hand because a compiler looks at one after the other, as it must where one is no number.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = Writer(builder)
        values, count = arguments

        def larger(one: Any, other: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", one, other), one, other)

        most = cgutils.alloca_once_value(builder, w.load(values, FLOATS))
        with cgutils.for_range(builder, builder.udiv(count, ir.Constant(I64, LANES))) as loop:
            builder.store(larger(w.load(w.plus(values, loop.index, 32), FLOATS), builder.load(most)), most)
        return w.over_lanes(larger, builder.load(most))

    return types.float32(types.intp, types.intp), generate


def _halve(apart_by: int) -> Any:
    """An intrinsic: float32 numbers rounded to float16, each so many places behind the one before.

    Arguments: addresses of the numbers and of out; their count, a multiple of 8.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def halve(typing: Any, source: Any, out: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            w = Writer(builder)
            source, out, count = arguments
            with cgutils.for_range(builder, builder.udiv(count, ir.Constant(I64, LANES))) as loop:
                numbers = builder.fptrunc(w.load(w.plus(source, loop.index, 32), FLOATS), HALVES)
                there = w.plus(out, loop.index, 2 * LANES * apart_by)
                if apart_by == 1:
                    w.store(numbers, there)
                else:
                    for lane in range(LANES):
                        number = builder.extract_element(numbers, ir.Constant(I32, lane))
                        w.store(number, there, 2 * lane * apart_by)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 3), generate

    return halve


#: Of a value into its row, of a key into its block.
halve_value, halve_key = _halve(1), _halve(POSITIONS)
