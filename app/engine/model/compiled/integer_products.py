"""Intrinsics: weights of 4 or 8 bits times activations of 8, added up in small integers.

See ``packing`` for how a tile of weights lies in memory. It refuses to know layers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from app.engine.model.compiled.instructions import (
    BYTES,
    F32,
    FLOATS,
    I8,
    I32,
    I64,
    INTS,
    LANES,
    SHORTS,
    Writer,
    apart,
    same,
)


def _tile(bits: int) -> Any:
    """An intrinsic: ``out[row, :8] += codes[row] @ weight`` for all groups of one tile and ``count`` rows.

    Arguments: addresses of the weight's tile and of its float16 scales (4 bits: scales, then minima),
    number of groups, address and stride of the rows' codes, of their (scale, sum) by group, of out; count.
    Four rows at a time, so that a weight is unpacked once for them; each row adds up in the same order.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def tile(
        typing: Any, weight: Any, scales: Any, groups: Any, codes: Any, codes_stride: Any,
        measures: Any, measures_stride: Any, out: Any, out_stride: Any, count: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            *addresses, count = arguments
            first: Any = ir.Constant(I64, 0)
            for rows in (4, 2, 1):
                end = builder.and_(count, ir.Constant(I64, -rows))
                step = ir.Constant(I64, rows)
                with cgutils.for_range_slice(builder, first, end, step, I64) as (row, _):
                    _multiply_rows(builder, bits, rows, row, *addresses)
                first = end

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            apart(builder, f"firstword_tile_{bits}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 10), generate

    return tile


def _multiply_rows(
    builder: Any, bits: int, rows: int, row: Any, weight: Any, scales: Any, groups: Any, codes: Any,
    codes_stride: Any, measures: Any, measures_stride: Any, out: Any, out_stride: Any,
) -> None:  # fmt: skip
    """The code for ``rows`` rows from ``row`` on."""
    w = Writer(builder)
    group = _four_bit_group if bits == 4 else _eight_bit_group
    weight_bytes, scale_bytes, code_bytes = (128, 32, 32) if bits == 4 else (256, 16, 64)
    codes, measures, out = (
        builder.add(at, builder.mul(stride, row))
        for at, stride in ((codes, codes_stride), (measures, measures_stride), (out, out_stride))
    )
    totals = [cgutils.alloca_once_value(builder, ir.Constant(FLOATS, None)) for _ in range(rows)]
    with cgutils.for_range(builder, groups) as loop:
        here = w.plus(codes, loop.index, code_bytes)
        products = group(
            w, w.plus(weight, loop.index, weight_bytes), [w.plus(here, codes_stride, k) for k in range(rows)]
        )
        scale_at = w.plus(scales, loop.index, scale_bytes)
        scale = w.load_halves(scale_at)
        low = w.load_halves(scale_at, 16) if bits == 4 else None
        for k, (total, product) in enumerate(zip(totals, products, strict=True)):
            measure = w.plus(w.plus(measures, loop.index, 8), measures_stride, k)
            both = builder.fmul(scale, w.everywhere(w.load(measure, F32), LANES))
            w.add_product(builder.sitofp(product, FLOATS), both, total)
            if low is not None:
                w.add_product(low, w.everywhere(w.load(measure, F32, 4), LANES), total)
    for k, total in enumerate(totals):
        there = w.plus(out, out_stride, k)
        w.store(builder.fadd(w.load(there, FLOATS), builder.load(total)), there)


four_bit_tile, eight_bit_tile = _tile(4), _tile(8)


# Private


def _four_bit_group(w: Writer, weight: Any, codes: list[Any]) -> list[Any]:
    """The integer products of one group of 32 inputs: 8 int32 for each row.

    ``weight``: 128 bytes, see packing. A product is at most 15 x 127 and sixteen of them are added in 16
    bits: 30,480, which fits.
    """
    b, sums = w.builder, [ir.Constant(SHORTS, None)] * len(codes)
    low = same(BYTES, 15)
    for quarter in range(4):
        both = w.load(weight, BYTES, 32 * quarter)
        high = b.bitcast(b.lshr(b.bitcast(both, SHORTS), same(SHORTS, 4)), BYTES)
        for half, part in enumerate((b.and_(both, low), b.and_(high, low))):
            for row, address in enumerate(codes):
                four = w.everywhere(w.load(address, I32, 8 * quarter + 4 * half), 8)
                pairs = w.call("llvm.x86.avx2.pmadd.ub.sw", SHORTS, part, b.bitcast(four, BYTES))
                sums[row] = b.add(sums[row], pairs)
    ones = same(SHORTS, 1)
    return [w.call("llvm.x86.avx2.pmadd.wd", INTS, each, ones) for each in sums]


def _eight_bit_group(w: Writer, weight: Any, codes: list[Any]) -> list[Any]:
    """The same for weights of 8 bits with a sign: 256 bytes, and codes widened to 16 bits."""
    b, sums = w.builder, [ir.Constant(INTS, None)] * len(codes)
    for pair in range(16):
        wide = b.sext(w.load(weight, ir.VectorType(I8, 16), 16 * pair), SHORTS)
        for row, address in enumerate(codes):
            two = b.bitcast(w.everywhere(w.load(address, I32, 4 * pair), 8), SHORTS)
            sums[row] = b.add(sums[row], w.call("llvm.x86.avx2.pmadd.wd", INTS, wide, two))
    return sums
