"""The instructions that numba has no words for: products of 8-bit numbers, atomic counters, pause.

Each function here is an intrinsic: it writes LLVM's intermediate code at compile time and is then
called from compiled code like any other. Addresses are plain integers, strides are bytes. The
rest of the kernels is Python. It refuses to know models.

Longer than most files so that no other one has to speak LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Outputs that lie side by side in one vector register of 256 bits.
LANES = 8

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_F16, _F32 = ir.HalfType(), ir.FloatType()
_BYTES, _SHORTS, _INTS = ir.VectorType(_I8, 32), ir.VectorType(_I16, 16), ir.VectorType(_I32, 8)
_HALVES, _FLOATS = ir.VectorType(_F16, LANES), ir.VectorType(_F32, LANES)


class _Writer:
    """llvmlite's builder with the few sentences that the intrinsics say again and again."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def load(self, address: Any, kind: Any, offset: int = 0) -> Any:
        return self.builder.load(self._pointer(address, kind, offset), align=1)

    def load_halves(self, address: Any, offset: int = 0) -> Any:
        """Eight float16 numbers as float32."""
        return self.builder.fpext(self.load(address, _HALVES, offset), _FLOATS)

    def store(self, value: Any, address: Any, offset: int = 0) -> None:
        self.builder.store(value, self._pointer(address, value.type, offset), align=1)

    def plus(self, address: Any, stride: Any, times: int) -> Any:
        return self.builder.add(address, self.builder.mul(stride, ir.Constant(_I64, times)))

    def everywhere(self, value: Any, lanes: int) -> Any:
        """A vector with ``value`` in each lane."""
        kind = ir.VectorType(value.type, lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, lanes), None)
        return self.builder.shuffle_vector(one, one, zeros)

    def sums_of_lanes(self, vectors: list[Any]) -> Any:
        """Eight vectors of 8 lanes -> one, whose lane i is the sum of vector i's lanes."""
        while len(vectors) > 1:
            half, pairs = [], list(zip(vectors[::2], vectors[1::2], strict=True))
            for first, second in pairs:
                evens = self._shuffled(first, second, range(0, 2 * LANES, 2))
                odds = self._shuffled(first, second, range(1, 2 * LANES, 2))
                half.append(self.builder.fadd(evens, odds))
            vectors = half
        return vectors[0]

    def _shuffled(self, first: Any, second: Any, lanes: Iterable[int]) -> Any:
        order = ir.Constant(ir.VectorType(_I32, LANES), list(lanes))
        return self.builder.shuffle_vector(first, second, order)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)

    def _pointer(self, address: Any, kind: Any, offset: int) -> Any:
        there = self.builder.add(address, ir.Constant(_I64, offset)) if offset else address
        return self.builder.inttoptr(there, kind.as_pointer())


def _apart(builder: Any, name: str, arguments: Any, write: Callable[[Any, list[Any]], None]) -> None:
    """Call a function of that name, which ``write`` fills once: code this large is not to be repeated
    at each place of use, since the compiler would be busy with it for minutes."""
    module = builder.module
    function = module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        function = ir.Function(module, kind, name)
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        inside = ir.IRBuilder(function.append_basic_block())
        write(inside, list(function.args))
        inside.ret_void()
    builder.call(function, arguments)


