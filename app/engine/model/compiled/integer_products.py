"""Intrinsics: weights of 4 or 8 bits times activations of 8, added up in small integers.

See ``packing`` for how a tile of weights lies in memory. It refuses to know layers.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from app.engine.model.compiled.packing import BLOCK, OFFSET
from app.engine.model.compiled.processor import DOTS, MANY_REGISTERS

#: Rows for which a weight is unpacked once: as many sums as there are registers for.
_ROWS_AT_ONCE = (12, 10, 8, 6, 4, 2, 1) if MANY_REGISTERS else (4, 2, 1)
#: Where each row's codes or measures are: address and offset.
Places = list[tuple[Any, int]]


def _tile(bits: int) -> Any:
    """An intrinsic: ``out[row, :8] += codes[row] @ weight`` for all groups of one tile and ``count`` rows.

    Arguments: addresses of the weight's tile and of its float16 scales (4 bits: scales, then minima),
    number of groups, address of the rows' codes and bytes from a block of them to the next, the same of their
    (scale, sum) by group, address and stride of out, count.
    Some rows at a time, so that a weight is unpacked once for them; each row adds up in the same order.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def tile(
        typing: Any, weight: Any, scales: Any, groups: Any, codes: Any, codes_block: Any,
        measures: Any, measures_block: Any, out: Any, out_stride: Any, count: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            *addresses, count = arguments
            first: Any = ir.Constant(I64, 0)
            for rows in _ROWS_AT_ONCE:
                step = ir.Constant(I64, rows)
                end = builder.sub(count, builder.urem(builder.sub(count, first), step))
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
    codes_block: Any, measures: Any, measures_block: Any, out: Any, out_stride: Any,
) -> None:  # fmt: skip
    """The code for ``rows`` rows from ``row`` on, which begins a block if they are of several."""
    w = Writer(builder)
    weight_bytes, scale_bytes = (128, 32) if bits == 4 else (256, 16)
    code_bytes = 32 if bits == 4 or DOTS else 64
    size = ir.Constant(I64, BLOCK)
    block, place = builder.udiv(row, size), builder.urem(row, size)

    def by_row(first: Any, block_stride: Any, num_bytes: int) -> Places:
        """Each row's first group in blocks of so many bytes a row and group, as address and offset."""
        first = w.plus(w.plus(first, block_stride, block), place, num_bytes)
        blocks = [w.plus(first, block_stride, k) for k in range(-(-rows // BLOCK))]
        return [(blocks[k // BLOCK], k % BLOCK * num_bytes) for k in range(rows)]

    codes, measures = by_row(codes, codes_block, code_bytes), by_row(measures, measures_block, 8)
    out = w.plus(out, out_stride, row)
    totals = [cgutils.alloca_once_value(builder, ir.Constant(FLOATS, None)) for _ in range(rows)]
    with cgutils.for_range(builder, groups) as loop:
        here = [(w.plus(first, loop.index, BLOCK * code_bytes), offset) for first, offset in codes]
        products = _group(w, bits, w.plus(weight, loop.index, weight_bytes), here)
        scale_at = w.plus(scales, loop.index, scale_bytes)
        scale, low = w.load_halves(scale_at), None
        if bits == 4:
            low = w.load_halves(scale_at, 16)
        elif DOTS:
            low = builder.fmul(scale, same(FLOATS, -OFFSET))
        for total, product, (first, offset) in zip(totals, products, measures, strict=True):
            measure = w.plus(first, loop.index, BLOCK * 8)
            both = builder.fmul(scale, w.everywhere(w.load(measure, F32, offset), LANES))
            w.add_product(builder.sitofp(product, FLOATS), both, total)
            if low is not None:
                w.add_product(low, w.everywhere(w.load(measure, F32, offset + 4), LANES), total)
    for k, total in enumerate(totals):
        there = w.plus(out, out_stride, k)
        w.store(builder.fadd(w.load(there, FLOATS), builder.load(total)), there)


four_bit_tile, eight_bit_tile = _tile(4), _tile(8)


# Private


def _group(w: Writer, bits: int, weight: Any, codes: Places) -> list[Any]:
    """The integer products of one group of 32 inputs, see packing: 8 int32 for each row."""
    if DOTS:
        return _by_fours(w, _nibbles(w, weight) if bits == 4 else _bytes(w, weight), codes)
    return (_four_bit_pairs if bits == 4 else _eight_bit_pairs)(w, weight, codes)


def _nibbles(w: Writer, weight: Any) -> Iterator[Any]:
    """Four vectors of two codes a byte -> eight of one: four inputs of each of the eight outputs."""
    b, low = w.builder, same(BYTES, 15)
    for quarter in range(4):
        both = w.load(weight, BYTES, 32 * quarter)
        yield b.and_(both, low)
        yield b.and_(b.bitcast(b.lshr(b.bitcast(both, SHORTS), same(SHORTS, 4)), BYTES), low)


def _bytes(w: Writer, weight: Any) -> Iterator[Any]:
    return (w.load(weight, BYTES, 32 * part) for part in range(8))


def _by_fours(w: Writer, parts: Iterator[Any], codes: Places) -> list[Any]:
    """Unsigned weights, of 4 or 8 bits, times signed codes, four products and their sum at a time."""
    b, sums = w.builder, [ir.Constant(INTS, None)] * len(codes)
    for k, part in enumerate(parts):
        for row, (first, offset) in enumerate(codes):
            four = w.everywhere(w.load(first, I32, offset + 4 * k), LANES)
            name = "llvm.x86.avx512.vpdpbusd.256"
            sums[row] = w.call(name, INTS, sums[row], b.bitcast(part, INTS), four)
    return sums


def _four_bit_pairs(w: Writer, weight: Any, codes: Places) -> list[Any]:
    """Two products and their sum at a time, in 16 bits.

    A product is at most 15 x 127 and sixteen of them are added: 30,480, which fits.
    """
    b, sums = w.builder, [ir.Constant(SHORTS, None)] * len(codes)
    for k, part in enumerate(_nibbles(w, weight)):
        for row, (first, offset) in enumerate(codes):
            four = w.everywhere(w.load(first, I32, offset + 4 * k), LANES)
            pairs = w.call("llvm.x86.avx2.pmadd.ub.sw", SHORTS, part, b.bitcast(four, BYTES))
            sums[row] = b.add(sums[row], pairs)
    ones = same(SHORTS, 1)
    return [w.call("llvm.x86.avx2.pmadd.wd", INTS, each, ones) for each in sums]


def _eight_bit_pairs(w: Writer, weight: Any, codes: Places) -> list[Any]:
    """The same for weights of 8 bits with a sign, and codes widened to 16 bits."""
    b, sums = w.builder, [ir.Constant(INTS, None)] * len(codes)
    for pair in range(16):
        wide = b.sext(w.load(weight, ir.VectorType(I8, 16), 16 * pair), SHORTS)
        for row, (first, offset) in enumerate(codes):
            two = b.bitcast(w.everywhere(w.load(first, I32, offset + 4 * pair), LANES), SHORTS)
            sums[row] = b.add(sums[row], w.call("llvm.x86.avx2.pmadd.wd", INTS, wide, two))
    return sums
