"""Intrinsic: numbers rounded to 8 bits in groups of 32, each with a scale of its own.

Written by hand because a compiler that is given the loop makes a quarter of the speed of it: it does not see
that the largest of 32 is wanted in one piece and that the codes fit into bytes. It refuses to know products.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from app.engine.model.compiled.instructions import (
    F32,
    FLOATS,
    I8,
    I16,
    INTS,
    LANES,
    Writer,
    apart,
    same,
)
from app.engine.model.compiled.packing import BLOCK

#: Vectors of one group.
_VECTORS = 4
#: All bits of a float32 but its sign: as integers these are in the order of the numbers' sizes.
_SIZE = 0x7FFFFFFF


def _round(bits: int) -> Any:
    """An intrinsic: codes -127..127 of ``bits`` bits, and for each group its scale and scale * sum of codes.

    Arguments: address of one row's float32 values, number of groups, addresses of the row's place in its
    block of codes and of measures.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def round_groups(typing: Any, values: Any, groups: Any, codes: Any, measures: Any) -> Any:
        def write(builder: Any, arguments: list[Any]) -> None:
            values, groups, codes, measures = arguments
            w = Writer(builder)
            with cgutils.for_range(builder, groups) as loop:
                _round_group(
                    w,
                    bits,
                    w.plus(values, loop.index, 128),
                    w.plus(codes, loop.index, BLOCK * 4 * bits),
                    w.plus(measures, loop.index, BLOCK * 8),
                )

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            apart(builder, f"firstword_round_{bits}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 4), generate

    return round_groups


round_to_bytes, round_to_shorts = _round(8), _round(16)


# Private


def _round_group(w: Writer, bits: int, values: Any, codes: Any, measures: Any) -> None:
    b = w.builder
    parts = [w.load(values, FLOATS, 32 * k) for k in range(_VECTORS)]

    def larger(one: Any, other: Any) -> Any:
        return b.select(b.icmp_signed(">", one, other), one, other)

    sizes = [b.and_(b.bitcast(part, INTS), same(INTS, _SIZE)) for part in parts]
    largest = b.bitcast(w.over_lanes(larger, reduce(larger, sizes)), F32)
    zero, most = ir.Constant(F32, 0.0), ir.Constant(F32, 127.0)
    factor = b.select(b.fcmp_ordered(">", largest, zero), b.fdiv(most, largest), zero)
    factors = w.everywhere(factor, LANES)
    # To the nearest, and of two the even one, as numpy's rint.
    whole = [w.call("llvm.x86.avx.cvt.ps2dq.256", INTS, b.fmul(part, factors)) for part in parts]
    kind = ir.VectorType(I8 if bits == 8 else I16, LANES)
    for k, part in enumerate(whole):
        w.store(b.trunc(part, kind), codes, LANES * bits // 8 * k)
    total = b.sitofp(w.over_lanes(b.add, reduce(b.add, whole)), F32)
    # Not divided: a compiler that may be inexact makes this of it, and another one does not.
    scale = b.fmul(largest, ir.Constant(F32, 1 / 127))
    w.store(scale, measures)
    w.store(b.fmul(scale, total), measures, 4)