def _same(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _four_bit_group(w: _Writer, weight: Any, codes: list[Any]) -> list[Any]:
    """The integer products of one group of 32 inputs: 8 int32 for each row.

    ``weight``: 128 bytes, see packing. A product is at most 15 x 127 and sixteen of them are added in 16
    bits: 30,480, which fits.
    """
    b, sums = w.builder, [ir.Constant(_SHORTS, None)] * len(codes)
    low = _same(_BYTES, 15)
    for quarter in range(4):
        both = w.load(weight, _BYTES, 32 * quarter)
        high = b.bitcast(b.lshr(b.bitcast(both, _SHORTS), _same(_SHORTS, 4)), _BYTES)
        for half, part in enumerate((b.and_(both, low), b.and_(high, low))):
            for row, address in enumerate(codes):
                four = w.everywhere(w.load(address, _I32, 8 * quarter + 4 * half), 8)
                pairs = w.call("llvm.x86.avx2.pmadd.ub.sw", _SHORTS, part, b.bitcast(four, _BYTES))
                sums[row] = b.add(sums[row], pairs)
    ones = _same(_SHORTS, 1)
    return [w.call("llvm.x86.avx2.pmadd.wd", _INTS, each, ones) for each in sums]


def _eight_bit_group(w: _Writer, weight: Any, codes: list[Any]) -> list[Any]:
    """The same for weights of 8 bits with a sign: 256 bytes, and codes widened to 16 bits."""
    b, sums = w.builder, [ir.Constant(_INTS, None)] * len(codes)
    for pair in range(16):
        wide = b.sext(w.load(weight, ir.VectorType(_I8, 16), 16 * pair), _SHORTS)
        for row, address in enumerate(codes):
            two = b.bitcast(w.everywhere(w.load(address, _I32, 4 * pair), 8), _SHORTS)
            sums[row] = b.add(sums[row], w.call("llvm.x86.avx2.pmadd.wd", _INTS, wide, two))
    return sums


def _multiply(bits: int, rows: int) -> Any:
    """An intrinsic: ``out[row, :8] += codes[row] @ weight`` for ``rows`` rows and all groups of one tile.

    Arguments: addresses of the weight's tile and of its float16 scales (4 bits: scales, then minima),
    number of groups, address and stride of the rows' codes, of their (scale, sum) by group, of out.
    """
    group = _four_bit_group if bits == 4 else _eight_bit_group
    weight_bytes, scale_bytes, code_bytes = (128, 32, 32) if bits == 4 else (256, 16, 64)

    @intrinsic  # type: ignore[untyped-decorator]
    def multiply(
        typing: Any, weight: Any, scales: Any, groups: Any, codes: Any, codes_stride: Any,
        measures: Any, measures_stride: Any, out: Any, out_stride: Any,
    ) -> Any:  # fmt: skip
        def write(builder: Any, arguments: list[Any]) -> None:
            w = _Writer(builder)
            weight, scales, groups, codes, codes_stride, measures, measures_stride, out, out_stride = (
                arguments
            )
            totals = [cgutils.alloca_once_value(builder, ir.Constant(_FLOATS, None)) for _ in range(rows)]
            with cgutils.for_range(builder, groups) as loop:
                here = w.plus(weight, loop.index, weight_bytes)
                first = w.plus(codes, loop.index, code_bytes)
                products = group(w, here, [w.plus(first, codes_stride, row) for row in range(rows)])
                scale_at = w.plus(scales, loop.index, scale_bytes)
                scale = w.load_halves(scale_at)
                low = w.load_halves(scale_at, 16) if bits == 4 else None
                for row, (total, product) in enumerate(zip(totals, products, strict=True)):
                    measure = w.plus(w.plus(measures, loop.index, 8), measures_stride, row)
                    both = builder.fmul(scale, w.everywhere(w.load(measure, _F32), LANES))
                    value = builder.load(total)
                    value = w.call("llvm.fma.v8f32", _FLOATS, builder.sitofp(product, _FLOATS), both, value)
                    if low is not None:
                        added = w.everywhere(w.load(measure, _F32, 4), LANES)
                        value = w.call("llvm.fma.v8f32", _FLOATS, low, added, value)
                    builder.store(value, total)
            for row, total in enumerate(totals):
                there = w.plus(out, out_stride, row)
                w.store(builder.fadd(w.load(there, _FLOATS), builder.load(total)), there)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _apart(builder, f"firstword_multiply_{bits}_{rows}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 9), generate

    return multiply


four_bit_1, four_bit_2, four_bit_4 = (_multiply(4, rows) for rows in (1, 2, 4))
eight_bit_1, eight_bit_2, eight_bit_4 = (_multiply(8, rows) for rows in (1, 2, 4))


@intrinsic  # type: ignore[untyped-decorator]
def eight_scores(typing: Any, query: Any, keys: Any, keys_stride: Any, dim: Any, scale: Any, out: Any) -> Any:
    """``out[:8] = scale * (keys[:8] @ query)``: ``dim`` numbers each, a multiple of 8; keys are float16."""

    def write(builder: Any, arguments: list[Any]) -> None:
        w = _Writer(builder)
        query, keys, keys_stride, dim, scale, out = arguments
        sums = [cgutils.alloca_once_value(builder, ir.Constant(_FLOATS, None)) for _ in range(LANES)]
        with cgutils.for_range(builder, builder.udiv(dim, ir.Constant(_I64, LANES))) as loop:
            part = w.load(w.plus(query, loop.index, 32), _FLOATS)
            here = w.plus(keys, loop.index, 16)
            for key, total in enumerate(sums):
                row = w.load_halves(w.plus(here, keys_stride, key))
                builder.store(w.call("llvm.fma.v8f32", _FLOATS, row, part, builder.load(total)), total)
        scores = w.sums_of_lanes([builder.load(total) for total in sums])
        w.store(builder.fmul(scores, w.everywhere(scale, LANES)), out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _apart(builder, "firstword_eight_scores", arguments, write)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4, types.float32, types.intp), generate


def _mix(vectors: int) -> Any:
    """An intrinsic: ``out[:8 * vectors] += weights @ values``, the values in float16."""

    @intrinsic  # type: ignore[untyped-decorator]
    def mix(typing: Any, weights: Any, values: Any, values_stride: Any, count: Any, out: Any) -> Any:
        def write(builder: Any, arguments: list[Any]) -> None:
            w = _Writer(builder)
            weights, values, values_stride, count, out = arguments
            sums = [
                cgutils.alloca_once_value(builder, w.load(out, _FLOATS, 32 * index))
                for index in range(vectors)
            ]
            with cgutils.for_range(builder, count) as loop:
                weight = w.everywhere(w.load(w.plus(weights, loop.index, 4), _F32), LANES)
                row = builder.add(values, builder.mul(values_stride, loop.index))
                for index, total in enumerate(sums):
                    value = w.load_halves(row, 16 * index)
                    builder.store(
                        w.call("llvm.fma.v8f32", _FLOATS, weight, value, builder.load(total)), total
                    )
            for index, total in enumerate(sums):
                w.store(builder.load(total), out, 32 * index)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _apart(builder, f"firstword_mix_{vectors}", arguments, write)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 5), generate

    return mix


mix_8, mix_64 = _mix(1), _mix(8)


@intrinsic  # type: ignore[untyped-decorator]
def halve(typing: Any, source: Any, out: Any, count: Any) -> Any:
    """``out[:count] = source[:count]``, float32 rounded to float16; ``count`` is a multiple of 8."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(builder)
        source, out, count = arguments
        with cgutils.for_range(builder, builder.udiv(count, ir.Constant(_I64, LANES))) as loop:
            numbers = w.load(w.plus(source, loop.index, 32), _FLOATS)
            w.store(builder.fptrunc(numbers, _HALVES), w.plus(out, loop.index, 16))
        return context.get_dummy_value()

    return types.void(*[types.intp] * 3), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_atomically(typing: Any, address: Any, amount: Any) -> Any:
    """Add to the int64 at ``address``, seen by all threads in one order; what was there before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, amount = arguments
        return builder.atomic_rmw("add", builder.inttoptr(address, _I64.as_pointer()), amount, "seq_cst")

    return types.int64(types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_atomically(typing: Any, address: Any) -> Any:
    """The int64 at ``address``, read anew."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Any) -> Any:
    """Tell the core that this is a waiting loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _Writer(builder).call("llvm.x86.sse2.pause", ir.VoidType())
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def give_way(typing: Any) -> Any:
    """Let another thread of the system have this core."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _Writer(builder).call("sched_yield", _I32)
        return context.get_dummy_value()

    return types.void(), generate
