"""Intrinsics for threads that share a counter: add, look, wait.

It refuses to know what is counted.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from app.engine.model.compiled.instructions import I32, I64, Writer


@intrinsic  # type: ignore[untyped-decorator]
def add_atomically(typing: Any, address: Any, amount: Any) -> Any:
    """Add to the int64 at ``address``, seen by all threads in one order; what was there before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, amount = arguments
        return builder.atomic_rmw("add", builder.inttoptr(address, I64.as_pointer()), amount, "seq_cst")

    return types.int64(types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_atomically(typing: Any, address: Any) -> Any:
    """The int64 at ``address``, read anew."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], I64.as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Any) -> Any:
    """Tell the core that this is a waiting loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        Writer(builder).call("llvm.x86.sse2.pause", ir.VoidType())
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def give_way(typing: Any) -> Any:
    """Let another thread of the system have this core."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        Writer(builder).call("sched_yield", I32)
        return context.get_dummy_value()

    return types.void(), generate
