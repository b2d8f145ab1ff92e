"""How an intrinsic is written: LLVM's intermediate code in few words, for what numba has no words for.

An intrinsic writes its code at compile time and is then called from compiled code like any other
function. Its arguments are addresses and strides, plain integers. This module refuses to know what
is computed; ``integer_products``, ``float_sums`` and ``counters`` hold the intrinsics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils

#: float32 or int32 numbers that lie side by side in one vector register of 256 bits.
LANES = 8

I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
F16, F32 = ir.HalfType(), ir.FloatType()
BYTES, SHORTS, INTS = ir.VectorType(I8, 32), ir.VectorType(I16, 16), ir.VectorType(I32, 8)
HALVES, FLOATS = ir.VectorType(F16, LANES), ir.VectorType(F32, LANES)


class Writer:
    """llvmlite's builder with the few sentences that the intrinsics say again and again.

    An address is an int64; an offset or a stride is in bytes."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def load(self, address: Any, kind: Any, offset: int = 0) -> Any:
        return self.builder.load(self._pointer(address, kind, offset), align=1)

    def load_halves(self, address: Any, offset: int = 0) -> Any:
        """Eight float16 numbers as float32."""
        return self.builder.fpext(self.load(address, HALVES, offset), FLOATS)

    def store(self, value: Any, address: Any, offset: int = 0) -> None:
        self.builder.store(value, self._pointer(address, value.type, offset), align=1)

    def add_product(self, a: Any, b: Any, total: Any) -> None:
        """``total``, a place on the stack, becomes itself + a * b."""
        self.builder.store(self.call("llvm.fma.v8f32", FLOATS, a, b, self.builder.load(total)), total)

    def plus(self, address: Any, stride: Any, times: Any) -> Any:
        times = ir.Constant(I64, times) if isinstance(times, int) else times
        return self.builder.add(address, self.builder.mul(stride, times))

    def everywhere(self, value: Any, lanes: int) -> Any:
        """A vector with ``value`` in each lane."""
        kind = ir.VectorType(value.type, lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0))
        zeros = ir.Constant(ir.VectorType(I32, lanes), None)
        return self.builder.shuffle_vector(one, one, zeros)

    def over_lanes(self, joined: Callable[[Any, Any], Any], vector: Any) -> Any:
        """The lanes of a vector, joined two by two to one number."""
        for width in (4, 2, 1):
            places = ir.Constant(ir.VectorType(I32, LANES), [k ^ width for k in range(LANES)])
            vector = joined(vector, self.builder.shuffle_vector(vector, vector, places))
        return self.builder.extract_element(vector, ir.Constant(I32, 0))

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)

    def _pointer(self, address: Any, kind: Any, offset: int) -> Any:
        there = self.builder.add(address, ir.Constant(I64, offset)) if offset else address
        return self.builder.inttoptr(there, kind.as_pointer())


def apart(builder: Any, name: str, arguments: Any, write: Callable[[Any, list[Any]], None]) -> None:
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


def same(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)
